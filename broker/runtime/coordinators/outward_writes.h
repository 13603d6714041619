#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "broker/coordination/effects.h"
#include "protocol/error_code.h"
#include "protocol/types.h"
#include "storage/write_breadth.h"

namespace partita::logs {
class PublishedTopics;
class Turn;
class Turns;
struct Partition;
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {

class CoordinatorHosts;

/// Hears of markers that end transactions.
class MarkerListener {
  public:
    virtual ~MarkerListener() = default;
    /// The partition got markers, and its readers were notified. Called on the thread that wrote them, perhaps with a shard's
    /// lock of the transaction coordinators held.
    virtual void on_markers(const logs::TopicState& topic, PartitionIndex partition) = 0;
};

/// Writes batches of coordinators into other partitions than their own.
class OutwardWrites {
  public:
    /// `hosts`: the coordinators whose topics some of these partitions belong to.
    OutwardWrites(logs::Turns& turns, const logs::PublishedTopics& topics, const CoordinatorHosts& hosts)
        : turns_(turns), topics_(topics), hosts_(hosts) {}
    /// Set it once, before the first write.
    void set_marker_listener(MarkerListener& listener) { markers_ = &listener; }

    /// Tries all writes and returns their outcomes in order. One write per partition holds all its batches in their order, even
    /// if others stand between them. Partitions are written in the order of their creation. A failed partition does not stop the
    /// others. Waiting fetches are woken. `turn` is null outside the reactors.
    ///
    /// A caller may hold a shard's lock. This takes the locks of logs, and those of group shards for markers in the topic of
    /// groups.
    [[nodiscard]] std::vector<coordination::OutwardWriteOutcome> carry_out(std::span<const coordination::OutwardWrite> writes,
                                                                           logs::Turn* turn, TimestampMs now);

  private:
    void tell_readers(logs::Partition& partition, std::size_t bytes, logs::Turn* turn);

    logs::Turns& turns_;
    const logs::PublishedTopics& topics_;
    const CoordinatorHosts& hosts_;
    MarkerListener* markers_ = nullptr;
};

/// Appends the batches to the partition's log, in their order and by one write. `errors`, one per batch, gets the outcomes as in
/// OutwardWriteOutcome. `breadth`: see PartitionLog::flush_staged.
void append_together(const logs::Partition& partition, std::span<const coordination::OutwardWrite> writes, TimestampMs now,
                     std::span<ErrorCode> errors, WriteBreadth breadth = WriteBreadth::few);

}  // namespace partita::runtime
