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

/// The files that keep fences beyond the process: `partita-fences/TOPIC_ID` in the data directory. Any thread may call this; the
/// last call that stores a topic's fence decides what its file holds.
class FenceFiles {
  public:
    /// The size limit for reading a fence's file, far above what `FenceMarks` can hold for 10,000 partitions.
    static constexpr std::size_t kBytesMax = std::size_t{1} << 30;

    FenceFiles(FileSystem& file_system, const std::string& data_directory);

    /// Loads all readable fences and logs the unreadable ones. `now` is the time of the start.
    [[nodiscard]] std::map<TopicId, insight::Fence> load(TimestampMs now) const;
    /// Stores the fence. `durable`: waits until the device has it, so reactors must not ask for that.
    [[nodiscard]] StorageResult<void> store(const TopicId& topic, std::string_view encoded_fence, bool durable);
    /// Succeeds if the file is missing.
    [[nodiscard]] StorageResult<void> remove(const TopicId& topic);

  private:
    [[nodiscard]] std::string path_of(const TopicId& topic) const;

    FileSystem& files_;
    const std::string directory_;
    /// True once the directory's name is durable on the device.
    std::atomic<bool> is_directory_durable_ = false;
};

}  // namespace partita::runtime
