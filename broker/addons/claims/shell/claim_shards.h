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

/// The coordinator of claims, behind the topic `__partita_claims`. There is one shard, of the first partition: whoever grows the
/// topic moves no group's claims to where nobody would find them. Every command is answered by its own call, so that they are
/// asked (`ask`) and never parked; an empty answer is NOT_COORDINATOR.
class ClaimShards final : public runtime::CoordinatorShards<ClaimCoordinator>, public runtime::OwnershipSource {
  public:
    explicit ClaimShards(const Surroundings& surroundings) : CoordinatorShards(surroundings, LockRank::claim_shard) {}

    [[nodiscard]] bool attach(std::span<const std::shared_ptr<runtime::Partition>> partitions) override {
        return CoordinatorShards::attach(partitions.first(1));
    }

    /// A copy of what the group has; empty for nothing.
    [[nodiscard]] ClaimCoordinator::Group group_of(std::string_view group);
    /// See ownership_record.h; unset for a group without claims and checkpoints.
    [[nodiscard]] std::optional<runtime::OwnershipRecord> ownership_of(std::string_view group, Now now) override;
    /// As `ClaimCoordinator::visit_histories`, of one shard after the other, with its lock held.
    void visit_histories(FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) override;

  private:
    [[nodiscard]] std::unique_ptr<ClaimCoordinator> make_core(const runtime::Partition& /*partition*/) override {
        return std::make_unique<ClaimCoordinator>();
    }
};

}  // namespace partita::claims
