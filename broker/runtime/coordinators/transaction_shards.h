#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>

#include "broker/config/current_config.h"
#include "broker/logs/topics_listener.h"
#include "broker/runtime/coordinators/coordinator_shards.h"
#include "broker/transactions/transaction_coordinator.h"
#include "protocol/function_ref.h"

namespace partita::runtime {

extern template class CoordinatorShards<transactions::TransactionCoordinator>;

/// The coordinators of transactions. A shard is found by the transactional id. Every command is answered by its own call, so
/// that they are asked (`ask`, `ask_shard`) and never parked; an empty answer is NOT_COORDINATOR.
///
/// A shard's lock is held while the markers of its transactions are written, and ranks above those of groups: nobody who holds a
/// group's shard asks here.
class TransactionShards final : public CoordinatorShards<transactions::TransactionCoordinator> {
  public:
    /// `surroundings` must have outward writes.
    TransactionShards(const Surroundings& surroundings, const transactions::TransactionConfig& config)
        : CoordinatorShards(surroundings, LockRank::transaction_shard), config_(config) {}

    /// The settings from now on. Once before the shards are attached, and then with every change.
    void reconfigure(const transactions::TransactionConfig& config);
    [[nodiscard]] transactions::TransactionConfig config();
    /// Of all producer ids that somebody was given or is to be given; kNoProducerId for none.
    [[nodiscard]] ProducerId highest_producer_id();
    /// The present producer id of each transactional id; those that it had before are not among them.
    [[nodiscard]] std::unordered_set<std::int64_t> producer_ids();
    /// All that is known, by the ids of producers. For the start: it copies everything.
    [[nodiscard]] std::map<ProducerId, transactions::Transaction> by_producer();
    /// The transactional ids of the producers that are asked for, as far as they are known. It looks at all.
    [[nodiscard]] std::map<ProducerId, std::string> ids_of(FunctionRef<bool(ProducerId)> is_asked_for);
    /// For the start after something else than a stop, see TransactionCoordinator. False if it could not be persisted.
    [[nodiscard]] bool raise_epochs(const std::map<ProducerId, ProducerEpoch>& shown, Now now);

  private:
    [[nodiscard]] std::unique_ptr<transactions::TransactionCoordinator> make_core(const Partition& partition) override;
    void bring_up_to_date(transactions::TransactionCoordinator& core) override;
    void on_persisted(std::span<const transactions::Record> /*records*/) override {}
    void on_replaced() override {}

    /// Apart from the shards' locks, as a core that is rebuilt needs these on another thread.
    Mutex settings_mutex_{LockRank::transaction_settings};
    transactions::TransactionConfig config_ GUARDED_BY(settings_mutex_);
};

/// Tells the coordinators of transactions of the settings that they work with.
class TransactionUpdates final : public TopicsListener {
  public:
    TransactionUpdates(TransactionShards& transactions, const config::CurrentConfig& config)
        : transactions_(transactions), config_(config) {}

    /// At the start, before transactions are loaded.
    void begin(const TopicTable& table);
    void on_topics_changed(const TopicsChange& change) override;

  private:
    TransactionShards& transactions_;
    const config::CurrentConfig& config_;
};

}  // namespace partita::runtime
