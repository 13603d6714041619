#include "broker/transactions/owed_markers.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

/// True if another try may succeed.
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
    const auto [owed, is_new] = owed_.try_emplace(std::string(transactional_id));
    PARTITA_ASSERT(is_new, "an id owes the markers of one transaction");
    owed->second.topics.reserve(transaction.partitions.topics().size());
    for (const auto& [topic, partitions] : transaction.partitions.topics()) {
        const std::string& name = owed->second.topics.emplace_back(topic);
        for (const PartitionIndex partition : partitions) {
            owed->second.partitions.push_back({.topic = name, .partition = partition});
        }
    }
    make_due(*owed, now);
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
        std::string_view topic;
        for (std::size_t place = 0; place < owed.second.partitions.size(); ++place) {
            if (effects.writes.size() == coordination::kOutwardWritesMax) {
                return;
            }
            const Lacking& lacking = owed.second.partitions[place];
            if (topic != lacking.topic) {
                topic = effects.arena.copy(lacking.topic);
            }
            effects.writes.push_back({coordination::WriteToken{first_token_ + asked_.size()}, topic, lacking.partition,
                                      copy_of(batch, effects.arena), end_of(*transaction)});
            asked_.push_back({&owed, place});
        }
        make_not_due(owed);
    }
}

std::vector<std::string> OwedMarkers::written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now) {
    PARTITA_ASSERT(outcomes.size() == asked_.size(), "everything that was asked for was tried");
    for (const coordination::OutwardWriteOutcome& outcome : outcomes) {
        const std::uint64_t at = outcome.token.value - first_token_;
        PARTITA_ASSERT(at < asked_.size(), "an outcome belongs to a write that was asked for");
        OwedById::value_type& owed = *asked_[at].owed;
        if (!is_passing(outcome.error)) {
            owed.second.partitions[asked_[at].place].is_done = true;
        } else if (!owed.second.due) {
            make_due(owed, now.monotonic + kRetryMs);
        }
    }
    first_token_ += asked_.size();
    return settle(std::exchange(asked_, {}));
}

std::vector<std::string> OwedMarkers::settle(std::span<const Asked> asked) {
    std::vector<std::string> settled;
    while (!asked.empty()) {
        OwedById::value_type& owed = *asked.front().owed;
        const auto next = std::ranges::find_if(asked, [&](const Asked& other) { return other.owed != &owed; });
        asked = {next, asked.end()};
        std::erase_if(owed.second.partitions, &Lacking::is_done);
        if (owed.second.partitions.empty()) {
            settled.push_back(owed.first);
            make_not_due(owed);
            owed_.erase(owed.first);
        }
    }
    return settled;
}

}  // namespace partita::transactions
