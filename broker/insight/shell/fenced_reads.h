#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "broker/insight/ownership/fenced_readers.h"
#include "broker/insight/shell/reader_notes.h"
#include "broker/logs/step_switch.h"
#include "protocol/types.h"

namespace partita::insight {

/// Where fetches are noted while somebody is suspected to read what was taken from it (ownership/fenced_readers.h). While nobody
/// is, a fetch costs one load; while somebody is, fetches of other partitions cost a comparison.
///
/// Thread-safe.
class FencedReads {
  public:
    /// `notes` keeps what is noted, and outlives this.
    explicit FencedReads(ReaderNotes& notes) : notes_(notes) {}

    /// From now on fetches of these places are noted, and no others.
    void watch(std::span<const ReadPlace> places);
    /// What was noted since the last call.
    [[nodiscard]] std::vector<SeenRead> take();

    void on_fetch(const TopicId& topic_id, std::int32_t partition, ConnectionId connection, Offset from, TimestampMs now) {
        const std::uint64_t mask = mask_.load(std::memory_order_relaxed);
        if (mask == 0) {
            return;
        }
        const ReadPlace place{topic_id, partition};
        if ((mask & ReadNotes::mask_of(place)) != 0) {
            note(place, connection, from, now);
        }
    }
    [[nodiscard]] bool is_watching() const { return mask_.load(std::memory_order_relaxed) != 0; }
    /// On while somebody is suspected.
    [[nodiscard]] logs::StepSwitch& watching() { return watching_; }

  private:
    void note(const ReadPlace& place, ConnectionId connection, Offset from, TimestampMs now);

    std::atomic<std::uint64_t> mask_ = 0;
    logs::StepSwitch watching_;
    ReaderNotes& notes_;
};

}  // namespace partita::insight
