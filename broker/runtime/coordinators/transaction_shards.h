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

/// The transaction coordinators. The transactional id determines the shard. Each command is answered within its call, so callers
/// use `ask` and `ask_shard` and never wait. An empty answer means NOT_COORDINATOR.
///
/// A shard's lock is held while the markers of its transactions are written, and ranks above those of groups. So a holder of a
/// group shard's lock must not call this class.
class TransactionShards final : public CoordinatorShards<transactions::TransactionCoordinator> {
  public:
    /// `surroundings` must have outward writes.
    TransactionShards(const Surroundings& surroundings, const transactions::TransactionConfig& config)
        : CoordinatorShards(surroundings, LockRank::transaction_shard), config_(config) {}

    /// Sets the settings: once before the shards are attached, and then after every change.
    void reconfigure(const transactions::TransactionConfig& config);
    [[nodiscard]] transactions::TransactionConfig config();
    /// The highest producer id that a client has or is about to get; kNoProducerId if there is none.
    [[nodiscard]] ProducerId highest_producer_id();
    /// The current producer id of each transactional id, without its previous ones.
    [[nodiscard]] std::unordered_set<std::int64_t> producer_ids();
    /// All known transactions by producer id. For the start, because it copies everything.
    [[nodiscard]] std::map<ProducerId, transactions::Transaction> by_producer();
    /// The transactional ids of the requested producers, as far as known. It examines all transactions.
    [[nodiscard]] std::map<ProducerId, std::string> ids_of(FunctionRef<bool(ProducerId)> is_asked_for);
    /// For a start without a clean stop; see TransactionCoordinator. False if it could not be persisted.
    [[nodiscard]] bool raise_epochs(const std::map<ProducerId, ProducerEpoch>& shown, Now now);

  private:
    [[nodiscard]] std::unique_ptr<transactions::TransactionCoordinator> make_core(const logs::Partition& partition) override;
    void bring_up_to_date(transactions::TransactionCoordinator& core) override;
    void on_persisted(std::span<const transactions::Record> /*records*/) override {}
    void on_timer(std::span<const transactions::Record> records) override;
    void on_replaced() override {}

    /// Separate from the shards' locks, because another thread that rebuilds a core needs these.
    Mutex settings_mutex_{LockRank::transaction_settings};
    transactions::TransactionConfig config_ GUARDED_BY(settings_mutex_);
};

/// Tells the transaction coordinators about changed settings.
class TransactionUpdates final : public logs::TopicsListener {
  public:
    TransactionUpdates(TransactionShards& transactions, const config::CurrentConfig& config)
        : transactions_(transactions), config_(config) {}

    /// Called at the start, before transactions are loaded.
    void begin(const logs::TopicTable& table);
    void on_topics_changed(const logs::TopicsChange& change) override;

  private:
    TransactionShards& transactions_;
    const config::CurrentConfig& config_;
};

}  // namespace partita::runtime
