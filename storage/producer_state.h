#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita {

/// One batch that a producer wrote, as far as a repetition of it must be recognised.
struct ProducerBatch {
    Sequence last_sequence{-1};
    /// last - first, also across the wrap of the sequence.
    std::int32_t offset_delta = 0;
    Offset last_offset{-1};
    TimestampMs timestamp = kNoTimestamp;

    [[nodiscard]] Sequence first_sequence() const;
    [[nodiscard]] Offset first_offset() const { return last_offset - offset_delta; }
    friend bool operator==(const ProducerBatch&, const ProducerBatch&) = default;
};

/// What a partition knows of one producer id.
struct ProducerEntry {
    /// Kafka's NUM_BATCHES_TO_RETAIN: as many as an idempotent client may have in flight.
    static constexpr std::size_t kRetainedBatches = 5;

    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    std::uint8_t batch_count = 0;
    std::int32_t coordinator_epoch = -1;
    /// Of the newest batch or marker.
    TimestampMs last_timestamp = kNoTimestamp;
    /// When this process saw it last: expiry counts from here, so that records with old timestamps do
    /// not make their producer forgotten at once.
    TimestampMs last_seen = kNoTimestamp;
    Offset current_transaction_start = kNoOffset;
    /// The first `batch_count`, oldest first.
    std::array<ProducerBatch, kRetainedBatches> batches{};

    [[nodiscard]] Sequence last_sequence() const;
    [[nodiscard]] Offset last_offset() const;
    void add_batch(const ProducerBatch& batch);
};

/// The end of a transaction, from the record of a control batch.
struct ControlMarker {
    bool is_commit = false;
    std::int32_t coordinator_epoch = -1;
};

/// Reads the marker of a control batch; nothing when it is another kind of control record.
[[nodiscard]] std::optional<ControlMarker> parse_control_marker(const Batch& batch);

struct CompletedTransaction {
    ProducerId producer_id;
    Offset first_offset;
    /// Of the marker.
    Offset last_offset;
    bool is_aborted = false;
};

/// Idempotence and open transactions of one partition. Pure: no file, clock or lock; iterates in the
/// order of producer ids.
///
/// A batch is checked against a copy of its producer's entry (`prepare`), and the new entry is taken
/// with `commit` once the batch is staged; what `commit` returns undoes it with `restore`.
class ProducerState {
  public:
    /// A partition that has seen more producers than this forgets the eighth that was idle longest
    /// (never one with an open transaction); for those any next sequence is accepted.
    static constexpr std::size_t kMaximumProducers = 100'000;

    struct Duplicate {
        Offset base_offset;
        Offset last_offset;
        TimestampMs timestamp;
    };
    struct Update {
        ProducerEntry entry;
        std::optional<CompletedTransaction> completed;
    };
    struct Undo {
        ProducerId producer_id;
        std::optional<ProducerEntry> entry;
    };
    enum class Origin {
        /// From a client: sequences are judged.
        client,
        /// From our own log while it is replayed: taken as it is.
        replay,
    };

    /// `header` has its final base offset. `marker` for control batches that carry one.
    [[nodiscard]] std::expected<std::variant<Update, Duplicate>, AppendError> prepare(
        const BatchHeader& header, const std::optional<ControlMarker>& marker, TimestampMs now, Origin origin) const;
    Undo commit(Update update);
    void restore(Undo undo);

    void expire(TimestampMs now, std::int64_t expiration_ms);

    /// Start of the oldest open transaction.
    [[nodiscard]] std::optional<Offset> first_open_transaction() const;

    [[nodiscard]] std::size_t size() const { return producers_.size(); }
    [[nodiscard]] bool empty() const { return producers_.empty(); }
    [[nodiscard]] const ProducerEntry* find(ProducerId id) const;
    /// Ascending by producer id.
    [[nodiscard]] std::vector<ProducerEntry> entries() const;
    void load(std::vector<ProducerEntry> entries, TimestampMs now);
    void clear();

  private:
    void make_room();

    std::unordered_map<ProducerId, ProducerEntry> producers_;
    std::map<Offset, ProducerId> open_transactions_;
};

}  // namespace partita
