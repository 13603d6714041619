#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "broker/insight/fence/fence.h"
#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita::runtime {

/// The files in which fences outlive the process: `partita-fences/TOPIC_ID` in the data directory. Any thread may call it; the
/// last one that stores a topic's fence decides what is in its file.
class FenceFiles {
  public:
    /// A larger file of a fence is not read. This is far above what `FenceMarks` can hold for 10,000 partitions.
    static constexpr std::size_t kBytesMax = std::size_t{1} << 30;

    FenceFiles(FileSystem& file_system, const std::string& data_directory);

    /// All that can be read; the log says which cannot. `now` is the time of the start.
    [[nodiscard]] std::map<TopicId, insight::Fence> load(TimestampMs now) const;
    /// `durable`: waits until it is on the device, as no reactor may.
    [[nodiscard]] StorageResult<void> store(const TopicId& topic, std::string_view encoded_fence, bool durable);
    /// No error when there is none.
    [[nodiscard]] StorageResult<void> remove(const TopicId& topic);

  private:
    [[nodiscard]] std::string path_of(const TopicId& topic) const;

    FileSystem& files_;
    const std::string directory_;
    /// The directory is on the device, under its name.
    std::atomic<bool> is_directory_durable_ = false;
};

}  // namespace partita::runtime
