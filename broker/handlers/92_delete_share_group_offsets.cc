// DeleteShareGroupOffsets: v0 (KIP-932).

#include "protocol/messages/92_delete_share_group_offsets.h"

#include <algorithm>
#include <vector>

#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_groups.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(delete_share_group_offsets, coordinators.share, access::kDeleteGroup, access::kReadTopic);

namespace {

using Request = DeleteShareGroupOffsetsRequest;
using Response = DeleteShareGroupOffsetsResponse;

Response::Topic failed(std::string_view name, ErrorCode error, std::string_view message) {
    Response::Topic topic{.topic_name = name, .error_code = error};
    topic.error_message = message;
    return topic;
}

}  // namespace

void delete_share_group_offsets(runtime::RequestContext& context, const runtime::ShareServices& services) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    Response response;
    const auto refuse = [&](ErrorCode error, std::string_view message) {
        response.error_code = error;
        response.error_message = context.arena().copy(message);
        context.reply(response);
    };
    if (!share_groups_are_enabled(context.turn)) {
        return refuse(ErrorCode::unsupported_version, error_message(ErrorCode::unsupported_version));
    }
    if (!authorize(context, access::kDeleteGroup, request->group_id)) {
        return refuse(ErrorCode::group_authorization_failed, error_message(ErrorCode::group_authorization_failed));
    }
    if (request->group_id.empty()) {
        return refuse(ErrorCode::invalid_group_id, error_message(ErrorCode::invalid_group_id));
    }
    ArenaVector<Response::Topic> topics(context.arena(), request->topics.count());
    std::vector<const logs::TopicState*> found;
    std::vector<TopicId> ids;
    for (const Request::Topic& topic : request->topics) {
        const logs::TopicState* state = context.turn.topics().find(topic.topic_name);
        if (!authorize(context, access::kReadTopic, topic.topic_name)) {
            topics.push_back(failed(topic.topic_name, ErrorCode::topic_authorization_failed,
                                    error_message(ErrorCode::topic_authorization_failed)));
        } else if (state == nullptr) {
            topics.push_back(failed(topic.topic_name, ErrorCode::unknown_topic_or_partition,
                                    error_message(ErrorCode::unknown_topic_or_partition)));
        } else {
            found.push_back(state);
            ids.push_back(state->topic->id);
        }
    }
    const auto deleting =
        services.groups.ask(context.turn, request->group_id,
                            groups::DeleteShareOffsets{.group_id = request->group_id, .topics = ids, .reply_to = {}});
    if (!deleting) {
        return refuse(ErrorCode::not_coordinator, error_message(ErrorCode::not_coordinator));
    }
    if (deleting->error != ErrorCode::none) {
        return refuse(deleting->error, deleting->error_message.value_or(std::string(error_message(deleting->error))));
    }
    const ErrorCode error = delete_share_state(context.turn, services, request->group_id, deleting->partitions);
    for (const logs::TopicState* state : found) {
        const bool had_state = std::ranges::find(deleting->partitions, state->topic->id, &assignors::TopicPartitions::topic_id) !=
                               deleting->partitions.end();
        if (!had_state) {
            topics.push_back(
                failed(state->topic->name, ErrorCode::unknown_topic_or_partition, "There is no offset information to delete."));
        } else if (error != ErrorCode::none) {
            topics.push_back(failed(state->topic->name, error, error_message(error)));
        } else {
            topics.push_back({.topic_name = state->topic->name, .topic_id = state->topic->id});
        }
    }
    response.responses = topics;
    context.reply(response);
}

}  // namespace partita::handlers
