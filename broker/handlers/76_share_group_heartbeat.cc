// ShareGroupHeartbeat: v1 (KIP-932).

#include "protocol/messages/76_share_group_heartbeat.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_groups.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(share_group_heartbeat, coordinators.share, access::kReadGroup, access::kDescribeTopic);

namespace {

using Request = ShareGroupHeartbeatRequest;
using Response = ShareGroupHeartbeatResponse;

Response encoded(Arena& arena, const groups::ShareHeartbeatResult& result) {
    Response response;
    response.error_code = result.error;
    if (result.error != ErrorCode::none) {
        response.error_message = arena.copy(result.error_message.value_or(std::string(error_message(result.error))));
        return response;
    }
    response.member_id = arena.copy(result.member_id);
    response.member_epoch = result.member_epoch;
    response.heartbeat_interval_ms = result.heartbeat_interval_ms;
    if (result.assignment) {
        ArenaVector<Response::TopicPartitions> topics(arena, result.assignment->size());
        for (const assignors::TopicPartitions& topic : *result.assignment) {
            ArenaVector<std::int32_t> partitions(arena, topic.partitions.size());
            for (const std::int32_t partition : topic.partitions) {
                partitions.push_back(partition);
            }
            topics.push_back({.topic_id = topic.topic_id, .partitions = partitions});
        }
        response.assignment = arena.create<Response::Assignment>();
        response.assignment->topic_partitions = topics;
    }
    return response;
}

/// The error for a client without permissions. A member learns of the partitions of the topics that it names.
ErrorCode refusal(const runtime::RequestContext& context, const Request& request) {
    if (!authorize(context, access::kReadGroup, request.group_id)) {
        return ErrorCode::group_authorization_failed;
    }
    if (!is_share_member_id(request.member_id)) {
        return ErrorCode::invalid_request;
    }
    for (const std::string_view topic : request.subscribed_topic_names) {
        if (!authorize(context, access::kDescribeTopic, topic)) {
            return ErrorCode::topic_authorization_failed;
        }
    }
    return ErrorCode::none;
}

}  // namespace

void share_group_heartbeat(runtime::RequestContext& context, const runtime::ShareServices& services) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    if (!share_groups_are_enabled(context.turn)) {
        context.reply(Response{.error_code = ErrorCode::unsupported_version});
        return;
    }
    if (const ErrorCode refused = refusal(context, *request); refused != ErrorCode::none) {
        context.reply(Response{.error_code = refused});
        return;
    }
    groups::ShareGroupHeartbeat command{.group_id = request->group_id,
                                        .member_id = request->member_id,
                                        .member_epoch = request->member_epoch,
                                        .rack_id = request->rack_id,
                                        .client_id = context.client_id,
                                        .client_host = context.client.host,
                                        .reply_to = {}};
    if (!request->subscribed_topic_names.is_null()) {
        command.topic_names = request->subscribed_topic_names.span();
    }
    const auto result = services.groups.ask(context.turn, request->group_id, command);
    if (!result) {
        context.reply(Response{.error_code = ErrorCode::not_coordinator});
        return;
    }
    if (result->error == ErrorCode::none) {
        note_member(context, request->group_id, result->member_id);
    }
    if (!result->to_initialize.empty()) {
        // As in Kafka, the member hears nothing of a failure: a later heartbeat tries again.
        [[maybe_unused]] const ErrorCode initialized =
            initialize_share_state(context.turn, services, request->group_id, result->to_initialize, result->group_epoch);
    }
    context.reply(encoded(context.arena(), *result));
}

}  // namespace partita::handlers
