#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/coordination/coordinator_core.h"
#include "broker/transactions/commands.h"
#include "broker/transactions/effects.h"
#include "broker/transactions/owed_markers.h"
#include "broker/transactions/records.h"
#include "broker/transactions/results.h"
#include "broker/transactions/transaction_table.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/types.h"

namespace partita {
class BatchBuilder;
}

namespace partita::transactions {

/// The broker's settings that concern transactions.
struct TransactionConfig {
    std::int32_t max_timeout_ms = 0;               ///< transaction.max.timeout.ms
    std::int64_t id_expiration_ms = 0;             ///< transactional.id.expiration.ms
    std::int64_t abort_check_interval_ms = 0;      ///< transaction.abort.timed.out.transaction.cleanup.interval.ms
    std::int64_t id_expiry_check_interval_ms = 0;  ///< transaction.remove.expired.transaction.cleanup.interval.ms
    /// The finalized level of the feature `transaction.version`. The broker uses it for transactions that it ends by itself.
    TransactionVersion version = TransactionVersion::v2;
};

/// All transactional ids whose state lives in ONE partition of `__transaction_state`. It behaves like the transaction coordinator
/// of Apache Kafka 4.3.1, for clients of the first protocol and of KIP-890's.
///
/// It is a coordination::CoordinatorCore that writes outward, see there for the rules of its life. Each call answers its own
/// command.
///
/// A transaction ends in three steps: the record that decides it (PrepareCommit, PrepareAbort), a marker in each of its
/// partitions, and the record that all have theirs (CompleteCommit, CompleteAbort). One call asks for the first record and for
/// the markers. The client gets its answer after both were tried, so that its commit is visible to any client that it tells
/// next. Markers that fail are owed until they are written, also after a rebuild; meanwhile the id answers
/// CONCURRENT_TRANSACTIONS.
///
/// Kafka also answers that while a record waits for its log. Here no record ever waits, so these races do not show.
class TransactionCoordinator {
  public:
    using Record = transactions::Record;
    using Result = transactions::Result;
    using Effects = transactions::Effects;

    /// `coordinator_epoch`: the leader epoch of the partition, which its markers carry.
    TransactionCoordinator(const TransactionConfig& config, std::int32_t coordinator_epoch);

    // The form of its records in the log; see `record_codec.h`.

    [[nodiscard]] static std::expected<std::optional<Record>, DecodeError> decode(Bytes key, std::optional<Bytes> value,
                                                                                  Arena& arena);
    [[nodiscard]] static std::expected<void, EncodeError> encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                                 BatchBuilder& batch);

    /// Applies one record of the log to the state. Only before `loaded`.
    void replay(const Record& record);
    /// The log has been replayed. Open transactions time out from now on, and the coordinator asks for markers that are owed.
    void loaded(Now now, Effects& effects);

    void decide(const InitProducerId& command, Now now, Effects& effects);
    void decide(const AddPartitions& command, Now now, Effects& effects);
    void decide(const VerifyPartitions& command, Now now, Effects& effects);
    void decide(const EndTransaction& command, Now now, Effects& effects);
    void decide(const DescribeTransaction& command, Now now, Effects& effects);
    void decide(const ListTransactions& command, Now now, Effects& effects);

    void written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now, Effects& effects);

    /// Nothing needs to change for a deleted topic: a transaction that wrote to it ends without a marker there.
    void topic_deleted(const coordination::TopicDeleted& event, Now now, Effects& effects);

    /// Aborts transactions that are open for too long, forgets ids that were unused for too long, and asks again for markers that
    /// failed. It checks the first two at fixed times counted from `loaded`, as Kafka does.
    void tick(Now now, Effects& effects);
    [[nodiscard]] std::optional<Instant> next_deadline() const;

    /// The logs show that these producers had these epochs. If an epoch is higher than the known one, a power failure lost the
    /// records that gave it out. The coordinator must not give such an epoch to a second producer, whose first records would look
    /// like repetitions. Call it after `loaded`. It leaves a transaction alone whose markers are still owed.
    void raise_epochs(const std::map<ProducerId, ProducerEpoch>& shown, Effects& effects);

    /// Does nothing: no request waits in a transaction coordinator.
    void fail_waiting(ErrorCode error, Effects& effects);

    /// Takes effect for later calls.
    void reconfigure(const TransactionConfig& config);

    /// All known transactions, by transactional id.
    [[nodiscard]] const TransactionTable::Transactions& all() const { return table_.all(); }
    [[nodiscard]] std::string dump() const { return table_.dump(); }

  private:
    [[nodiscard]] InitProducerIdResult init_producer_id(const InitProducerId& command, Now now, Effects& effects);
    [[nodiscard]] ErrorCode add_partitions(const AddPartitions& command, Now now, Effects& effects);
    [[nodiscard]] EndTransactionResult end_transaction(const EndTransaction& command, Now now, Effects& effects);
    [[nodiscard]] EndTransactionResult end_by_first_protocol(const EndTransaction& command, const Transaction& transaction,
                                                             Now now, Effects& effects);
    [[nodiscard]] EndTransactionResult end_by_epoch(const EndTransaction& command, const Transaction& transaction, Now now,
                                                    Effects& effects);
    /// Decides the end of a transaction, and asks for its markers; without partitions it is complete at once.
    void prepare_end(TransactionRecord record, TransactionState state, ProducerEpoch last_epoch, Now now, Effects& effects);
    /// Aborts the open transaction and keeps its producer from continuing.
    void fence(std::string_view transactional_id, const Transaction& transaction, Now now, Effects& effects);
    void complete(std::string_view transactional_id, Now now, Effects& effects);
    void change(TransactionRecord record, ProducerEpoch last_epoch, Effects& effects);

    void abort_what_is_due(Now now, Effects& effects);
    void expire_ids(Now now, Effects& effects);
    /// The first time of a check that is later than `instant`.
    [[nodiscard]] Instant next_abort_check(Instant instant) const;
    void watch_timeout(std::string_view transactional_id, Now now);
    void forget_timeout(std::string_view transactional_id);

    TransactionConfig config_;
    std::int32_t coordinator_epoch_;
    TransactionTable table_;
    OwedMarkers markers_;
    Instant loaded_at_;
    Instant next_id_expiry_check_;
    /// When open transactions must be aborted, the earliest first; and the same by id.
    std::set<std::pair<Instant, std::string>> timeouts_;
    std::map<std::string, Instant, std::less<>> timeout_of_;
};

static_assert(coordination::WritesOutward<TransactionCoordinator>);

}  // namespace partita::transactions
