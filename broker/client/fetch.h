#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"
#include "protocol/record_batch.h"

namespace partita::client {

/// A record that was read. Borrows from the reply; valid until the taker returns.
struct FetchedRecord {
    std::string_view topic;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::int64_t timestamp_ms = -1;
    /// Empty for a record of message format 0, which has no time.
    std::optional<TimestampType> timestamp_type = TimestampType::create_time;
    std::int32_t leader_epoch = -1;
    std::optional<Bytes> key;
    std::optional<Bytes> value;
    RecordHeaderRange headers;
};

/// Where to continue when there is no offset, or when the offset does not exist (any more).
struct OffsetReset {
    enum class Kind : std::uint8_t { earliest, latest, none, by_duration };
    Kind kind = Kind::latest;
    /// Only for by_duration: how far to go back.
    std::int64_t duration_ms = 0;

    /// The time that `list_offsets` takes; null for none.
    [[nodiscard]] std::optional<std::int64_t> time_at(std::int64_t now_ms) const;
};

struct FetcherSettings {
    bool is_read_committed = false;
    OffsetReset reset;
    std::int64_t max_wait_ms = 500;
    /// Limit for one partition in one answer; the broker sends a larger batch whole.
    std::int32_t partition_bytes = 1024 * 1024;
};

/// Reads partitions from given offsets, with any codec and the formats 0 to 2. It skips control records, and aborted records if
/// the reader wants committed ones. One thread.
class Fetcher {
  public:
    /// Returns false if this record was the last that it wants.
    using Taker = std::function<bool(const FetchedRecord&)>;

    /// The cluster outlives the fetcher.
    Fetcher(Cluster& cluster, FetcherSettings settings) : cluster_(cluster), settings_(settings) {}

    /// Starts or continues at an offset.
    void seek(const TopicPartition& partition, std::int64_t offset) { positions_[partition] = {.offset = offset}; }
    void leave(const TopicPartition& partition) { positions_.erase(partition); }

    /// Asks every leader once, waits there for up to max_wait_ms if nothing is new, and hands on records in the order of each
    /// partition. Returns how many records the taker took; the next call continues behind them. Failures: those of the cluster,
    /// an offset that does not exist, and records that cannot be decoded (damaged). In the last case `position` is where they
    /// begin, and `damage` says why.
    [[nodiscard]] Result<std::int64_t> poll(const Taker& take) { return poll(take, settings_.max_wait_ms); }
    /// As above with a shorter wait.
    [[nodiscard]] Result<std::int64_t> poll(const Taker& take, std::int64_t wait_ms_max);
    /// The next offset to read.
    [[nodiscard]] std::int64_t position(const TopicPartition& partition) const { return positions_.at(partition).offset; }
    /// The epoch of the leader that wrote the last record read; -1 if none was read.
    [[nodiscard]] std::int32_t leader_epoch(const TopicPartition& partition) const {
        return positions_.at(partition).leader_epoch;
    }
    /// Where a partition ended at the last answer: behind its last record, or behind its last committed one. Null before the
    /// first answer.
    [[nodiscard]] std::optional<std::int64_t> end(const TopicPartition& partition) const { return positions_.at(partition).end; }
    [[nodiscard]] bool reads(const TopicPartition& partition) const { return positions_.contains(partition); }
    [[nodiscard]] bool has_partitions() const { return !positions_.empty(); }
    /// Why the records of the last failure (damaged) could not be decoded.
    [[nodiscard]] std::string_view damage() const { return damage_; }

  private:
    struct Position {
        std::int64_t offset = 0;
        std::int32_t leader_epoch = -1;
        std::optional<std::int64_t> end;
    };

    class Aborted;
    struct Handing;

    [[nodiscard]] Result<void> find_leaders();
    [[nodiscard]] Result<std::int64_t> ask(std::int32_t leader, const std::vector<TopicPartition>& partitions,
                                           std::int64_t wait_ms, const Taker& take, bool& wants_more);
    [[nodiscard]] Result<std::int64_t> hand_on(const TopicPartition& partition, Bytes records,
                                               const std::vector<std::pair<std::int64_t, std::int64_t>>& aborted_transactions,
                                               const Taker& take, bool& wants_more);
    [[nodiscard]] Result<void> answer(const TopicPartition& partition, ErrorCode code);

    Cluster& cluster_;
    const FetcherSettings settings_;
    std::map<TopicPartition, Position> positions_;
    std::map<TopicPartition, std::int32_t> leaders_;
    std::string damage_;
};

}  // namespace partita::client
