#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "broker/logs/published_topics.h"
#include "broker/runtime/coordinators/coordinator_shards.h"
#include "broker/share/share_coordinator.h"

namespace partita::runtime {

extern template class CoordinatorShards<share::ShareCoordinator>;

/// The coordinators of share groups' records, behind the topic `__share_group_state`. The share partition determines the shard
/// (`key_of`). Each command is answered within its call, so callers use `ask` and never wait. An empty answer means
/// NOT_COORDINATOR.
///
/// Whenever records of a partition were acknowledged or given back, the fetches that wait for the partition look again.
class ShareShards final : public CoordinatorShards<share::ShareCoordinator> {
  public:
    ShareShards(const Surroundings& surroundings, const logs::PublishedTopics& topics)
        : CoordinatorShards(surroundings, LockRank::share_shard), topics_(topics), turns_(surroundings.turns) {}

    /// Kafka's key of a share partition, which decides where its state lives.
    [[nodiscard]] static std::string key_of(const share::SharePartitionKey& partition) {
        return std::string(partition.group_id) + ":" + partition.topic_id.to_string() + ":" +
               std::to_string(partition.partition.value);
    }
    /// Like CoordinatorShards::ask, with the key of the command's share partition.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask_partition(logs::Turn& turn, Command command) {
        // The key borrows from a text that moves with the command.
        const std::string key = key_of(command.key);
        return ask(turn, key, std::move(command));
    }
    /// Grows whenever records were acknowledged or given back. A fetch that was about to wait meanwhile looks once more.
    [[nodiscard]] std::uint64_t changes() const { return changes_.load(std::memory_order_seq_cst); }

  private:
    [[nodiscard]] std::unique_ptr<share::ShareCoordinator> make_core(const logs::Partition& /*partition*/) override {
        return std::make_unique<share::ShareCoordinator>();
    }
    void on_persisted(std::span<const share::Record> records) override;

    const logs::PublishedTopics& topics_;
    logs::Turns& turns_;
    std::atomic<std::uint64_t> changes_ = 0;
};

}  // namespace partita::runtime
