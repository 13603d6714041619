#include "broker/handlers/group_replies.h"

#include <vector>

#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/14_sync_group.h"

namespace partita::handlers {
namespace {

std::optional<std::string_view> view(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

}  // namespace

runtime::Reply encode_join_reply(const runtime::KafkaCall& pending, const groups::JoinResult& result) {
    JoinGroupResponse response;
    response.error_code = result.error;
    response.generation_id = result.generation.value;
    response.protocol_type = view(result.protocol_type);
    response.protocol_name = view(result.protocol_name);
    if (!response.protocol_name && pending.api_version < 7) {
        response.protocol_name = "";  // Null is only possible from v7 on.
    }
    response.leader = result.leader;
    response.skip_assignment = pending.api_version >= 9 && result.skip_assignment;
    response.member_id = result.member_id;
    std::vector<JoinGroupResponse::Member> members;
    members.reserve(result.members.size());
    for (const groups::JoinResult::Member& member : result.members) {
        JoinGroupResponse::Member& item = members.emplace_back();
        item.member_id = member.member_id;
        if (pending.api_version >= 5) {
            item.group_instance_id = view(member.group_instance_id);
        }
        item.metadata = member.metadata;
    }
    response.members = members;
    return runtime::encode_reply(pending, response);
}

runtime::Reply encode_sync_reply(const runtime::KafkaCall& pending, const groups::SyncResult& result) {
    SyncGroupResponse response;
    response.error_code = result.error;
    if (pending.api_version >= 5) {
        response.protocol_type = view(result.protocol_type);
        response.protocol_name = view(result.protocol_name);
    }
    response.assignment = result.assignment;
    return runtime::encode_reply(pending, response);
}

}  // namespace partita::handlers
