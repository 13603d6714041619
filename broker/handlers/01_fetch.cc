// Fetch: v4-18.
//
//   v5: log start offset; v7: sessions (KIP-227); v9: leader epoch of the client; v11: rack; v12: flexible,
//   last fetched epoch; v13: topics by id; v15, v17, v18: fields of followers, which this broker has none of; v16: the
//   current leader beside an error that says that it is another one.
//
// The byte budget is spent on the partitions in the order of the request (or session). The first one with
// data gives its first batch whole, whatever the limits. Without enough data the fetch waits, and what it
// answers is decided by reading again. A client above its quota gets an empty answer instead, at once (KIP-219). With a limit on
// capacity (SharedCapacity) it gets what passes at once, and waits after it; who would wait too long gets an empty answer.

#include <algorithm>
#include <vector>

#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/config/current_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/fetch_operation.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_fetch_sessions.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/loop/counters.h"
#include "protocol/messages/01_fetch.h"

namespace partita::handlers {

PARTITA_SERVES(fetch, access::kReadTopic, access::kClusterAction);

namespace {

using fetch::SessionPartition;

constexpr std::int16_t kSessionsSince = 7;
constexpr std::int32_t kFinalEpoch = -1;

/// Anything below zero means that the client does not know the epoch.
LeaderEpoch epoch_to_check(std::int32_t epoch) { return epoch < 0 ? kNoLeaderEpoch : LeaderEpoch{epoch}; }

SessionPartition session_partition(const FetchRequest::FetchTopic& topic, const FetchRequest::FetchPartition& partition,
                                   bool by_id) {
    SessionPartition result;
    result.name.topic_id = topic.topic_id;
    if (!by_id) {
        result.name.topic = topic.topic;
    }
    result.name.partition = PartitionIndex{partition.partition};
    result.current_leader_epoch = epoch_to_check(partition.current_leader_epoch);
    result.fetch_offset = Offset{partition.fetch_offset};
    result.last_fetched_epoch = LeaderEpoch{partition.last_fetched_epoch};
    result.max_bytes = partition.partition_max_bytes;
    return result;
}

void resolve(runtime::RequestContext& context, const runtime::TopicTable& table, const FetchOperation& operation,
             FetchTarget& target, bool by_id) {
    if (operation.from_follower && !authorize_cluster(context, access::kClusterAction)) [[unlikely]] {
        target.lookup_error = ErrorCode::topic_authorization_failed;
        return;
    }
    const TopicLookup topic = find_topic(context, table, target.topic_name, target.topic_id, by_id, access::kReadTopic);
    if (topic.state == nullptr) {
        target.lookup_error = topic.error;
        return;
    }
    if (topic.state->partition(target.index) == nullptr) {
        target.lookup_error = ErrorCode::unknown_topic_or_partition;
        return;
    }
    target.partition = topic.state->partitions[static_cast<std::size_t>(target.index)];
    target.watched_topic = topic.state->expansion ? topic.state : nullptr;
    if (runtime::ReaderReports::watches(*topic.state)) [[unlikely]] {
        context.services.readers.reports().on_fetch(context.turn.reactor().index(), *topic.state, context.client_id,
                                                    context.client, PartitionIndex{target.index}, target.fetch_offset,
                                                    context.now().wall);
    }
    if (runtime::FencedReads& fenced_reads = context.services.readers.reports().fenced_reads(); fenced_reads.is_watching())
        [[unlikely]] {
        fenced_reads.on_fetch(topic.state->topic->id, target.index, context.client.id, target.fetch_offset, context.now().wall);
    }
    if (!by_id) {
        target.topic_name = topic.state->topic->name;
    }
}

/// Fills the targets from a request that names all of them.
void take_full_request(runtime::RequestContext& context, const runtime::TopicTable& table, const FetchRequest& request,
                       FetchOperation& operation, bool by_id) {
    std::size_t count = 0;
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        count += topic.partitions.count();
    }
    operation.targets().reserve(count);
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            FetchTarget& target = operation.targets().emplace_back();
            target.topic_name = by_id ? std::string_view() : topic.topic;
            target.topic_id = by_id ? topic.topic_id : TopicId{};
            target.index = partition.partition;
            target.current_leader_epoch = epoch_to_check(partition.current_leader_epoch);
            target.fetch_offset = Offset{partition.fetch_offset};
            target.last_fetched_epoch = LeaderEpoch{partition.last_fetched_epoch};
            target.max_bytes = partition.partition_max_bytes;
            resolve(context, table, operation, target, by_id);
        }
    }
}

/// Begins a session for a client that has asked for one, when there is a place for it.
void begin_session(runtime::RequestContext& context, const FetchRequest& request, FetchOperation& operation, bool by_id) {
    std::vector<SessionPartition> asked;
    asked.reserve(operation.targets().size());
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            asked.push_back(session_partition(topic, partition, by_id));
        }
    }
    const auto begun = context.services.fetch_sessions.begin(request.session_id, by_id, asked, context.now().monotonic);
    if (!begun) {
        return;
    }
    operation.session = begun->turn;
    for (std::size_t i = 0; i < begun->slots.size(); ++i) {
        operation.targets()[i].slot = begun->slots[i];
    }
}

/// Fills the targets with what a session is about, after the request has changed it. A top-level error otherwise.
ErrorCode take_incremental_request(runtime::RequestContext& context, const runtime::TopicTable& table,
                                   const FetchRequest& request, FetchOperation& operation, bool by_id) {
    // Kept by the thread, so that the next request asks for no memory.
    thread_local runtime::SessionChanges changes;
    thread_local std::vector<runtime::SessionRead> reads;
    changes.forgotten.clear();
    changes.asked.clear();
    reads.clear();
    for (const FetchRequest::ForgottenTopic& topic : request.forgotten_topics_data) {
        for (const std::int32_t partition : topic.partitions) {
            changes.forgotten.push_back({.topic_id = topic.topic_id,
                                         .topic = by_id ? std::string() : std::string(topic.topic),
                                         .partition = PartitionIndex{partition}});
        }
    }
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            changes.asked.push_back(session_partition(topic, partition, by_id));
        }
    }
    const auto turn = context.services.fetch_sessions.go_on(request.session_id, request.session_epoch, by_id, changes,
                                                            context.now().monotonic, reads);
    if (!turn) {
        return turn.error();
    }
    operation.session = *turn;
    operation.incremental = true;
    operation.targets().reserve(reads.size());
    for (runtime::SessionRead& read : reads) {
        SessionPartition& partition = read.partition;
        FetchTarget& target = operation.targets().emplace_back();
        if (!by_id) {
            // Partitions of a topic often follow each other.
            if (operation.owned_names.empty() || *operation.owned_names.back() != partition.name.topic) {
                operation.owned_names.push_back(std::make_unique<std::string>(std::move(partition.name.topic)));
            }
            target.topic_name = *operation.owned_names.back();
        }
        target.topic_id = partition.name.topic_id;
        target.index = partition.name.partition.value;
        target.current_leader_epoch = partition.current_leader_epoch;
        target.fetch_offset = partition.fetch_offset;
        target.last_fetched_epoch = partition.last_fetched_epoch;
        target.max_bytes = partition.max_bytes;
        target.slot = read.slot;
        target.sent_high_watermark = partition.sent_high_watermark;
        target.sent_log_start_offset = partition.sent_log_start_offset;
        resolve(context, table, operation, target, by_id);
    }
    return ErrorCode::none;
}

/// Fills the targets, by the request or by its session, with what they are in the table. A top-level error otherwise.
ErrorCode take_targets(runtime::RequestContext& context, const runtime::TopicTable& table, const FetchRequest& request,
                       FetchOperation& operation, bool by_id) {
    if (request.session_epoch != 0 && request.session_epoch != kFinalEpoch) {
        return take_incremental_request(context, table, request, operation, by_id);
    }
    take_full_request(context, table, request, operation, by_id);
    if (context.version() >= kSessionsSince) {
        if (request.session_epoch == 0) {
            begin_session(context, request, operation, by_id);
        } else if (request.session_id != 0) {
            context.services.fetch_sessions.end(request.session_id);
        }
    }
    return ErrorCode::none;
}

/// `table`: where its targets were found.
void park(runtime::RequestContext& context, const runtime::TopicTable& table, std::unique_ptr<FetchOperation> operation,
          std::int32_t max_wait_ms) {
    operation->pending = context.park();
    operation->table = context.turn.keep(table);
    operation->own_names();
    operation->deadline = context.now().monotonic + max_wait_ms + fetch::grace_ms(max_wait_ms);
    const runtime::FetchWait wait = operation->wait();
    context.client.parked_fetch = context.turn.park_fetch(std::move(operation), wait);
}

}  // namespace

void fetch(runtime::RequestContext& context) {
    const FetchRequest* request = context.decode<FetchRequest>();
    if (request == nullptr) {
        return;
    }
    note_consumer(context);
    const bool by_id = context.version() >= 13;
    auto operation = std::make_unique<FetchOperation>(context.services);
    operation->version = context.version();
    operation->usage = context.principal().usage();
    operation->read_committed = request->isolation_level == 1;
    operation->leader_id = context.services.placement.own();
    operation->from_follower = (context.version() >= 15 ? request->replica_state.replica_id : request->replica_id) >= 0;
    operation->max_bytes = std::min(request->max_bytes, context.services.config->fetch_max_bytes);
    if (context.services.throttles.limits(runtime::Throttled::fetched_bytes)) [[unlikely]] {
        // More could never be had without waiting.
        operation->throttled_client = {context.session().principal, std::string(context.client_id)};
        operation->max_bytes = std::min(operation->max_bytes, context.services.throttles.most_bytes_at_once(
                                                                  runtime::Throttled::fetched_bytes, context.quota_client()));
    }
    if (context.services.capacity.is_limited()) [[unlikely]] {
        if (const std::int64_t at_once = context.services.capacity.outgoing_at_once().bytes; at_once > 0) {
            operation->max_bytes = static_cast<std::int32_t>(std::min<std::int64_t>(operation->max_bytes, at_once));
        }
    }
    operation->min_bytes = std::min(request->min_bytes, operation->max_bytes);

    // One for all of them: the topics may change at any moment, and another reactor publishes the next table.
    const runtime::TopicTable& table = context.turn.topics();
    if (const ErrorCode error = take_targets(context, table, *request, *operation, by_id); error != ErrorCode::none) {
        FetchResponse response;
        response.error_code = error;
        context.reply(response);
        return;
    }
    if (std::ranges::any_of(operation->targets(), [](const FetchTarget& target) { return target.watched_topic != nullptr; })) {
        operation->client = client_identity(context);
        operation->connection = context.client.id;
        for (const FetchTarget& target : operation->targets()) {
            if (target.watched_topic != nullptr) {
                tell_when_closed(context, target.watched_topic->expansion);
            }
        }
    }
    operation->read(context.turn);
    if (request->max_wait_ms <= 0 || operation->must_answer_now()) {
        operation->pending = context.defer();
        operation->send(context.turn);
        return;
    }
    park(context, table, std::move(operation), request->max_wait_ms);
}

}  // namespace partita::handlers
