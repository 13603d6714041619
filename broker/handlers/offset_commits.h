#pragma once

#include <cstddef>

#include "broker/groups/commands.h"
#include "broker/handlers/commit_gate.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "protocol/schema.h"

/// Code that OffsetCommit and TxnOffsetCommit share.

namespace partita::handlers {

/// The commits of a request for partitions that exist; all others are already answered.
template <class Response>
struct CollectedCommits {
    CollectedCommits(Arena& arena, std::size_t topic_count)
        : topics(arena, topic_count), states(arena, topic_count), undecided(arena) {}

    ArenaVector<groups::OffsetCommit::Topic> topics;
    /// One state for each of `topics`.
    ArenaVector<const logs::TopicState*> states;
    /// The reply's partitions whose error the coordinators decide, in the order of the command.
    ArenaVector<typename Response::Partition*> undecided;
};

/// Collects one topic of the request, with its look-up `found`, and begins its reply. `recorded_id` is the topic id in the
/// records of the commit; zero for a commit that applies to any topic of this name.
template <class Topic, class Response>
void collect_commits(Arena& arena, const Topic& topic, const TopicLookup& found, const TopicId& recorded_id,
                     CollectedCommits<Response>& collected, typename Response::Topic& reply) {
    ArenaVector<typename Response::Partition> replies(arena, topic.partitions.count());
    ArenaVector<groups::OffsetCommit::Partition> partitions(arena, topic.partitions.count());
    for (const auto& partition : topic.partitions) {
        typename Response::Partition& item = replies.emplace_back();
        item.partition_index = partition.partition_index;
        if (found.state == nullptr) {
            item.error_code = found.error;
        } else if (found.state->partition(partition.partition_index) == nullptr) {
            item.error_code = ErrorCode::unknown_topic_or_partition;
        } else {
            partitions.push_back({.partition = PartitionIndex{partition.partition_index},
                                  .offset = Offset{partition.committed_offset},
                                  .leader_epoch = LeaderEpoch{partition.committed_leader_epoch},
                                  .metadata = partition.committed_metadata.value_or("")});
            collected.undecided.push_back(&item);
        }
    }
    reply.name = topic.name;
    reply.partitions = replies;
    if (!partitions.empty()) {
        collected.topics.push_back(
            {.name = found.state->topic->name, .topic_id = recorded_id, .partitions = {partitions.begin(), partitions.size()}});
        collected.states.push_back(found.state);
    }
}

/// Delays a client that commits too often. Call this before the reply.
template <class Response>
void pass_commit_gate(runtime::RequestContext& context, std::string_view group_id, CollectedCommits<Response>& collected) {
    CommitGate* const gate = context.services.extensions.commit_gate;
    if (gate == nullptr || gate->is_open()) {
        return;
    }
    for (const groups::OffsetCommit::Topic& topic : collected.topics) {
        for (const groups::OffsetCommit::Partition& partition : topic.partitions) {
            context.throttle(gate->admit_commit(group_id, topic.name, partition.partition, context.now()));
        }
    }
}

/// Refuses every partition of the request with the same error.
template <class Request, class Response>
void refuse_commits(runtime::RequestContext& context, const Request& request, ErrorCode error) {
    ArenaVector<typename Response::Topic> topics(context.arena(), request.topics.count());
    for (const auto& topic : request.topics) {
        ArenaVector<typename Response::Partition> partitions(context.arena(), topic.partitions.count());
        for (const auto& partition : topic.partitions) {
            partitions.push_back({.partition_index = partition.partition_index, .error_code = error});
        }
        typename Response::Topic& refused = topics.emplace_back();
        refused.name = topic.name;
        if constexpr (requires { refused.topic_id = topic.topic_id; }) {
            refused.topic_id = topic.topic_id;
        }
        refused.partitions = partitions;
    }
    Response response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace partita::handlers
