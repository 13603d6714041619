// DeleteGroups: v0-2.
//
//   v2: flexible.

#include <set>

#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_groups.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "protocol/messages/42_delete_groups.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(delete_groups, coordinators, access::kDeleteGroup);

namespace {

/// The state of a share group in the share coordinator goes first. `none` also for groups of other kinds.
ErrorCode delete_queue(runtime::RequestContext& context, const runtime::ShareServices& share, std::string_view group_id) {
    const auto deleting = share.groups.ask(
        context.turn, group_id, groups::DeleteShareOffsets{.group_id = group_id, .topics = std::nullopt, .reply_to = {}});
    if (!deleting) {
        return ErrorCode::not_coordinator;
    }
    if (deleting->error != ErrorCode::none) {
        return deleting->error == ErrorCode::group_id_not_found ? ErrorCode::none : deleting->error;
    }
    return delete_share_state(context.turn, share, group_id, deleting->partitions);
}

}  // namespace

void delete_groups(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const DeleteGroupsRequest* request = context.decode<DeleteGroupsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<DeleteGroupsResponse::DeletableGroupResult> results(context.arena(), request->groups_names.count());
    std::set<std::string_view> seen;
    for (const std::string_view group_id : request->groups_names) {
        if (!seen.insert(group_id).second) {
            continue;  // Named twice, so answered once.
        }
        if (!authorize(context, access::kDeleteGroup, group_id)) {
            results.push_back({.group_id = group_id, .error_code = ErrorCode::group_authorization_failed});
            continue;
        }
        if (const ErrorCode failed = delete_queue(context, coordinators.share, group_id); failed != ErrorCode::none) {
            results.push_back({.group_id = group_id, .error_code = failed});
            continue;
        }
        const auto result = coordinators.groups.ask(context.turn, group_id, groups::DeleteGroups{.group_ids = {&group_id, 1}});
        ErrorCode error = ErrorCode::not_coordinator;
        if (result) {
            error = result->groups.front().error;
            if (error == ErrorCode::none) {
                coordinators.request_notes.on_group_deleted(group_id);
            }
        }
        results.push_back({.group_id = group_id, .error_code = error});
    }
    DeleteGroupsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
