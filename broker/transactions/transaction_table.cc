#include "broker/transactions/transaction_table.h"

#include <algorithm>
#include <functional>
#include <variant>

#include "protocol/assert.h"

namespace partita::transactions {
namespace {

void set(const TransactionRecord& record, Transaction& transaction) {
    transaction.producer = record.producer;
    transaction.previous_producer_id = record.previous_producer_id;
    transaction.next_producer_id = record.next_producer_id;
    transaction.timeout_ms = record.timeout_ms;
    transaction.state = record.state;
    transaction.start_timestamp = record.start_timestamp;
    transaction.last_update_timestamp = record.last_update_timestamp;
    transaction.client_version = record.client_version;
    transaction.last_producer_epoch = kNoProducerEpoch;
    transaction.partitions.clear();
    for (const PartitionsOfTopic& topic : record.partitions) {
        transaction.partitions.add(topic.topic, topic.partitions);
    }
}

}  // namespace

void TransactionPartitions::add(std::string_view topic, std::span<const PartitionIndex> partitions) {
    auto found = topics_.find(topic);
    if (found == topics_.end()) {
        found = topics_.try_emplace(std::string(topic)).first;
    }
    std::vector<PartitionIndex>& known = found->second;
    known.insert(known.end(), partitions.begin(), partitions.end());
    // Most come in order and without repetition.
    if (std::ranges::adjacent_find(known, std::ranges::greater_equal()) != known.end()) {
        std::ranges::sort(known);
        const auto repeated = std::ranges::unique(known);
        known.erase(repeated.begin(), repeated.end());
    }
}

bool TransactionPartitions::contains(std::string_view topic, PartitionIndex partition) const {
    const auto found = topics_.find(topic);
    return found != topics_.end() && std::ranges::binary_search(found->second, partition);
}

void TransactionTable::apply(const Record& record, Origin origin) {
    const auto* const state = std::get_if<TransactionRecord>(&record);
    const std::string_view id = state ? state->transactional_id : std::get<TransactionTombstone>(record).transactional_id;
    const auto found = transactions_.find(id);
    if (origin == Origin::made) {
        const TransactionState previous = found == transactions_.end() ? TransactionState::empty : found->second.state;
        PARTITA_ASSERT(may_follow(state ? state->state : TransactionState::dead, previous),
                       "a transaction takes only steps of the table");
    }
    if (!state) {
        if (found != transactions_.end()) {
            transactions_.erase(found);
        }
    } else if (found != transactions_.end()) {
        set(*state, found->second);
    } else {
        set(*state, transactions_.try_emplace(std::string(id)).first->second);
    }
}

void TransactionTable::set_last_producer_epoch(std::string_view transactional_id, ProducerEpoch epoch) {
    const auto found = transactions_.find(transactional_id);
    PARTITA_ASSERT(found != transactions_.end(), "a transactional id has a record before it has an epoch");
    found->second.last_producer_epoch = epoch;
}

const Transaction* TransactionTable::find(std::string_view transactional_id) const {
    const auto found = transactions_.find(transactional_id);
    return found == transactions_.end() ? nullptr : &found->second;
}

TransactionRecord TransactionTable::record_of(std::string_view transactional_id, const Transaction& transaction, Arena& arena) {
    TransactionRecord record{.transactional_id = arena.copy(transactional_id),
                             .producer = transaction.producer,
                             .previous_producer_id = transaction.previous_producer_id,
                             .next_producer_id = transaction.next_producer_id,
                             .timeout_ms = transaction.timeout_ms,
                             .state = transaction.state,
                             .partitions = {},
                             .start_timestamp = transaction.start_timestamp,
                             .last_update_timestamp = transaction.last_update_timestamp,
                             .client_version = transaction.client_version};
    record.partitions.reserve(transaction.partitions.topics().size());
    for (const auto& [topic, partitions] : transaction.partitions.topics()) {
        record.partitions.push_back({arena.copy(topic), partitions});
    }
    return record;
}

std::string TransactionTable::dump() const {
    std::string text;
    for (const auto& [id, transaction] : transactions_) {
        text += id + ": " + std::string(state_name(transaction.state)) + " producer " +
                std::to_string(transaction.producer.id.value) + "/" + std::to_string(transaction.producer.epoch.value) + " (" +
                std::to_string(transaction.previous_producer_id.value) + ", " +
                std::to_string(transaction.next_producer_id.value) + ") timeout " + std::to_string(transaction.timeout_ms) +
                " began " + std::to_string(transaction.start_timestamp.value) + " updated " +
                std::to_string(transaction.last_update_timestamp.value) + " version " +
                std::to_string(static_cast<int>(transaction.client_version));
        for (const auto& [topic, partitions] : transaction.partitions.topics()) {
            for (const PartitionIndex partition : partitions) {
                text += " " + topic + "-" + std::to_string(partition.value);
            }
        }
        text += "\n";
    }
    return text;
}

}  // namespace partita::transactions
