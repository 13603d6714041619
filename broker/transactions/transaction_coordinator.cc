#include "broker/transactions/transaction_coordinator.h"

#include <algorithm>
#include <limits>

#include "broker/transactions/record_codec.h"
#include "protocol/record_batch_builder.h"
#include "protocol/try.h"
#include "protocol/wrapping.h"

namespace partita::transactions {
namespace {

/// The last epoch of a producer id that a producer gets. The next one is reserved for fencing that producer.
constexpr ProducerEpoch kLastUsableEpoch{std::numeric_limits<std::int16_t>::max() - 1};
constexpr ProducerEpoch kHighestEpoch{std::numeric_limits<std::int16_t>::max()};

/// `version`: that of a client, or of the broker's own actions.
constexpr bool bumps_epochs(TransactionVersion version) { return version >= TransactionVersion::v2; }

constexpr bool is_exhausted(ProducerEpoch epoch) { return epoch >= kLastUsableEpoch; }

/// The highest epoch has itself as its successor. A producer with that epoch is in an invalid state, and may still abort.
constexpr ProducerEpoch next_epoch(ProducerEpoch epoch) {
    return epoch == kHighestEpoch ? epoch : ProducerEpoch{static_cast<std::int16_t>(epoch.value + 1)};
}

constexpr TransactionState prepared(bool commit) {
    return commit ? TransactionState::prepare_commit : TransactionState::prepare_abort;
}
constexpr TransactionState completed(bool commit) {
    return commit ? TransactionState::complete_commit : TransactionState::complete_abort;
}

/// Answers a client that repeats a request for an end that is already decided. It does so by the first protocol, or its epoch
/// shows it.
ErrorCode answer_to_repeated_end(TransactionState state, bool commit) {
    if (state == completed(commit)) {
        return ErrorCode::none;
    }
    return state == prepared(commit) ? ErrorCode::concurrent_transactions : ErrorCode::invalid_txn_state;
}

}  // namespace

TransactionCoordinator::TransactionCoordinator(const TransactionConfig& config, std::int32_t coordinator_epoch)
    : config_(config), coordinator_epoch_(coordinator_epoch) {}

std::expected<std::optional<Record>, DecodeError> TransactionCoordinator::decode(Bytes key, std::optional<Bytes> value,
                                                                                 Arena& arena) {
    return decode_record(key, value, arena);
}

std::expected<void, EncodeError> TransactionCoordinator::encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                                BatchBuilder& batch) {
    PARTITA_TRY_ASSIGN(const auto encoded, encode_record(record, scratch));
    batch.append(timestamp, encoded.key, encoded.value);
    return {};
}

void TransactionCoordinator::replay(const Record& record) { table_.apply(record, TransactionTable::Origin::replayed); }

void TransactionCoordinator::loaded(Now now, Effects& effects) {
    loaded_at_ = now.monotonic;
    next_id_expiry_check_ = now.monotonic + config_.id_expiry_check_interval_ms;
    std::vector<std::string> without_partitions;
    for (const auto& [id, transaction] : table_.all()) {
        if (transaction.state == TransactionState::ongoing) {
            watch_timeout(id, now);
        } else if (is_ending(transaction.state)) {
            markers_.owe(id, transaction, now.monotonic);
            if (!markers_.owes(id)) {
                without_partitions.push_back(id);
            }
        }
    }
    for (const std::string& id : without_partitions) {
        complete(id, now, effects);
    }
    markers_.ask(table_, coordinator_epoch_, now, effects);
}

void TransactionCoordinator::decide(const InitProducerId& command, Now now, Effects& effects) {
    effects.replies.push_back({command.reply_to, init_producer_id(command, now, effects)});
}

InitProducerIdResult TransactionCoordinator::init_producer_id(const InitProducerId& command, Now now, Effects& effects) {
    if (command.transactional_id.empty()) {
        return {.error = ErrorCode::invalid_request};
    }
    if (command.timeout_ms <= 0 || command.timeout_ms > config_.max_timeout_ms) {
        return {.error = ErrorCode::invalid_transaction_timeout};
    }
    const Transaction* const known = table_.find(command.transactional_id);
    if (known == nullptr) {
        if (!command.fresh_producer_id) {
            return {.needs_producer_id = true};
        }
        const Producer producer{*command.fresh_producer_id, {0}};
        change({.transactional_id = effects.arena.copy(command.transactional_id),
                .producer = producer,
                .previous_producer_id = producer.id,
                .timeout_ms = command.timeout_ms,
                .state = TransactionState::empty,
                .partitions = {},
                .last_update_timestamp = now.wall},
               kNoProducerEpoch, effects);
        return {.producer = producer};
    }

    const std::optional<Producer>& expected = command.expected;
    // A client may name its own id. It may also name the previous one, if it missed that the epochs of that one were used up.
    if (expected && expected->id != known->producer.id &&
        (expected->id != known->previous_producer_id || !is_exhausted(expected->epoch))) {
        return {.error = ErrorCode::producer_fenced};
    }
    if (is_ending(known->state)) {
        return {.error = ErrorCode::concurrent_transactions};
    }
    if (known->state == TransactionState::ongoing) {
        // The producer will ask again, and then gets an epoch of its own.
        fence(command.transactional_id, *known, now, effects);
        return {.error = ErrorCode::concurrent_transactions};
    }

    TransactionRecord record = TransactionTable::record_of(command.transactional_id, *known, effects.arena);
    ProducerEpoch last_epoch = kNoProducerEpoch;
    const ProducerEpoch epoch = known->producer.epoch;
    if (is_exhausted(epoch) && (!expected || expected->epoch == epoch)) {
        if (!command.fresh_producer_id) {
            return {.needs_producer_id = true};
        }
        record.producer = {*command.fresh_producer_id, {0}};
        last_epoch = expected ? epoch : kNoProducerEpoch;
    } else if (!expected || expected->epoch == epoch) {
        record.producer.epoch = next_epoch(epoch);
        last_epoch = expected ? epoch : kNoProducerEpoch;
    } else if (expected->epoch == known->last_producer_epoch) {
        // The producer repeats its request for the same epoch. No other producer got an epoch meanwhile, or there would be no
        // last one.
        last_epoch = known->last_producer_epoch;
    } else {
        return {.error = ErrorCode::producer_fenced};
    }
    record.previous_producer_id = known->producer.id;
    record.next_producer_id = known->next_producer_id;
    record.timeout_ms = command.timeout_ms;
    record.state = TransactionState::empty;
    record.partitions.clear();
    record.start_timestamp = kNoTimestamp;
    record.last_update_timestamp = now.wall;
    const Producer producer = record.producer;
    change(std::move(record), last_epoch, effects);
    return {.producer = producer};
}

void TransactionCoordinator::decide(const AddPartitions& command, Now now, Effects& effects) {
    effects.replies.push_back({command.reply_to, AddPartitionsResult{add_partitions(command, now, effects)}});
}

ErrorCode TransactionCoordinator::add_partitions(const AddPartitions& command, Now now, Effects& effects) {
    if (command.transactional_id.empty()) {
        return ErrorCode::invalid_request;
    }
    const Transaction* const known = table_.find(command.transactional_id);
    if (known == nullptr || known->producer.id != command.producer.id) {
        return ErrorCode::invalid_producer_id_mapping;
    }
    if (known->producer.epoch != command.producer.epoch) {
        return ErrorCode::producer_fenced;
    }
    if (is_ending(known->state)) {
        return ErrorCode::concurrent_transactions;
    }
    const bool is_open = known->state == TransactionState::ongoing;
    if (is_open && std::ranges::all_of(command.partitions, [&](const WrittenPartition& partition) {
            return known->partitions.contains(partition.topic, partition.partition);
        })) {
        return ErrorCode::none;
    }

    std::map<std::string_view, std::vector<PartitionIndex>> added;
    for (const WrittenPartition& partition : command.partitions) {
        added[partition.topic].push_back(partition.partition);
    }
    Transaction grown = *known;
    for (const auto& [topic, partitions] : added) {
        grown.partitions.add(topic, partitions);
    }
    grown.previous_producer_id = known->producer.id;
    grown.state = TransactionState::ongoing;
    grown.client_version = command.client_version;
    grown.last_update_timestamp = now.wall;
    if (!is_open) {
        grown.start_timestamp = now.wall;
    }
    change(TransactionTable::record_of(command.transactional_id, grown, effects.arena), known->last_producer_epoch, effects);
    if (!is_open) {
        watch_timeout(command.transactional_id, now);
    }
    return ErrorCode::none;
}

void TransactionCoordinator::decide(const VerifyPartitions& command, Now /*now*/, Effects& effects) {
    VerifyPartitionsResult result;
    const Transaction* const known = table_.find(command.transactional_id);
    ErrorCode error = ErrorCode::none;
    if (command.transactional_id.empty()) {
        error = ErrorCode::invalid_request;
    } else if (known == nullptr || known->producer.id != command.producer.id) {
        error = ErrorCode::invalid_producer_id_mapping;
    } else if (known->producer.epoch != command.producer.epoch) {
        error = ErrorCode::producer_fenced;
    } else if (is_ending(known->state)) {
        error = ErrorCode::concurrent_transactions;
    }
    result.errors.reserve(command.partitions.size());
    for (const WrittenPartition& partition : command.partitions) {
        const bool is_in = error == ErrorCode::none && known->partitions.contains(partition.topic, partition.partition);
        result.errors.push_back(error == ErrorCode::none && !is_in ? ErrorCode::transaction_abortable : error);
    }
    effects.replies.push_back({command.reply_to, std::move(result)});
}

void TransactionCoordinator::decide(const EndTransaction& command, Now now, Effects& effects) {
    const std::size_t reply = effects.replies.size();
    effects.replies.push_back({command.reply_to, EndTransactionResult{}});
    effects.replies[reply].result = end_transaction(command, now, effects);
    markers_.ask(table_, coordinator_epoch_, now, effects);
}

EndTransactionResult TransactionCoordinator::end_transaction(const EndTransaction& command, Now now, Effects& effects) {
    if (command.transactional_id.empty()) {
        return {.error = ErrorCode::invalid_request};
    }
    const Transaction* const known = table_.find(command.transactional_id);
    if (known == nullptr) {
        return {.error = ErrorCode::invalid_producer_id_mapping};
    }
    return bumps_epochs(command.client_version) ? end_by_epoch(command, *known, now, effects)
                                                : end_by_first_protocol(command, *known, now, effects);
}

EndTransactionResult TransactionCoordinator::end_by_first_protocol(const EndTransaction& command, const Transaction& transaction,
                                                                   Now now, Effects& effects) {
    if (transaction.producer.id != command.producer.id) {
        return {.error = ErrorCode::invalid_producer_id_mapping};
    }
    if (transaction.producer.epoch != command.producer.epoch) {
        return {.error = ErrorCode::producer_fenced};
    }
    const Producer producer = transaction.producer;
    if (transaction.state != TransactionState::ongoing) {
        const ErrorCode error = answer_to_repeated_end(transaction.state, command.commit);
        return {.error = error, .producer = error == ErrorCode::none ? producer : Producer{}};
    }
    TransactionRecord record = TransactionTable::record_of(command.transactional_id, transaction, effects.arena);
    record.next_producer_id = kNoProducerId;
    // The client's protocol decides, not the broker's level.
    record.client_version = TransactionVersion::v0;
    prepare_end(std::move(record), prepared(command.commit), transaction.last_producer_epoch, now, effects);
    return {.producer = producer};
}

// The client gets a new epoch with each end, so that an epoch tells which end is meant (KIP-890). The known epoch means the
// transaction that is open now, or that none is open. The one before means that the client missed the answer.
EndTransactionResult TransactionCoordinator::end_by_epoch(const EndTransaction& command, const Transaction& transaction, Now now,
                                                          Effects& effects) {
    const Producer& known = transaction.producer;
    const Producer& asked = command.producer;
    // The missed answer gave out another producer id, because the epochs of this one were used up.
    const bool repeats_last_epoch =
        transaction.previous_producer_id == asked.id && asked.epoch == kLastUsableEpoch && known.epoch.value == 0;
    const bool repeats = repeats_last_epoch || known.epoch.value == asked.epoch.value + 1;
    if (known.id != asked.id && !repeats_last_epoch) {
        return {.error = ErrorCode::invalid_producer_id_mapping};
    }
    const bool is_open_or_new = transaction.state == TransactionState::ongoing || transaction.state == TransactionState::empty;
    const bool is_meant = is_ending(transaction.state) ? known.epoch.value == asked.epoch.value + 1
                          : is_open_or_new             ? asked.epoch == known.epoch
                                                       : repeats || asked.epoch == known.epoch;
    if (!is_meant) {
        return {.error = ErrorCode::producer_fenced};
    }
    if (!is_open_or_new && repeats) {
        const ErrorCode error = answer_to_repeated_end(transaction.state, command.commit);
        return {.error = error, .producer = error == ErrorCode::none ? known : Producer{}};
    }
    // As far as the broker knows, no transaction is open. An abort may follow a write that never came; a commit is an error.
    if (transaction.state != TransactionState::ongoing && command.commit) {
        return {.error = ErrorCode::invalid_txn_state};
    }
    if (is_exhausted(known.epoch) && !command.fresh_producer_id) {
        return {.needs_producer_id = true};
    }

    TransactionRecord record = TransactionTable::record_of(command.transactional_id, transaction, effects.arena);
    const ProducerEpoch last_epoch = known.epoch;
    record.producer.epoch = next_epoch(known.epoch);
    record.next_producer_id = is_exhausted(last_epoch) ? *command.fresh_producer_id : kNoProducerId;
    record.client_version = command.client_version;
    if (transaction.state != TransactionState::ongoing) {
        record.start_timestamp = now.wall;
    }
    const Producer goes_on = record.next_producer_id == kNoProducerId ? record.producer : Producer{record.next_producer_id, {0}};
    prepare_end(std::move(record), prepared(command.commit), last_epoch, now, effects);
    return {.producer = goes_on};
}

void TransactionCoordinator::fence(std::string_view transactional_id, const Transaction& transaction, Now now, Effects& effects) {
    TransactionRecord record = TransactionTable::record_of(transactional_id, transaction, effects.arena);
    // By version 2 the end of the transaction fences its producer, as each end does. The producer may have missed its new epoch,
    // so the coordinator keeps the last one.
    const ProducerEpoch last_epoch = bumps_epochs(config_.version) ? record.producer.epoch : kNoProducerEpoch;
    record.producer.epoch = next_epoch(record.producer.epoch);
    record.next_producer_id = kNoProducerId;
    record.client_version = bumps_epochs(config_.version) ? config_.version : TransactionVersion::v0;
    prepare_end(std::move(record), TransactionState::prepare_abort, last_epoch, now, effects);
    markers_.ask(table_, coordinator_epoch_, now, effects);
}

void TransactionCoordinator::prepare_end(TransactionRecord record, TransactionState state, ProducerEpoch last_epoch, Now now,
                                         Effects& effects) {
    const std::string_view id = record.transactional_id;
    record.state = state;
    record.previous_producer_id = record.producer.id;
    record.last_update_timestamp = now.wall;
    forget_timeout(id);
    change(std::move(record), last_epoch, effects);
    markers_.owe(id, *table_.find(id), now.monotonic);
    if (!markers_.owes(id)) {
        complete(id, now, effects);
    }
}

void TransactionCoordinator::complete(std::string_view transactional_id, Now now, Effects& effects) {
    const Transaction& transaction = *table_.find(transactional_id);
    TransactionRecord record = TransactionTable::record_of(transactional_id, transaction, effects.arena);
    record.state = completed(transaction.state == TransactionState::prepare_commit);
    record.previous_producer_id = transaction.producer.id;
    if (bumps_epochs(transaction.client_version) && transaction.next_producer_id != kNoProducerId) {
        record.producer = {transaction.next_producer_id, {0}};
    }
    record.next_producer_id = kNoProducerId;
    record.partitions.clear();
    record.last_update_timestamp = now.wall;
    change(std::move(record), transaction.last_producer_epoch, effects);
}

void TransactionCoordinator::change(TransactionRecord record, ProducerEpoch last_epoch, Effects& effects) {
    record.value_version = config_.version >= TransactionVersion::v1 ? 1 : 0;
    const std::string_view id = record.transactional_id;
    const Record& made = effects.records.emplace_back(std::move(record));
    table_.apply(made, TransactionTable::Origin::made);
    table_.set_last_producer_epoch(id, last_epoch);
}

void TransactionCoordinator::decide(const DescribeTransaction& command, Now /*now*/, Effects& effects) {
    DescribeTransactionResult result;
    const Transaction* const known = table_.find(command.transactional_id);
    if (command.transactional_id.empty()) {
        result.error = ErrorCode::invalid_request;
    } else if (known == nullptr) {
        result.error = ErrorCode::transactional_id_not_found;
    } else {
        result.state = known->state;
        result.timeout_ms = known->timeout_ms;
        result.start_timestamp = known->start_timestamp;
        result.producer = known->producer;
        for (const auto& [topic, partitions] : known->partitions.topics()) {
            result.topics.push_back({topic, partitions});
        }
    }
    effects.replies.push_back({command.reply_to, std::move(result)});
}

void TransactionCoordinator::decide(const ListTransactions& command, Now now, Effects& effects) {
    ListTransactionsResult result;
    for (const auto& [id, transaction] : table_.all()) {
        const bool is_wanted =
            (command.producer_ids.empty() || std::ranges::binary_search(command.producer_ids, transaction.producer.id)) &&
            (command.states.empty() || std::ranges::find(command.states, transaction.state) != command.states.end()) &&
            (command.longer_than_ms < 0 ||
             wrapping_subtract(now.wall.value, transaction.start_timestamp.value) > command.longer_than_ms);
        if (is_wanted) {
            result.transactions.push_back({id, transaction.producer.id, transaction.state});
        }
    }
    effects.replies.push_back({command.reply_to, std::move(result)});
}

void TransactionCoordinator::written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now, Effects& effects) {
    for (const std::string& id : markers_.written(outcomes, now)) {
        complete(id, now, effects);
    }
}

void TransactionCoordinator::topic_deleted(const coordination::TopicDeleted& /*event*/, Now /*now*/, Effects& /*effects*/) {}

void TransactionCoordinator::tick(Now now, Effects& effects) {
    abort_what_is_due(now, effects);
    expire_ids(now, effects);
    markers_.ask(table_, coordinator_epoch_, now, effects);
}

void TransactionCoordinator::abort_what_is_due(Now now, Effects& effects) {
    while (!timeouts_.empty() && timeouts_.begin()->first <= now.monotonic) {
        const std::string id = timeouts_.begin()->second;
        fence(id, *table_.find(id), now, effects);
    }
}

void TransactionCoordinator::expire_ids(Now now, Effects& effects) {
    if (now.monotonic < next_id_expiry_check_) {
        return;
    }
    const std::int64_t interval_ms = config_.id_expiry_check_interval_ms;
    next_id_expiry_check_ = now.monotonic + (interval_ms - (now.monotonic - loaded_at_) % interval_ms);
    std::vector<std::string_view> expired;
    for (const auto& [id, transaction] : table_.all()) {
        if (may_follow(TransactionState::dead, transaction.state) &&
            wrapping_subtract(now.wall.value, transaction.last_update_timestamp.value) >= config_.id_expiration_ms) {
            expired.push_back(effects.arena.copy(id));
        }
    }
    for (const std::string_view id : expired) {
        table_.apply(effects.records.emplace_back(TransactionTombstone{id}), TransactionTable::Origin::made);
    }
}

void TransactionCoordinator::raise_epochs(const std::map<ProducerId, ProducerEpoch>& shown, Effects& effects) {
    std::vector<TransactionRecord> raised;
    for (const auto& [id, transaction] : table_.all()) {
        const auto found = shown.find(transaction.producer.id);
        if (found == shown.end() || found->second <= transaction.producer.epoch || is_ending(transaction.state)) {
            continue;
        }
        TransactionRecord& record = raised.emplace_back(TransactionTable::record_of(id, transaction, effects.arena));
        record.producer.epoch = found->second;
        if (transaction.state != TransactionState::ongoing) {
            // The end of an earlier transaction says nothing about the end of the lost one.
            record.state = TransactionState::empty;
            record.start_timestamp = kNoTimestamp;
        }
    }
    for (TransactionRecord& record : raised) {
        change(std::move(record), kNoProducerEpoch, effects);
    }
}

std::optional<Instant> TransactionCoordinator::next_deadline() const {
    std::optional<Instant> next = markers_.next_deadline();
    const auto consider = [&](Instant instant) { next = next ? std::min(*next, instant) : instant; };
    if (!timeouts_.empty()) {
        consider(timeouts_.begin()->first);
    }
    if (!table_.all().empty()) {
        consider(next_id_expiry_check_);
    }
    return next;
}

void TransactionCoordinator::fail_waiting(ErrorCode /*error*/, Effects& /*effects*/) {}

void TransactionCoordinator::reconfigure(const TransactionConfig& config) { config_ = config; }

Instant TransactionCoordinator::next_abort_check(Instant instant) const {
    const std::int64_t interval_ms = config_.abort_check_interval_ms;
    const std::int64_t since = std::max<std::int64_t>(instant - loaded_at_, 0);
    return loaded_at_ + (since / interval_ms + 1) * interval_ms;
}

void TransactionCoordinator::watch_timeout(std::string_view transactional_id, Now now) {
    const Transaction& transaction = *table_.find(transactional_id);
    // A transaction that began in the future had a clock that was ahead. It must not stay open until the clock gets there again.
    const std::int64_t since_ms = std::max<std::int64_t>(wrapping_subtract(now.wall.value, transaction.start_timestamp.value), 0);
    const std::int64_t left_ms = std::max<std::int64_t>(transaction.timeout_ms - since_ms, 0);
    const Instant check = next_abort_check(now.monotonic + left_ms);
    timeouts_.emplace(check, transactional_id);
    timeout_of_.insert_or_assign(std::string(transactional_id), check);
}

void TransactionCoordinator::forget_timeout(std::string_view transactional_id) {
    const auto found = timeout_of_.find(transactional_id);
    if (found != timeout_of_.end()) {
        timeouts_.erase({found->second, found->first});
        timeout_of_.erase(found);
    }
}

}  // namespace partita::transactions
