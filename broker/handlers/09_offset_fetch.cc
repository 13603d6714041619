// OffsetFetch: v1-10.
//
//   v2: null means all topics, top-level error; v5: leader epoch; v6: flexible; v7: require stable;
//   v8: several groups; v9: member id and epoch; v10: topics by id.

#include <vector>

#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/repeats.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "protocol/messages/09_offset_fetch.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(offset_fetch, coordinators, access::kDescribeGroup, access::kDescribeTopic);

namespace {

using GroupResult = groups::OffsetFetchResult::Group;

/// Asks the coordinator for one group. Empty if there is no coordinator or it failed.
std::optional<GroupResult> ask_for_group(runtime::RequestContext& context, runtime::GroupShards& shards,
                                         const groups::OffsetFetch::Group& group, bool require_stable) {
    auto result =
        shards.ask(context.turn, group.group_id, groups::OffsetFetch{.groups = {&group, 1}, .require_stable = require_stable});
    if (!result) {
        return std::nullopt;
    }
    return std::move(result->groups.front());
}

/// True if an answer about all topics has this one. Kafka forgets the offsets of a topic with the topic. Here a topic may be
/// missing and its offsets wait for it: a start left its directory alone. Tools ask about every topic of the answer, and fail as
/// a whole if one is unknown.
bool is_in_answer_for_all(runtime::RequestContext& context, std::string_view topic) {
    return context.turn.topics().find(topic) != nullptr && authorize(context, access::kDescribeTopic, topic);
}

/// Passes the answer to the findings about readers of topics that have grown.
void note_answer(runtime::RequestContext& context, insight::RequestNotes& notes, std::string_view group_id,
                 const GroupResult& result) {
    for (const groups::OffsetFetchResult::Topic& topic : result.topics) {
        const logs::TopicState* state = context.turn.topics().find(topic.name);
        if (state == nullptr || !insight::RequestNotes::watches(*state)) {
            continue;
        }
        for (const groups::OffsetFetchResult::Partition& partition : topic.partitions) {
            if (partition.error == ErrorCode::none) {
                notes.on_offset_fetch(*state, group_id, client_identity(context), context.client, partition.partition,
                                      partition.offset, context.now().wall);
            }
        }
    }
}

std::span<const PartitionIndex> partition_indexes(Arena& arena, const Array<std::int32_t>& indexes) {
    ArenaVector<PartitionIndex> partitions(arena, indexes.count());
    for (const std::int32_t index : indexes) {
        partitions.push_back(PartitionIndex{index});
    }
    return {partitions.begin(), partitions.size()};
}

void reply_old(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
               const OffsetFetchRequest& request) {
    Arena& arena = context.arena();
    groups::OffsetFetch::Group group;
    group.group_id = request.group_id;
    ArenaVector<groups::OffsetFetch::Topic> topics(arena, request.topics.count());
    ArenaVector<OffsetFetchResponse::Topic> replies(arena);
    const auto refuse_topic = [&](const OffsetFetchRequest::Topic& topic, ErrorCode code) {
        ArenaVector<OffsetFetchResponse::Partition> partitions(arena, topic.partition_indexes.count());
        for (const std::int32_t index : topic.partition_indexes) {
            partitions.push_back({.partition_index = index, .committed_offset = -1, .error_code = code});
        }
        replies.push_back({.name = topic.name, .partitions = partitions});
    };
    for (const OffsetFetchRequest::Topic& topic : request.topics) {
        const TopicLookup found = find_topic(context, topic.name, {}, false, access::kDescribeTopic);
        if (found.error == ErrorCode::topic_authorization_failed) {
            refuse_topic(topic, found.error);
            continue;
        }
        topics.push_back({.name = topic.name,
                          .topic_id = found.state != nullptr ? found.state->topic->id : TopicId{},
                          .partitions = partition_indexes(arena, topic.partition_indexes)});
    }
    if (!request.topics.is_null()) {
        group.topics = std::span<const groups::OffsetFetch::Topic>(topics.begin(), topics.size());
    }
    const bool is_refused = !authorize(context, access::kDescribeGroup, request.group_id);
    const std::optional<GroupResult> result =
        is_refused ? std::nullopt : ask_for_group(context, coordinators.groups, group, request.require_stable);
    OffsetFetchResponse response;
    const ErrorCode error = result       ? result->error
                            : is_refused ? ErrorCode::group_authorization_failed
                                         : ErrorCode::not_coordinator;
    if (error != ErrorCode::none) {
        response.error_code = error;
        replies = ArenaVector<OffsetFetchResponse::Topic>(arena);
        if (context.version() < 2) {
            // This version has no top-level error field, so every partition carries the error.
            for (const OffsetFetchRequest::Topic& topic : request.topics) {
                refuse_topic(topic, error);
            }
        }
    } else {
        note_answer(context, coordinators.request_notes, request.group_id, *result);
        for (const groups::OffsetFetchResult::Topic& topic : result->topics) {
            if (request.topics.is_null() && !is_in_answer_for_all(context, topic.name)) {
                continue;
            }
            ArenaVector<OffsetFetchResponse::Partition> partitions(arena, topic.partitions.size());
            for (const groups::OffsetFetchResult::Partition& partition : topic.partitions) {
                partitions.push_back({.partition_index = partition.partition.value,
                                      .committed_offset = partition.offset.value,
                                      .committed_leader_epoch = partition.leader_epoch.value,
                                      .metadata = partition.metadata,
                                      .error_code = partition.error});
            }
            replies.push_back({.name = topic.name, .partitions = partitions});
        }
    }
    response.topics = replies;
    context.reply(response);
}

OffsetFetchResponse::Topics reply_topic(Arena& arena, const groups::OffsetFetchResult::Topic& topic, std::int16_t version) {
    ArenaVector<OffsetFetchResponse::Partitions> partitions(arena, topic.partitions.size());
    for (const groups::OffsetFetchResult::Partition& partition : topic.partitions) {
        partitions.push_back({.partition_index = partition.partition.value,
                              .committed_offset = partition.offset.value,
                              .committed_leader_epoch = partition.leader_epoch.value,
                              .metadata = arena.copy(partition.metadata),
                              .error_code = partition.error});
    }
    return {.name = version >= 10 ? std::string_view() : arena.copy(topic.name),
            .topic_id = version >= 10 ? topic.topic_id : TopicId{},
            .partitions = partitions};
}

OffsetFetchResponse::Group reply_group(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                                       const OffsetFetchRequest::Group& request, bool require_stable) {
    Arena& arena = context.arena();
    const bool by_id = context.version() >= 10;
    OffsetFetchResponse::Group reply;
    reply.group_id = request.group_id;
    if (!authorize(context, access::kDescribeGroup, request.group_id)) {
        reply.error_code = ErrorCode::group_authorization_failed;
        return reply;
    }
    groups::OffsetFetch::Group group;
    group.group_id = request.group_id;
    if (context.version() >= 9) {
        group.member_id = request.member_id;
        group.member_epoch = request.member_epoch;
    }
    ArenaVector<groups::OffsetFetch::Topic> topics(arena, request.topics.count());
    ArenaVector<OffsetFetchResponse::Topics> unknown(arena);
    for (const OffsetFetchRequest::Topics& topic : request.topics) {
        const TopicLookup found = find_topic(context, topic.name, topic.topic_id, by_id, access::kDescribeTopic);
        if (found.error == ErrorCode::topic_authorization_failed || (by_id && found.state == nullptr)) {
            ArenaVector<OffsetFetchResponse::Partitions> partitions(arena, topic.partition_indexes.count());
            for (const std::int32_t index : topic.partition_indexes) {
                partitions.push_back({.partition_index = index, .committed_offset = -1, .error_code = found.error});
            }
            unknown.push_back({.name = topic.name, .topic_id = topic.topic_id, .partitions = partitions});
            continue;
        }
        topics.push_back({.name = by_id ? std::string_view(found.state->topic->name) : topic.name,
                          .topic_id = found.state != nullptr ? found.state->topic->id : TopicId{},
                          .partitions = partition_indexes(arena, topic.partition_indexes)});
    }
    if (!request.topics.is_null()) {
        group.topics = std::span<const groups::OffsetFetch::Topic>(topics.begin(), topics.size());
    }
    const std::optional<GroupResult> result = ask_for_group(context, coordinators.groups, group, require_stable);
    if (!result || result->error != ErrorCode::none) {
        reply.error_code = result ? result->error : ErrorCode::not_coordinator;
        return reply;
    }
    note_answer(context, coordinators.request_notes, request.group_id, *result);
    ArenaVector<OffsetFetchResponse::Topics> replies(arena, result->topics.size() + unknown.size());
    for (const groups::OffsetFetchResult::Topic& topic : result->topics) {
        if (request.topics.is_null() && !is_in_answer_for_all(context, topic.name)) {
            continue;
        }
        OffsetFetchResponse::Topics item = reply_topic(arena, topic, context.version());
        if (by_id && request.topics.is_null()) {
            // A request for all topics gets today's ids.
            item.topic_id = context.turn.topics().find(topic.name)->topic->id;
        }
        replies.push_back(item);
    }
    for (const OffsetFetchResponse::Topics& topic : unknown) {
        replies.push_back(topic);
    }
    reply.topics = replies;
    return reply;
}

}  // namespace

void offset_fetch(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const OffsetFetchRequest* request = context.decode<OffsetFetchRequest>();
    if (request == nullptr) {
        return;
    }
    if (context.version() < 8) {
        reply_old(context, coordinators, *request);
        return;
    }
    OffsetFetchResponse response;
    ArenaVector<OffsetFetchResponse::Group> groups(context.arena(), request->groups.count());
    Repeats<std::string_view> repeats;
    for (const OffsetFetchRequest::Group& group : request->groups) {
        if (!repeats.is_answered(group.group_id)) {
            continue;
        }
        groups.push_back(reply_group(context, coordinators, group, request->require_stable));
    }
    response.groups = groups;
    context.reply(response);
}

}  // namespace partita::handlers
