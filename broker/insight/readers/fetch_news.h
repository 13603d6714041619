#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "broker/insight/identity/identity.h"
#include "protocol/types.h"

/// Filters out fetches that tell nothing new.
namespace partita::insight {

/// Remembers what was noted of recent readers, so that their usual fetches need not be noted again. A consumer fetches again and
/// again, and mostly tells the same: it reads a partition and goes forward. Pure; one thread at a time.
class FetchNews {
  public:
    /// Readers of partitions that it remembers. If two have the same place in the table, the later one takes it.
    static constexpr std::size_t kReaders = 1024;
    /// An unchanged reader is noted again after this time, which shows that it is still there (ConsumerWatch::kSilentMs).
    static constexpr std::int64_t kRepeatMs = 10'000;

    /// A 64-bit hash that stands for a connection, a topic and a partition.
    [[nodiscard]] static std::uint64_t reader_of(ConnectionId connection, const TopicId& topic, PartitionIndex partition);

    /// True if the caller should note a fetch of `from`; then this remembers it. `changes` counts events that make every reader's
    /// next fetch worth noting.
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

}  // namespace partita::insight
