// DescribeGroups: v0-6.
//
//   v3: authorised operations; v4: static members; v5: flexible; v6: unknown groups are an error with a message (KIP-1043);
//   before v6 they were "Dead".

#include "protocol/messages/15_describe_groups.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/repeats.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(describe_groups, coordinators, access::kDescribeGroup);

namespace {

DescribeGroupsResponse::DescribedGroup reply_group(runtime::RequestContext& context,
                                                   const groups::DescribeGroupsResult::Group& group, bool include_operations) {
    Arena& arena = context.arena();
    DescribeGroupsResponse::DescribedGroup item;
    item.error_code = group.error;
    if (group.error_message) {
        item.error_message = arena.copy(*group.error_message);
    }
    item.group_id = arena.copy(group.group_id);
    item.group_state = groups::state_name(group.state);
    item.protocol_type = arena.copy(group.protocol_type);
    item.protocol_data = arena.copy(group.protocol);
    ArenaVector<DescribeGroupsResponse::DescribedGroupMember> members(arena, group.members.size());
    for (const groups::DescribeGroupsResult::Member& member : group.members) {
        DescribeGroupsResponse::DescribedGroupMember& described = members.emplace_back();
        described.member_id = arena.copy(member.member_id);
        if (member.group_instance_id) {
            described.group_instance_id = arena.copy(*member.group_instance_id);
        }
        described.client_id = arena.copy(member.client_id);
        described.client_host = arena.copy(member.client_host);
        described.member_metadata = as_bytes(arena.copy(as_text(member.metadata)));
        described.member_assignment = as_bytes(arena.copy(as_text(member.assignment)));
    }
    item.members = members;
    if (include_operations && group.error == ErrorCode::none) {
        item.authorized_operations = authorized_operations(context, access::ResourceType::group, group.group_id);
    }
    return item;
}

}  // namespace

void describe_groups(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const DescribeGroupsRequest* request = context.decode<DescribeGroupsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<DescribeGroupsResponse::DescribedGroup> described(context.arena(), request->groups.count());
    Repeats<std::string_view> repeats;
    for (const std::string_view group_id : request->groups) {
        if (!repeats.is_answered(group_id)) {
            continue;
        }
        if (!authorize(context, access::kDescribeGroup, group_id)) {
            described.push_back({.error_code = ErrorCode::group_authorization_failed, .group_id = group_id});
            continue;
        }
        const auto result = coordinators.groups.ask(
            context.turn, group_id, groups::DescribeGroups{.group_ids = {&group_id, 1}, .api_version = context.version()});
        if (!result) {
            described.push_back({.error_code = ErrorCode::not_coordinator, .group_id = group_id});
            continue;
        }
        for (const groups::DescribeGroupsResult::Group& group : result->groups) {
            described.push_back(reply_group(context, group, request->include_authorized_operations));
        }
    }
    DescribeGroupsResponse response;
    response.groups = described;
    context.reply(response);
}

}  // namespace partita::handlers
