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
    /// The partition got markers, and its readers were told. From the thread that wrote them, perhaps with the lock of a shard of
    /// transactions held.
    virtual void on_markers(const logs::TopicState& topic, PartitionIndex partition) = 0;
};

/// Writes batches of coordinators into partitions that are not their own.
class OutwardWrites {
  public:
    /// `hosts`: whose topics some of these partitions are.
    OutwardWrites(logs::Turns& turns, const logs::PublishedTopics& topics, const CoordinatorHosts& hosts)
        : turns_(turns), topics_(topics), hosts_(hosts) {}
    /// Set once, before anything is written.
    void set_marker_listener(MarkerListener& listener) { markers_ = &listener; }

    /// Tries all writes and says what became of each, in their order. Batches of one partition are written in their order and
    /// with one write, whatever stands between them, and partitions in the order in which they were made; one that cannot be
    /// written does not keep those of other partitions from it. Fetches that wait are woken. `turn` is null off the reactors.
    ///
    /// May be called with a shard's lock held: takes those of logs, and, for markers in the topic of groups, those of its shards.
    [[nodiscard]] std::vector<coordination::OutwardWriteOutcome> carry_out(std::span<const coordination::OutwardWrite> writes,
                                                                           logs::Turn* turn, TimestampMs now);

  private:
    void tell_readers(logs::Partition& partition, std::size_t bytes, logs::Turn* turn);

    logs::Turns& turns_;
    const logs::PublishedTopics& topics_;
    const CoordinatorHosts& hosts_;
    MarkerListener* markers_ = nullptr;
};

/// Appends the batches to the partition's log, in their order and by one write. `errors`: gets what became of each, as in
/// OutwardWriteOutcome; as many as there are batches. `breadth`: see PartitionLog::flush_staged.
void append_together(const logs::Partition& partition, std::span<const coordination::OutwardWrite> writes, TimestampMs now,
                     std::span<ErrorCode> errors, WriteBreadth breadth = WriteBreadth::few);

}  // namespace partita::runtime
