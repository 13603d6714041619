// AlterShareGroupOffsets: v0 (KIP-932).

#include "protocol/messages/91_alter_share_group_offsets.h"

#include <limits>
#include <set>
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

PARTITA_SERVES_WITH(alter_share_group_offsets, coordinators.share, access::kReadGroup, access::kReadTopic);

namespace {

using Request = AlterShareGroupOffsetsRequest;
using Response = AlterShareGroupOffsetsResponse;

/// The partitions whose offsets can be set, with their new offsets, in their order.
struct Alteration {
    assignors::Assignment partitions;
    std::vector<Offset> starts;
};

/// The outcome for a topic before anything is set; collects its partitions.
Response::Topic judged(runtime::RequestContext& context, const Request::Topic& topic, Alteration& alteration) {
    const logs::TopicState* state = context.turn.topics().find(topic.topic_name);
    ErrorCode error = ErrorCode::none;
    if (!authorize(context, access::kReadTopic, topic.topic_name)) {
        error = ErrorCode::topic_authorization_failed;
    } else if (state == nullptr) {
        error = ErrorCode::unknown_topic_or_partition;
    }
    ArenaVector<Response::Partition> partitions(context.arena(), topic.partitions.count());
    assignors::TopicPartitions altered{.topic_id = state == nullptr ? TopicId() : state->topic->id, .partitions = {}};
    std::set<std::int32_t> seen;
    for (const Request::Partition& partition : topic.partitions) {
        Response::Partition& outcome = partitions.emplace_back();
        outcome.partition_index = partition.partition_index;
        outcome.error_code = error;
        if (error == ErrorCode::none && state->partition(partition.partition_index) == nullptr) {
            outcome.error_code = ErrorCode::unknown_topic_or_partition;
        }
        const bool is_offset = partition.start_offset >= 0 && partition.start_offset < std::numeric_limits<std::int64_t>::max();
        if (outcome.error_code == ErrorCode::none && (!is_offset || !seen.insert(partition.partition_index).second)) {
            outcome.error_code = ErrorCode::invalid_request;
        }
        if (outcome.error_code == ErrorCode::none) {
            altered.partitions.push_back(partition.partition_index);
            alteration.starts.push_back({partition.start_offset});
        } else {
            outcome.error_message = error_message(outcome.error_code);
        }
    }
    if (!altered.partitions.empty()) {
        alteration.partitions.push_back(std::move(altered));
    }
    return {.topic_name = topic.topic_name, .topic_id = state == nullptr ? Uuid() : state->topic->id, .partitions = partitions};
}

/// Sets the offsets. The error is that of the whole answer, with its text.
std::pair<ErrorCode, std::string> alter(runtime::RequestContext& context, const runtime::ShareServices& services,
                                        std::string_view group_id, const Alteration& alteration) {
    const auto begun =
        services.groups.ask(context.turn, group_id,
                            groups::AlterShareOffsets{.group_id = group_id, .partitions = alteration.partitions, .reply_to = {}});
    if (!begun) {
        return {ErrorCode::not_coordinator, std::string(error_message(ErrorCode::not_coordinator))};
    }
    if (begun->error != ErrorCode::none) {
        return {begun->error, begun->error_message.value_or(std::string(error_message(begun->error)))};
    }
    if (alteration.partitions.empty()) {
        return {};
    }
    const ErrorCode error =
        initialize_share_state(context.turn, services, group_id, alteration.partitions, begun->group_epoch, alteration.starts);
    return {error, error == ErrorCode::none ? std::string() : std::string(error_message(error))};
}

}  // namespace

void alter_share_group_offsets(runtime::RequestContext& context, const runtime::ShareServices& services) {
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
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        return refuse(ErrorCode::group_authorization_failed, error_message(ErrorCode::group_authorization_failed));
    }
    if (request->group_id.empty()) {
        return refuse(ErrorCode::invalid_group_id, error_message(ErrorCode::invalid_group_id));
    }
    Alteration alteration;
    ArenaVector<Response::Topic> topics(context.arena(), request->topics.count());
    for (const Request::Topic& topic : request->topics) {
        topics.push_back(judged(context, topic, alteration));
    }
    if (const auto [error, message] = alter(context, services, request->group_id, alteration); error != ErrorCode::none) {
        return refuse(error, message);
    }
    response.responses = topics;
    context.reply(response);
}

}  // namespace partita::handlers
