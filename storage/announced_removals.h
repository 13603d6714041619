#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita {

/// Topics whose removal was announced, and the note of them in the data directory (`partita-removals`, one id on each line): a
/// start after a crash finds there which directories may be deleted although nobody claims them.
///
/// Not thread-safe. The note is best effort: where it cannot be written, a crash leaves a directory that is reported.
class AnnouncedRemovals {
  public:
    AnnouncedRemovals(FileSystem& file_system, const std::string& directory);

    /// Adds those that an earlier process announced and did not conclude. At a start.
    void read();
    /// Writes the note before it returns.
    void announce(std::span<const TopicId> topics);
    /// They need no note any more; `contains` them until `forget_concluded`. Topics that were not announced are ignored.
    void conclude(std::span<const TopicId> topics);
    void conclude_all();
    /// Forgets what is concluded, and takes it from the note. Called when the directories of these topics were renamed.
    void forget_concluded();

    [[nodiscard]] bool contains(const TopicId& topic) const { return removals_.contains(topic); }
    [[nodiscard]] std::vector<TopicId> topics() const;

  private:
    [[nodiscard]] StorageResult<void> write();

    FileSystem& file_system_;
    const std::string path_;
    /// True: concluded.
    std::map<TopicId, bool> removals_;
    bool is_on_disk_ = false;
};

}  // namespace partita
