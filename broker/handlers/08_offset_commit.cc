// OffsetCommit: v2-10.
//
//   up to v4: retention time; v6: leader epoch; v7: static members; v8: flexible; v9: members of KIP-848
//   groups; v10: topics by id.
//
// Topics and partitions that do not exist are answered here, one by one; the rest goes to the coordinator.

#include <vector>

#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/insight/reader_observer.h"
#include "broker/runtime/partitions/turn.h"
#include "protocol/messages/08_offset_commit.h"

namespace partita::handlers {
namespace {

struct Collected {
    ArenaVector<groups::OffsetCommit::Topic> topics;
    /// One for each of `topics`.
    ArenaVector<const runtime::TopicState*> states;
    /// The reply's partitions that the coordinator decides, in the order of the command.
    ArenaVector<OffsetCommitResponse::Partition*> undecided;
    /// By index of the topic, of topics that have grown: what the group had committed there before.
    std::vector<std::pair<std::size_t, std::optional<expansion::Inversions::Positions>>> before;
};

void collect_topic(runtime::RequestContext& context, const OffsetCommitRequest::Topic& topic, Collected& collected,
                   OffsetCommitResponse::Topic& reply) {
    const bool by_id = context.version() >= 10;
    const TopicLookup found = find_topic(context, topic.name, topic.topic_id, by_id, access::kReadTopic);
    ArenaVector<OffsetCommitResponse::Partition> replies(context.arena(), topic.partitions.count());
    ArenaVector<groups::OffsetCommit::Partition> partitions(context.arena(), topic.partitions.count());
    for (const OffsetCommitRequest::Partition& partition : topic.partitions) {
        OffsetCommitResponse::Partition& item = replies.emplace_back();
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
    reply.topic_id = topic.topic_id;
    reply.partitions = replies;
    if (!partitions.empty()) {
        collected.topics.push_back({.name = found.state->topic->name,
                                    .topic_id = found.state->topic->id,
                                    .partitions = {partitions.begin(), partitions.size()}});
        collected.states.push_back(found.state);
    }
}

/// For the findings about readers of topics that have grown.
void find_watched(runtime::RequestContext& context, std::string_view group_id, Collected& collected) {
    for (std::size_t t = 0; t < collected.topics.size(); ++t) {
        if (runtime::ReaderReports::watches(*collected.states[t])) [[unlikely]] {
            const bool wants_positions = context.services.readers.reports().wants_positions(*collected.states[t], group_id);
            collected.before.emplace_back(
                t, wants_positions ? std::optional<expansion::Inversions::Positions>(std::in_place) : std::nullopt);
        }
    }
}

void note_commits(runtime::RequestContext& context, std::string_view group_id, Collected& collected) {
    std::size_t decided = 0;
    auto watched = collected.before.begin();
    for (std::size_t t = 0; t < collected.topics.size(); ++t) {
        const auto partitions = collected.topics[t].partitions;
        const std::size_t first = decided;
        decided += partitions.size();
        if (watched == collected.before.end() || watched->first != t) [[likely]] {
            continue;
        }
        std::optional<expansion::Inversions::Positions>& before = (watched++)->second;
        std::vector<expansion::ConsumerWatch::Commit> commits;
        for (std::size_t i = 0; i < partitions.size(); ++i) {
            if (collected.undecided[first + i]->error_code == ErrorCode::none) {
                commits.push_back({partitions[i].partition, partitions[i].offset});
            }
        }
        if (!commits.empty()) {
            context.services.readers.reports().on_commit(*collected.states[t], group_id, client_identity(context),
                                                         context.client.id, commits, std::move(before), context.now().wall);
        }
    }
}

/// Every partition is refused with the same error.
void refuse(runtime::RequestContext& context, const OffsetCommitRequest& request, ErrorCode error) {
    ArenaVector<OffsetCommitResponse::Topic> topics(context.arena(), request.topics.count());
    for (const OffsetCommitRequest::Topic& topic : request.topics) {
        ArenaVector<OffsetCommitResponse::Partition> partitions(context.arena(), topic.partitions.count());
        for (const OffsetCommitRequest::Partition& partition : topic.partitions) {
            partitions.push_back({.partition_index = partition.partition_index, .error_code = error});
        }
        topics.push_back({.name = topic.name, .topic_id = topic.topic_id, .partitions = partitions});
    }
    OffsetCommitResponse response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace

void offset_commit(runtime::RequestContext& context) {
    const OffsetCommitRequest* request = context.decode<OffsetCommitRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        return refuse(context, *request, ErrorCode::group_authorization_failed);
    }
    Arena& arena = context.arena();
    Collected collected{ArenaVector<groups::OffsetCommit::Topic>(arena, request->topics.count()),
                        ArenaVector<const runtime::TopicState*>(arena, request->topics.count()),
                        ArenaVector<OffsetCommitResponse::Partition*>(arena),
                        {}};
    ArenaVector<OffsetCommitResponse::Topic> replies(arena, request->topics.count());
    for (const OffsetCommitRequest::Topic& topic : request->topics) {
        collect_topic(context, topic, collected, replies.emplace_back());
    }
    std::optional<groups::OffsetCommitResult> committed;
    // Without a topic that exists Kafka answers without asking the coordinator.
    if (!collected.topics.empty() || request->topics.empty()) {
        find_watched(context, request->group_id, collected);
        const auto note_positions = [&](const groups::GroupCoordinator& coordinator) {
            for (auto& [topic, before] : collected.before) {
                if (before)
                    *before = coordinator.committed_in(request->group_id, collected.topics[topic].name,
                                                       collected.topics[topic].topic_id);
            }
        };
        committed = context.services.groups.look_and_ask(
            context.turn, request->group_id, note_positions,
            groups::OffsetCommit{.group_id = request->group_id,
                                 .generation = Generation{request->generation_id_or_member_epoch},
                                 .member_id = request->member_id,
                                 .group_instance_id = request->group_instance_id,
                                 .retention_time_ms = request->retention_time_ms,
                                 .topics = {collected.topics.begin(), collected.topics.size()},
                                 .api_version = context.version()});
    }
    for (std::size_t i = 0; i < collected.undecided.size(); ++i) {
        ErrorCode& error = collected.undecided[i]->error_code;
        if (!committed) {
            error = ErrorCode::not_coordinator;
        } else if (committed->partition_errors.empty()) {
            error = committed->error;
        } else {
            error = committed->partition_errors[i];
        }
    }
    note_member(context, request->group_id, request->member_id);
    note_commits(context, request->group_id, collected);
    OffsetCommitResponse response;
    response.topics = replies;
    context.reply(response);
}

}  // namespace partita::handlers
