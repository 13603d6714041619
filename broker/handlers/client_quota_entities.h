#pragma once

#include "broker/catalog/client_quotas.h"
#include "protocol/arena.h"
#include "protocol/schema.h"

namespace partita::handlers {

/// An entity in the form of the replies to DescribeClientQuotas and AlterClientQuotas, copied into the arena.
template <class EntityData>
[[nodiscard]] Array<EntityData> entity_data(Arena& arena, const catalog::QuotaEntity& entity) {
    ArenaVector<EntityData> data(arena, entity.size());
    for (const auto& [type, name] : entity) {
        EntityData& item = data.emplace_back();
        item.entity_type = arena.copy(type);
        item.entity_name = name ? std::optional<std::string_view>(arena.copy(*name)) : std::nullopt;
    }
    return data;
}

}  // namespace partita::handlers
