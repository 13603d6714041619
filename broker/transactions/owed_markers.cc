#include "broker/transactions/owed_markers.h"

#include <cstring>

#include "protocol/assert.h"
#include "protocol/record_batch_builder.h"

namespace partita::transactions {
namespace {

/// The marker as one batch that the caller may copy.
std::vector<std::byte> marker_of(const Transaction& transaction, std::int32_t coordinator_epoch, TimestampMs timestamp) {
    const bool is_commit = transaction.state == TransactionState::prepare_commit;
    std::vector<std::byte> batch;
    build_end_transaction_marker({is_commit ? ControlRecordType::commit : ControlRecordType::abort, coordinator_epoch}, Offset{0},
                                 kNoLeaderEpoch, transaction.producer.id, transaction.producer.epoch, timestamp, batch);
    return batch;
}

coordination::TransactionEnd end_of(const Transaction& transaction) {
    return {.producer_id = transaction.producer.id,
            .is_commit = transaction.state == TransactionState::prepare_commit,
            .bumps_epoch = transaction.client_version >= TransactionVersion::v2};
}

MutableBytes copy_of(const std::vector<std::byte>& batch, Arena& arena) {
    auto* const memory = static_cast<std::byte*>(arena.allocate_unlimited(batch.size(), 1));
    std::memcpy(memory, batch.data(), batch.size());
    return {memory, batch.size()};
}

/// Whether trying again may help.
bool is_passing(ErrorCode error) {
    return error != ErrorCode::none && error != ErrorCode::unknown_topic_or_partition &&
           error != ErrorCode::invalid_producer_epoch && error != ErrorCode::transaction_coordinator_fenced;
}

}  // namespace

void OwedMarkers::owe(std::string_view transactional_id, const Transaction& transaction, Instant now) {
    PARTITA_ASSERT(is_ending(transaction.state), "only a transaction that ends owes markers");
    if (transaction.partitions.empty()) {
        return;
    }
    auto& owed = *owed_.try_emplace(std::string(transactional_id)).first;
    for (const auto& [topic, partitions] : transaction.partitions) {
        for (const PartitionIndex partition : partitions) {
            owed.second.partitions.emplace(topic, partition);
        }
    }
    make_due(owed, now);
}

void OwedMarkers::make_due(OwedById::value_type& owed, Instant instant) {
    make_not_due(owed);
    owed.second.due = instant;
    due_.emplace(instant, owed.first);
}

void OwedMarkers::make_not_due(OwedById::value_type& owed) {
    if (owed.second.due) {
        due_.erase({*owed.second.due, owed.first});
        owed.second.due.reset();
    }
}

void OwedMarkers::ask(const TransactionTable& table, std::int32_t coordinator_epoch, Now now, Effects& effects) {
    while (!due_.empty() && due_.begin()->first <= now.monotonic) {
        auto& owed = *owed_.find(due_.begin()->second);
        const std::string& id = owed.first;
        const Transaction* const transaction = table.find(id);
        PARTITA_ASSERT(transaction != nullptr && is_ending(transaction->state), "what owes markers is ending");
        const std::vector<std::byte> batch = marker_of(*transaction, coordinator_epoch, now.wall);
        for (const auto& [topic, partition] : owed.second.partitions) {
            if (effects.writes.size() == coordination::kOutwardWritesMax) {
                return;
            }
            const coordination::WriteToken token{next_token_++};
            effects.writes.push_back(
                {token, effects.arena.copy(topic), partition, copy_of(batch, effects.arena), end_of(*transaction)});
            asked_.emplace(token.value, Asked{id, {topic, partition}});
        }
        make_not_due(owed);
    }
}

std::vector<std::string> OwedMarkers::written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now) {
    std::vector<std::string> settled;
    for (const coordination::OutwardWriteOutcome& outcome : outcomes) {
        auto asked = asked_.extract(outcome.token.value);
        PARTITA_ASSERT(!asked.empty(), "an outcome belongs to a write that was asked for");
        const auto owed = owed_.find(asked.mapped().transactional_id);
        PARTITA_ASSERT(owed != owed_.end(), "a marker that was asked for is owed");
        if (is_passing(outcome.error)) {
            if (!owed->second.due) {
                make_due(*owed, now.monotonic + kRetryMs);
            }
            continue;
        }
        owed->second.partitions.erase(asked.mapped().partition);
        if (owed->second.partitions.empty()) {
            settled.push_back(owed->first);
            make_not_due(*owed);
            owed_.erase(owed);
        }
    }
    return settled;
}

}  // namespace partita::transactions
