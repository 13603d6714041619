// SyncGroup: v0-5.
//
//   v3: static members; v4: flexible; v5: protocol type and name, checked when given.

#include "protocol/messages/14_sync_group.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/group_replies.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(sync_group, coordinators, access::kReadGroup);

void sync_group(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const SyncGroupRequest* request = context.decode<SyncGroupRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        context.reply(SyncGroupResponse{.error_code = ErrorCode::group_authorization_failed});
        return;
    }
    // From v5 on both are mandatory (KIP-559).
    if (context.version() >= 5 && (!request->protocol_type || !request->protocol_name)) {
        context.reply(SyncGroupResponse{.error_code = ErrorCode::inconsistent_group_protocol});
        return;
    }
    if (!coordinators.groups.is_attached()) {
        context.reply(SyncGroupResponse{.error_code = ErrorCode::not_coordinator});
        return;
    }
    ArenaVector<groups::SyncGroup::Assignment> assignments(context.arena(), request->assignments.count());
    for (const SyncGroupRequest::Assignment& assignment : request->assignments) {
        assignments.push_back({.member_id = assignment.member_id, .assignment = assignment.assignment});
    }
    note_member(context, request->group_id, request->member_id);
    groups::SyncGroup command;
    command.group_id = request->group_id;
    command.generation = Generation{request->generation_id};
    command.member_id = request->member_id;
    command.group_instance_id = request->group_instance_id;
    command.protocol_type = request->protocol_type;
    command.protocol_name = request->protocol_name;
    command.assignments = {assignments.begin(), assignments.size()};
    coordinators.groups.execute<encode_sync_reply>(context.turn, request->group_id, context.park(), command);
}

}  // namespace partita::handlers
