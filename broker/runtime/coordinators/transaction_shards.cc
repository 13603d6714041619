#include "broker/runtime/coordinators/transaction_shards.h"

#include <algorithm>

#include "broker/catalog/features.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/coordinator_shards_impl.h"
#include "broker/runtime/settings/transaction_settings.h"

namespace partita::runtime {

template class CoordinatorShards<transactions::TransactionCoordinator>;

std::unique_ptr<transactions::TransactionCoordinator> TransactionShards::make_core(const logs::Partition& partition) {
    return std::make_unique<transactions::TransactionCoordinator>(config(), partition.leader_epoch().value);
}

void TransactionShards::bring_up_to_date(transactions::TransactionCoordinator& core) { core.reconfigure(config()); }

transactions::TransactionConfig TransactionShards::config() {
    const MutexLock lock(settings_mutex_);
    return config_;
}

void TransactionShards::reconfigure(const transactions::TransactionConfig& config) {
    {
        const MutexLock lock(settings_mutex_);
        config_ = config;
    }
    for_each_core([&](transactions::TransactionCoordinator& core) { core.reconfigure(config); });
}

ProducerId TransactionShards::highest_producer_id() {
    ProducerId highest = kNoProducerId;
    for_each_core([&](const transactions::TransactionCoordinator& core) {
        for (const auto& [id, transaction] : core.all()) {
            highest = std::max({highest, transaction.producer.id, transaction.next_producer_id});
        }
    });
    return highest;
}

std::unordered_set<std::int64_t> TransactionShards::producer_ids() {
    std::unordered_set<std::int64_t> ids;
    for_each_core([&](const transactions::TransactionCoordinator& core) {
        for (const auto& [id, transaction] : core.all()) {
            ids.insert(transaction.producer.id.value);
        }
    });
    return ids;
}

std::map<ProducerId, transactions::Transaction> TransactionShards::by_producer() {
    std::map<ProducerId, transactions::Transaction> known;
    for_each_core([&](const transactions::TransactionCoordinator& core) {
        for (const auto& [id, transaction] : core.all()) {
            known.insert_or_assign(transaction.producer.id, transaction);
        }
    });
    return known;
}

std::map<ProducerId, std::string> TransactionShards::ids_of(FunctionRef<bool(ProducerId)> is_asked_for) {
    std::map<ProducerId, std::string> ids;
    for_each_core([&](const transactions::TransactionCoordinator& core) {
        for (const auto& [id, transaction] : core.all()) {
            if (is_asked_for(transaction.producer.id)) {
                ids.emplace(transaction.producer.id, id);
            }
        }
    });
    return ids;
}

void TransactionShards::on_timer(std::span<const transactions::Record> records) {
    for (const transactions::Record& each : records) {
        const auto* record = std::get_if<transactions::TransactionRecord>(&each);
        if (record != nullptr && record->state == transactions::TransactionState::prepare_abort) {
            log::info("transactions", "aborts a transaction that took longer than its timeout",
                      {{"transactional_id", record->transactional_id}, {"timeout_ms", record->timeout_ms}});
        }
    }
}

bool TransactionShards::raise_epochs(const std::map<ProducerId, ProducerEpoch>& shown, Now now) {
    bool is_persisted = true;
    for (const std::unique_ptr<Shard>& shard : shards()) {
        const MutexLock lock(shard->mutex);
        if (shard->core) {
            shard->core->raise_epochs(shown, shard->effects);
            is_persisted = settle_records(*shard, nullptr, now) && is_persisted;
        }
    }
    return is_persisted;
}

void TransactionUpdates::begin(const logs::TopicTable& table) {
    transactions_.reconfigure(
        transaction_settings(*config_.get(), catalog::feature_level(*table.catalog, catalog::kTransactionVersion)));
}

void TransactionUpdates::on_topics_changed(const logs::TopicsChange& change) {
    if (change.now.catalog->finalized_features() != change.before.catalog->finalized_features()) {
        begin(change.now);
    }
}

}  // namespace partita::runtime
