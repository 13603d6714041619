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

/// One batch of a producer: the data needed to recognise a repetition.
struct ProducerBatch {
    Sequence last_sequence{-1};
    /// Last offset minus first offset; also the difference of the sequences, which may wrap.
    std::int32_t offset_delta = 0;
    Offset last_offset{-1};
    TimestampMs timestamp = kNoTimestamp;

    [[nodiscard]] Sequence first_sequence() const;
    [[nodiscard]] Offset first_offset() const { return last_offset - offset_delta; }
    friend bool operator==(const ProducerBatch&, const ProducerBatch&) = default;
};

/// A partition's knowledge of one producer id.
struct ProducerEntry {
    /// Kafka's NUM_BATCHES_TO_RETAIN: the most batches that an idempotent client may have in flight.
    static constexpr std::size_t kRetainedBatches = 5;

    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    std::uint8_t batch_count = 0;
    std::int32_t coordinator_epoch = -1;
    /// Timestamp of the newest batch or marker.
    TimestampMs last_timestamp = kNoTimestamp;
    /// When this process last saw the producer. Expiry counts from here, so that old record timestamps do not expire a producer
    /// at once.
    TimestampMs last_seen = kNoTimestamp;
    Offset current_transaction_start = kNoOffset;
    /// The first `batch_count` are in use, oldest first.
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

/// Reads the marker of a control batch; empty for control records of other kinds.
[[nodiscard]] std::optional<ControlMarker> parse_control_marker(const Batch& batch);

struct CompletedTransaction {
    ProducerId producer_id;
    Offset first_offset;
    /// Offset of the marker.
    Offset last_offset;
    bool is_aborted = false;
};

/// Idempotence and open transactions of one partition. Pure: no file, clock or lock.
///
/// The log checks a batch against its producer's entry with `prepare`, and stores the new entry with `commit` once the
/// batch is staged. `restore` undoes that with what `commit` returned.
class ProducerState {
  public:
    /// A partition with more producers than this forgets an eighth of this number, those that were idle longest (never one with
    /// an open transaction). It accepts any next sequence from a forgotten producer.
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
    /// A producer whose coordinator is being asked now, or was asked in vain.
    struct Verifying {
        TransactionVerification verification;
        ProducerEpoch epoch;
        Sequence lowest_sequence;
        bool bumps_epoch = false;
        TimestampMs since;
    };
    struct Undo {
        ProducerId producer_id;
        std::optional<ProducerEntry> entry;
        std::optional<Verifying> verifying;
    };
    using Prepared = std::expected<std::variant<Update, Duplicate>, AppendError>;

    /// `header` must have its final base offset. `marker` is set for control batches that carry one.
    [[nodiscard]] Prepared prepare(const BatchHeader& header, const std::optional<ControlMarker>& marker,
                                   const AppendContext& context) const;
    /// The same for a batch of our own log during a replay, without checks.
    [[nodiscard]] Update replay(const BatchHeader& header, const std::optional<ControlMarker>& marker, TimestampMs now) const;
    Undo commit(const Update& update);
    void restore(const Undo& undo);

    /// See PartitionLog. Until a batch of the producer opens a transaction, only the lowest sequence with a verification may do
    /// so. Otherwise the log would skip a batch whose verification failed.
    [[nodiscard]] std::expected<std::optional<TransactionVerification>, AppendError> begin_verification(const BatchHeader& header,
                                                                                                        bool bumps_epoch,
                                                                                                        TimestampMs now);

    void expire(TimestampMs now, std::int64_t expiration_ms);

    /// Start of the oldest open transaction; empty when none is open.
    [[nodiscard]] std::optional<Offset> first_open_transaction() const;

    [[nodiscard]] std::size_t size() const { return producers_.size(); }
    [[nodiscard]] bool empty() const { return producers_.empty(); }
    [[nodiscard]] const ProducerEntry* find(ProducerId id) const;
    /// Ascending by producer id.
    [[nodiscard]] std::vector<ProducerEntry> entries() const;
    void load(std::vector<ProducerEntry> entries, TimestampMs now);
    void clear();

  private:
    [[nodiscard]] std::expected<void, AppendError> check_transaction(const ProducerEntry& known, const BatchHeader& header,
                                                                     const AppendContext& context) const;
    [[nodiscard]] std::expected<void, AppendError> check_verified_sequence(const ProducerEntry& known,
                                                                           const BatchHeader& header) const;
    /// Overwrites `known` with `entry`, and updates the open transactions.
    void replace(ProducerEntry& known, const ProducerEntry& entry);
    void open_transaction(Offset start, ProducerId id);
    void close_transaction(Offset start);
    void make_room();
    void make_room_for_verifying(ProducerId but);

    using VerifyingById = std::unordered_map<ProducerId, Verifying>;
    using OpenTransactions = std::map<Offset, ProducerId>;

    std::unordered_map<ProducerId, ProducerEntry> producers_;
    /// At most kMaximumProducers entries, too.
    VerifyingById verifying_;
    std::uint64_t last_verification_ = 0;
    OpenTransactions open_transactions_;
    // The map nodes of the last finished verification and transaction. Usually transactions follow one another, so none needs an
    // allocation.
    VerifyingById::node_type free_verifying_;
    OpenTransactions::node_type free_transaction_;
};

}  // namespace partita
