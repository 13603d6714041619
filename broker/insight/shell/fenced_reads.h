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

/// Notes fetches of partitions that suspects may still read (ownership/fenced_readers.h). Without suspects its step is off
/// (`watching`), and a fetch costs nothing. With suspects, a fetch of another partition costs one comparison.
///
/// Thread-safe.
class FencedReads {
  public:
    /// `notes` keeps the noted fetches and must outlive this object.
    explicit FencedReads(ReaderNotes& notes) : notes_(notes) {}

    /// From now on notes the fetches of these places, and no others.
    void watch(std::span<const ReadPlace> places);
    /// The fetches noted since the last call.
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
    /// On while there are suspects.
    [[nodiscard]] logs::StepSwitch& watching() { return watching_; }

  private:
    void note(const ReadPlace& place, ConnectionId connection, Offset from, TimestampMs now);

    std::atomic<std::uint64_t> mask_ = 0;
    logs::StepSwitch watching_;
    ReaderNotes& notes_;
};

}  // namespace partita::insight
