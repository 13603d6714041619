#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "broker/expansion/identity.h"
#include "protocol/types.h"

/// Which fetches say nothing that was not said before.
namespace partita::expansion {

/// A consumer fetches again and again, and tells the same: that it reads this partition, and goes forward. What was noted of
/// the last so many readers keeps their further fetches from being noted again. Pure, one thread at a time.
class FetchMemory {
  public:
    /// Readers of partitions that are remembered; of two that share a place the later one stays.
    static constexpr std::size_t kReaders = 1024;
    /// An unchanged reader is noted so often, so that it is known to be there (ConsumerWatch::kSilentMs).
    static constexpr std::int64_t kRepeatMs = 10'000;

    /// Stands for a connection, a topic and a partition, with 64 good bits.
    [[nodiscard]] static std::uint64_t reader_of(ConnectionId connection, const TopicId& topic, PartitionIndex partition);

    /// Whether a fetch of `from` is to be noted; then it is remembered. `changes` counts what makes everybody's next fetch worth noting.
    [[nodiscard]] bool is_news(std::uint64_t reader, Offset from, std::uint64_t changes, TimestampMs now) {
        Noted& noted = noted_[reader % kReaders];
        const bool is_same = noted.reader == reader && noted.changes == changes && from >= noted.from &&
                             now.value - noted.time.value < kRepeatMs && now >= noted.time;
        if (is_same) {
            noted.from = from;
            return false;
        }
        noted = {.reader = reader, .from = from, .changes = changes, .time = now};
        return true;
    }

  private:
    struct Noted {
        std::uint64_t reader = 0;
        Offset from{};
        std::uint64_t changes = 0;
        TimestampMs time = kNoTimestamp;
    };
    std::array<Noted, kReaders> noted_{};
};

}  // namespace partita::expansion
