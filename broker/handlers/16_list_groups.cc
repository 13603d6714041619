// ListGroups: v0-5.
//
//   v3: flexible; v4: filter by state; v5: filter by type.

#include "protocol/messages/16_list_groups.h"
#include "broker/handlers/access_audit.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(list_groups, coordinators, access::kDescribeGroupOrCluster);

void list_groups(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const ListGroupsRequest* request = context.decode<ListGroupsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    ListGroupsResponse response;
    ArenaVector<ListGroupsResponse::ListedGroup> listed(arena);
    const catalog::Topic* const offsets =
        context.turn.topics().catalog->find_topic(catalog::topic_of(catalog::CoordinatorKind::groups).name);
    for (std::size_t shard = 0; shard < coordinators.groups.shard_count(); ++shard) {
        if (!context.services.placement.coordinates(context.listener().node, offsets, shard)) {
            continue;  // Another node lists these groups.
        }
        const auto result = coordinators.groups.ask_shard(
            context.turn, shard,
            groups::ListGroups{.states = request->states_filter.span(), .types = request->types_filter.span()});
        if (!result) {
            response.error_code = ErrorCode::coordinator_not_available;
            continue;
        }
        for (const groups::ListGroupsResult::Group& group : result->groups) {
            if (!authorize_quietly(context, access::kDescribeGroupOrCluster, group.group_id)) {
                continue;  // Omitted from the reply.
            }
            listed.push_back({.group_id = arena.copy(group.group_id),
                              .protocol_type = arena.copy(group.protocol_type),
                              .group_state = arena.copy(group.state),
                              .group_type = to_string(group.type)});
        }
    }
    response.groups = listed;
    context.reply(response);
}

}  // namespace partita::handlers
