#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "broker/addons/claims/core/claim_coordinator.h"
#include "broker/runtime/coordinators/coordinator_shards.h"
#include "broker/runtime/coordinators/ownership_record.h"
#include "protocol/function_ref.h"

namespace partita::runtime {
extern template class CoordinatorShards<claims::ClaimCoordinator>;
}

namespace partita::claims {

/// The coordinator of claims, behind the topic `__partita_claims`. It has one shard, for the first partition: if the topic grows,
/// no group's claims move to a place where they would not be found. Each call answers its own command, so callers use `ask` and
/// commands are never parked; an empty answer is NOT_COORDINATOR.
class ClaimShards final : public runtime::CoordinatorShards<ClaimCoordinator>, public runtime::OwnershipSource {
  public:
    explicit ClaimShards(const Surroundings& surroundings) : CoordinatorShards(surroundings, LockRank::claim_shard) {}

    [[nodiscard]] bool attach(std::span<const std::shared_ptr<logs::Partition>> partitions) override {
        return CoordinatorShards::attach(partitions.first(1));
    }

    /// A copy of the group's claims and checkpoints; empty if it has none.
    [[nodiscard]] ClaimCoordinator::Group group_of(std::string_view group);
    /// See ownership_record.h; null for a group without claims and checkpoints.
    [[nodiscard]] std::optional<runtime::OwnershipRecord> ownership_of(std::string_view group, Now now) override;
    /// As `ClaimCoordinator::visit_histories`, one shard after the other, each with its lock held.
    void visit_histories(FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) override;

  private:
    [[nodiscard]] std::unique_ptr<ClaimCoordinator> make_core(const logs::Partition& /*partition*/) override {
        return std::make_unique<ClaimCoordinator>();
    }
};

}  // namespace partita::claims
