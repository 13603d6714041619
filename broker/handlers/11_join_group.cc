// JoinGroup: v0-9.
//
//   v1: own rebalance timeout; v4: a member without id first receives one (KIP-394); v5: static members (KIP-345); v6: flexible;
//   v7: protocol type and null protocol name; v8: reason; v9: the reply may tell the leader to skip the assignment (KIP-814).

#include <vector>

#include "broker/access/offer.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/describable_topics.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/group_replies.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/loop/fresh_ids.h"
#include "protocol/messages/11_join_group.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(join_group, coordinators, access::kReadGroup, access::kDescribeTopic);

namespace {

JoinGroupResponse refusal(std::int16_t version, ErrorCode error) {
    JoinGroupResponse response{.error_code = error};
    if (version >= 7) {
        response.protocol_name = std::nullopt;
    }
    return response;
}

}  // namespace

void join_group(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const JoinGroupRequest* request = context.decode<JoinGroupRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        context.reply(refusal(context.version(), ErrorCode::group_authorization_failed));
        return;
    }
    if (context.services.extensions.offer != nullptr && !context.services.extensions.offer->accepts_group(request->group_id)) {
        context.reply(refusal(context.version(), ErrorCode::invalid_group_id));
        return;
    }
    note_consumer(context);
    if (!coordinators.groups.is_attached()) {
        context.reply(refusal(context.version(), ErrorCode::not_coordinator));
        return;
    }
    ArenaVector<groups::JoinGroup::Protocol> protocols(context.arena(), request->protocols.count());
    for (const JoinGroupRequest::Protocol& protocol : request->protocols) {
        protocols.push_back({.name = protocol.name, .metadata = protocol.metadata});
    }
    const std::string suffix = runtime::fresh_uuid_text();
    groups::JoinGroup command;
    command.group_id = request->group_id;
    command.member_id = request->member_id;
    command.group_instance_id = request->group_instance_id;
    command.protocol_type = request->protocol_type;
    command.protocols = {protocols.begin(), protocols.size()};
    command.session_timeout_ms = request->session_timeout_ms;
    command.rebalance_timeout_ms = context.version() >= 1 ? request->rebalance_timeout_ms : request->session_timeout_ms;
    command.client_id = context.client_id;
    command.client_host = context.client.host;
    command.api_version = context.version();
    command.fresh_member_suffix = suffix;
    const DescribableTopics describable(context);
    command.may_describe = describable.or_all();
    coordinators.groups.execute<encode_join_reply>(context.turn, request->group_id, context.park(), command);
}

}  // namespace partita::handlers
