#include "broker/runtime/coordinators/hanging_transactions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "broker/catalog/commands.h"
#include "broker/catalog/internal_topics.h"
#include "broker/config/log_setup.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "protocol/record_batch_builder.h"

namespace partita::runtime {
namespace {

using transactions::Transaction;
using transactions::TransactionState;
using transactions::TransactionVersion;

/// The transactions that the coordinators know, by producer id.
using Known = std::map<ProducerId, Transaction>;

struct End {
    bool is_commit = false;
    ProducerEpoch epoch;
};

/// True if the open transaction in one of its partitions is this one, not an earlier one. By KIP-890 each transaction has its own
/// epoch, which rises when its end is decided.
bool is_this_one(const Transaction& transaction, ProducerEpoch open) {
    if (transaction.client_version < TransactionVersion::v2 || transaction.state == TransactionState::prepare_abort) {
        return true;
    }
    return transaction.producer.epoch.value == open.value + (transaction.state == TransactionState::prepare_commit ? 1 : 0);
}

/// How to end the open transaction in the partition; empty if its coordinator will end it.
std::optional<End> end_of(const Known& known, std::string_view topic, PartitionIndex partition, const ProducerSummary& open) {
    const auto found = known.find(open.producer_id);
    if (found == known.end()) {
        return End{false, open.producer_epoch};
    }
    const Transaction& transaction = found->second;
    if (transaction.partitions.contains(topic, partition) && is_this_one(transaction, open.producer_epoch)) {
        return std::nullopt;
    }
    const bool is_meant =
        transaction.client_version >= TransactionVersion::v2 && transaction.producer.epoch.value == open.producer_epoch.value + 1;
    if (is_meant && transaction.state == TransactionState::complete_commit) {
        return End{true, transaction.producer.epoch};
    }
    return End{false, open.producer_epoch};
}

/// A cheap check. If all records of a transaction were deleted, the last stable offset stays at the start of the log. That start
/// is also the log's end until the next write.
bool may_have_open_transactions(const PartitionLog& log) {
    const Offset end = log.log_end_offset();
    return log.has_files() && (log.last_stable_offset() < end || log.log_start_offset() == end);
}

/// Markers to write, with the memory of their batches.
struct Markers {
    std::vector<coordination::OutwardWrite> writes;
    Arena arena;

    void add(std::string_view topic, PartitionIndex partition, const ProducerSummary& open, const End& end, TimestampMs now) {
        std::vector<std::byte> batch;
        build_end_transaction_marker(
            {end.is_commit ? ControlRecordType::commit : ControlRecordType::abort, std::max(open.coordinator_epoch, 0)},
            Offset{0}, kNoLeaderEpoch, open.producer_id, end.epoch, now, batch);
        auto* const memory = static_cast<std::byte*>(arena.allocate_unlimited(batch.size(), 1));
        std::ranges::copy(batch, memory);
        writes.push_back({.token = {writes.size()},
                          .topic = topic,
                          .partition = partition,
                          .batch = {memory, batch.size()},
                          .ends = coordination::TransactionEnd{.producer_id = open.producer_id, .is_commit = end.is_commit}});
    }
};

}  // namespace

namespace {

/// Calls `what_is_known` at most once, and only if a transaction is open.
template <class WhatIsKnown>
std::size_t end_what_nobody_ends(const logs::TopicTable& table, WhatIsKnown what_is_known, OutwardWrites& writes,
                                 logs::Turn* turn, Now now) {
    std::optional<Known> known;
    Markers markers;
    table.for_each([&](const logs::TopicState& state) {
        for (std::size_t index = 0; index < state.partitions.size(); ++index) {
            const PartitionLog& log = *state.partitions[index]->log;
            if (!may_have_open_transactions(log)) {
                continue;
            }
            if (!known) {
                known = what_is_known();
            }
            const PartitionIndex partition{static_cast<std::int32_t>(index)};
            for (const ProducerSummary& producer : log.active_producers()) {
                if (producer.current_transaction_start == kNoOffset) {
                    continue;
                }
                if (const auto end = end_of(*known, state.topic->name, partition, producer)) {
                    markers.add(state.topic->name, partition, producer, *end, now.wall);
                }
            }
        }
    });
    std::size_t ended = 0;
    for (const coordination::OutwardWriteOutcome& outcome : writes.carry_out(markers.writes, turn, now.wall)) {
        const coordination::OutwardWrite& write = markers.writes[outcome.token.value];
        const std::string partition = std::string(write.topic) + "-" + std::to_string(write.partition.value);
        if (outcome.error == ErrorCode::none) {
            ++ended;
            log::warning("coordinators", "ended a hanging transaction",
                         {{"partition", partition},
                          {"producer", write.ends->producer_id.value},
                          {"as", write.ends->is_commit ? "committed" : "aborted"}});
        } else {
            log::error("coordinators", "could not end a hanging transaction; the broker tries again at its next start",
                       {{"partition", partition}, {"reason", error_name(outcome.error)}});
        }
    }
    return ended;
}

}  // namespace

std::size_t end_hanging_transactions(const logs::TopicTable& table, TransactionShards& transactions, OutwardWrites& writes,
                                     Now now) {
    if (!transactions.is_attached() || !transactions.is_complete()) {
        return 0;
    }
    return end_what_nobody_ends(table, [&] { return transactions.by_producer(); }, writes, nullptr, now);
}

void OrphanedTransactions::on_topics_changed(const logs::TopicsChange& change) {
    const std::string_view name = catalog::topic_of(catalog::CoordinatorKind::transactions).name;
    const bool is_theirs = std::ranges::any_of(change.changes, [name](const catalog::CatalogChange& one) {
        return one.kind == catalog::CatalogChange::Kind::topic_deleted && one.before->name == name;
    });
    if (!is_theirs) {
        return;
    }
    // Failures were logged, and the next start finds those transactions again.
    (void)end_what_nobody_ends(change.now, [] { return Known(); }, writes_, change.turn, change.time);
}

std::map<ProducerId, ProducerEpoch> epochs_in_logs(const logs::TopicTable& table,
                                                   const std::unordered_set<std::int64_t>& producers) {
    std::map<ProducerId, ProducerEpoch> highest;
    if (producers.empty()) {
        return highest;
    }
    table.for_each([&](const logs::TopicState& state) {
        for (const std::shared_ptr<logs::Partition>& partition : state.partitions) {
            if (!partition->log->has_files()) {
                continue;
            }
            for (const ProducerSummary& producer : partition->log->active_producers()) {
                if (!producers.contains(producer.producer_id.value)) {
                    continue;
                }
                ProducerEpoch& epoch = highest.try_emplace(producer.producer_id, producer.producer_epoch).first->second;
                epoch = std::max(epoch, producer.producer_epoch);
            }
        }
    });
    return highest;
}

}  // namespace partita::runtime
