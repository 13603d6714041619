// LeaveGroup: v0-5.
//
//   up to v2: one member, with a top-level answer; v3: several, by id or instance id (KIP-345); v4: flexible; v5: reason.

#include "protocol/messages/13_leave_group.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(leave_group, coordinators, access::kReadGroup);

void leave_group(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const LeaveGroupRequest* request = context.decode<LeaveGroupRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        context.reply(LeaveGroupResponse{.error_code = ErrorCode::group_authorization_failed});
        return;
    }
    ArenaVector<groups::LeaveGroup::Member> members(context.arena(), request->members.count() + 1);
    if (context.version() < 3) {
        members.push_back({.member_id = request->member_id, .group_instance_id = std::nullopt});
    }
    for (const LeaveGroupRequest::MemberIdentity& member : request->members) {
        members.push_back({.member_id = member.member_id, .group_instance_id = member.group_instance_id});
    }
    for (const groups::LeaveGroup::Member& member : members) {
        coordinators.request_notes.on_leave(context.turn.topics(), request->group_id, member.member_id, context.client.id,
                                            context.now().wall);
    }
    const auto left =
        coordinators.groups.ask(context.turn, request->group_id,
                                groups::LeaveGroup{.group_id = request->group_id, .members = {members.begin(), members.size()}});
    LeaveGroupResponse response;
    if (!left) {
        response.error_code = ErrorCode::not_coordinator;
        context.reply(response);
        return;
    }
    response.error_code = left->error;
    if (context.version() < 3) {
        if (left->error == ErrorCode::none && !left->members.empty()) {
            response.error_code = left->members.front().error;
        }
        context.reply(response);
        return;
    }
    ArenaVector<LeaveGroupResponse::MemberResponse> responses(context.arena(), left->members.size());
    for (const groups::LeaveResult::Member& member : left->members) {
        LeaveGroupResponse::MemberResponse& item = responses.emplace_back();
        item.member_id = member.member_id;
        item.group_instance_id =
            member.group_instance_id ? std::optional<std::string_view>(*member.group_instance_id) : std::nullopt;
        item.error_code = member.error;
    }
    response.members = responses;
    context.reply(response);
}

}  // namespace partita::handlers
