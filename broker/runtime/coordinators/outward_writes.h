#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "broker/coordination/effects.h"
#include "protocol/types.h"

namespace partita::runtime {

class PublishedTopics;
struct Partition;
class Turn;
class Turns;

/// Writes batches of coordinators into partitions that are not their own.
class OutwardWrites {
  public:
    OutwardWrites(Turns& turns, const PublishedTopics& topics) : turns_(turns), topics_(topics) {}

    /// Tries all writes and says what became of each, in their order. Batches of one partition are written in their order and
    /// with one write, whatever stands between them; one that cannot be written does not keep those of other partitions from
    /// it. Fetches that wait are woken. May be called with a shard's lock held: takes those of logs. `turn` is null off the
    /// reactors.
    [[nodiscard]] std::vector<coordination::OutwardWriteOutcome> carry_out(std::span<const coordination::OutwardWrite> writes,
                                                                           Turn* turn, TimestampMs now);

  private:
    void tell_readers(Partition& partition, std::size_t bytes, Turn* turn);

    Turns& turns_;
    const PublishedTopics& topics_;
};

}  // namespace partita::runtime
