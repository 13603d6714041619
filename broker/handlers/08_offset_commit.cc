// OffsetCommit: v2-10.
//
//   up to v4: retention time; v6: leader epoch; v7: static members; v8: flexible; v9: members of KIP-848 groups; v10: topics by
//   id.
//
// The handler answers topics and partitions that do not exist, one by one; the rest goes to the coordinator.

#include <vector>

#include "broker/access/offer.h"
#include "broker/groups/group_queries.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/offset_commits.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/insight/history/group_history.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/messages/08_offset_commit.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(offset_commit, coordinators, access::kReadGroup, access::kReadTopic);

namespace {

using Request = OffsetCommitRequest;
using Response = OffsetCommitResponse;

constexpr std::int16_t kNamesTopicsById = 10;

struct Collected : CollectedCommits<Response> {
    using CollectedCommits::CollectedCommits;

    /// For topics that have grown, by index of the topic: the group's previous commits there.
    std::vector<std::pair<std::size_t, std::optional<insight::Inversions::Positions>>> before;
};

/// Collects data for the findings about readers of topics that have grown.
void find_watched(const insight::RequestNotes& notes, std::string_view group_id, Collected& collected) {
    for (std::size_t t = 0; t < collected.topics.size(); ++t) {
        if (insight::RequestNotes::watches(*collected.states[t])) {
            const bool wants_positions = notes.wants_positions(*collected.states[t], group_id);
            collected.before.emplace_back(
                t, wants_positions ? std::optional<insight::Inversions::Positions>(std::in_place) : std::nullopt);
        }
    }
}

void note_commits(runtime::RequestContext& context, insight::RequestNotes& notes, std::string_view group_id,
                  Collected& collected) {
    std::size_t decided = 0;
    auto watched = collected.before.begin();
    for (std::size_t t = 0; t < collected.topics.size(); ++t) {
        const auto partitions = collected.topics[t].partitions;
        const std::size_t first = decided;
        decided += partitions.size();
        if (watched == collected.before.end() || watched->first != t) {
            continue;
        }
        std::optional<insight::Inversions::Positions>& before = (watched++)->second;
        std::vector<insight::ConsumerWatch::Commit> commits;
        for (std::size_t i = 0; i < partitions.size(); ++i) {
            if (collected.undecided[first + i]->error_code == ErrorCode::none) {
                commits.push_back({partitions[i].partition, partitions[i].offset});
            }
        }
        if (!commits.empty()) {
            notes.on_commit(*collected.states[t], group_id, client_identity(context), context.client.id, commits,
                            std::move(before), context.now().wall);
        }
    }
}

}  // namespace

void offset_commit(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        return refuse_commits<Request, Response>(context, *request, ErrorCode::group_authorization_failed);
    }
    if (context.services.extensions.offer != nullptr && !context.services.extensions.offer->accepts_group(request->group_id)) {
        return refuse_commits<Request, Response>(context, *request, ErrorCode::invalid_group_id);
    }
    Arena& arena = context.arena();
    Collected collected(arena, request->topics.count());
    ArenaVector<Response::Topic> replies(arena, request->topics.count());
    for (const Request::Topic& topic : request->topics) {
        const TopicLookup found =
            find_topic(context, topic.name, topic.topic_id, context.version() >= kNamesTopicsById, access::kReadTopic);
        Response::Topic& reply = replies.emplace_back();
        collect_commits<Request::Topic, Response>(arena, topic, found,
                                                  found.state == nullptr ? TopicId{} : found.state->topic->id, collected, reply);
        reply.topic_id = topic.topic_id;
    }
    std::optional<groups::OffsetCommitResult> committed;
    // Without an existing topic, Kafka answers and does not ask the coordinator.
    if (!collected.topics.empty() || request->topics.empty()) {
        find_watched(coordinators.request_notes, request->group_id, collected);
        const auto note_positions = [&](const groups::GroupCoordinator& coordinator) {
            for (auto& [topic, before] : collected.before) {
                if (before) {
                    *before = coordinator.queries().committed_in(request->group_id, collected.topics[topic].name,
                                                                 collected.topics[topic].topic_id);
                }
            }
        };
        committed = coordinators.groups.look_and_ask(
            context.turn, request->group_id, note_positions,
            groups::OffsetCommit{.group_id = request->group_id,
                                 .generation = Generation{request->generation_id_or_member_epoch},
                                 .member_id = request->member_id,
                                 .group_instance_id = request->group_instance_id,
                                 .retention_time_ms = request->retention_time_ms,
                                 .topics = {collected.topics.begin(), collected.topics.size()},
                                 .api_version = context.version()});
    }
    if (committed && insight::says_that_claim_is_over(committed->error)) {
        coordinators.bell.commit_refused();
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
    note_commits(context, coordinators.request_notes, request->group_id, collected);
    pass_commit_gate(context, request->group_id, collected);
    Response response;
    response.topics = replies;
    context.reply(response);
}

}  // namespace partita::handlers
