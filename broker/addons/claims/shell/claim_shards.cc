#include "broker/addons/claims/shell/claim_shards.h"

#include "broker/runtime/coordinators/coordinator_shards_impl.h"
#include "broker/runtime/coordinators/ownership_record.h"

namespace partita::runtime {
template class CoordinatorShards<claims::ClaimCoordinator>;
}

namespace partita::claims {

ClaimCoordinator::Group ClaimShards::group_of(std::string_view group) {
    if (!is_attached()) {
        return {};
    }
    Shard& shard = *shards()[shard_of(group)];
    const MutexLock lock(shard.mutex);
    const ClaimCoordinator::Group* known = shard.core->find(group);
    return known == nullptr ? ClaimCoordinator::Group() : *known;
}

std::optional<runtime::OwnershipRecord> ClaimShards::ownership_of(std::string_view group, Now now) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards()[shard_of(group)];
    const MutexLock lock(shard.mutex);
    auto history = shard.core->history_of(group, now);
    if (!history) {
        return std::nullopt;
    }
    return runtime::OwnershipRecord{std::move(*history), shard.core->checkpoints_of(group)};
}

void ClaimShards::visit_histories(FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) {
    if (is_attached()) {
        for_each_core([&](const ClaimCoordinator& core) { core.visit_histories(visit); });
    }
}

}  // namespace partita::claims
