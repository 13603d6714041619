#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita {

/// The topics whose removal was announced, and the note of them in the data directory (`partita-removals`, one id per line).
/// After a crash a start reads there which unclaimed directories it may delete.
///
/// Not thread-safe. The note is best effort: if it cannot be written, a crash leaves a directory that the start reports.
class AnnouncedRemovals {
  public:
    AnnouncedRemovals(FileSystem& file_system, const std::string& directory);

    /// Adds the removals that an earlier process announced but did not conclude. Called at a start.
    void read();
    /// Writes the note before it returns.
    void announce(std::span<const TopicId> topics);
    /// Concludes removals: they need no note any more. `contains` still knows them until `forget_concluded`. Ignores topics that
    /// were not announced.
    void conclude(std::span<const TopicId> topics);
    void conclude_all();
    /// Forgets the concluded removals and takes them out of the note. The caller has renamed the directories of these topics
    /// before.
    void forget_concluded();

    [[nodiscard]] bool contains(const TopicId& topic) const { return removals_.contains(topic); }
    [[nodiscard]] std::vector<TopicId> topics() const;

  private:
    [[nodiscard]] StorageResult<void> write();

    FileSystem& file_system_;
    const std::string path_;
    /// The value is true once the removal is concluded.
    std::map<TopicId, bool> removals_;
    bool is_on_disk_ = false;
};

}  // namespace partita
