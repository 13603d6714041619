// ConsumerGroupHeartbeat: v0-1.
//
//   v1: regular expressions; the member chooses its id (KIP-1082).

#include <vector>

#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/consumer_groups.h"
#include "broker/handlers/describable_topics.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/loop/fresh_ids.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(consumer_group_heartbeat, coordinators, access::kReadGroup, access::kDescribeTopic);

namespace {

using Request = ConsumerGroupHeartbeatRequest;
using Response = ConsumerGroupHeartbeatResponse;

Response encoded(Arena& arena, const groups::ConsumerHeartbeatResult& result) {
    Response response;
    response.error_code = result.error;
    if (result.error_message) {
        response.error_message = arena.copy(*result.error_message);
    }
    if (result.member_id) {
        response.member_id = arena.copy(*result.member_id);
    }
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

std::vector<assignors::TopicPartitions> owned_partitions(const Request& request) {
    std::vector<assignors::TopicPartitions> owned;
    owned.reserve(request.topic_partitions.count());
    for (const Request::TopicPartitions& topic : request.topic_partitions) {
        owned.push_back({topic.topic_id, {topic.partitions.begin(), topic.partitions.end()}});
    }
    return owned;
}

/// The error for a client without permissions. A member that names a topic learns of its partitions, so it needs DESCRIBE on the
/// topic.
ErrorCode refusal(const runtime::RequestContext& context, const Request& request) {
    if (!authorize(context, access::kReadGroup, request.group_id)) {
        return ErrorCode::group_authorization_failed;
    }
    for (const std::string_view topic : request.subscribed_topic_names) {
        if (!authorize(context, access::kDescribeTopic, topic)) {
            return ErrorCode::topic_authorization_failed;
        }
    }
    return ErrorCode::none;
}

}  // namespace

void consumer_group_heartbeat(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    if (!consumer_protocol_is_enabled(context)) {
        context.reply(Response{.error_code = ErrorCode::unsupported_version});
        return;
    }
    if (const ErrorCode refused = refusal(context, *request); refused != ErrorCode::none) {
        context.reply(Response{.error_code = refused});
        return;
    }
    const std::vector<assignors::TopicPartitions> owned = owned_partitions(*request);
    const std::string fresh_id = runtime::fresh_uuid_text();
    const DescribableTopics describable(context);
    groups::ConsumerGroupHeartbeat command{.group_id = request->group_id,
                                           .member_id = request->member_id,
                                           .member_epoch = request->member_epoch,
                                           .instance_id = request->instance_id,
                                           .rack_id = request->rack_id,
                                           .rebalance_timeout_ms = request->rebalance_timeout_ms,
                                           .topic_regex = request->subscribed_topic_regex,
                                           .server_assignor = request->server_assignor,
                                           .client_id = context.client_id,
                                           .client_host = context.client.host,
                                           .api_version = context.version(),
                                           .fresh_member_id = fresh_id,
                                           .may_describe = describable.or_all()};
    if (!request->subscribed_topic_names.is_null()) {
        command.topic_names = request->subscribed_topic_names.span();
    }
    if (!request->topic_partitions.is_null()) {
        command.owned = owned;
    }
    if (request->member_epoch < 0) {
        coordinators.request_notes.on_leave(context.turn.topics(), request->group_id, request->member_id, context.client.id,
                                            context.now().wall);
    }
    const auto result = coordinators.groups.ask(context.turn, request->group_id, command);
    if (!result) {
        context.reply(Response{.error_code = ErrorCode::not_coordinator});
        return;
    }
    if (result->error == ErrorCode::none && result->member_id) {
        note_member(context, request->group_id, *result->member_id);
    }
    context.reply(encoded(context.arena(), *result));
}

}  // namespace partita::handlers
