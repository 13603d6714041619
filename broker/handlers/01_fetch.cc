// Fetch: v4-18.
//
//   v5: log start offset; v7: sessions (KIP-227); v9: leader epoch of the client; v11: rack; v12: flexible,
//   last fetched epoch; v13: topics by id; v15, v17, v18: fields of followers, which this broker has none of; v16: the
//   current leader beside an error that says that it is another one.
//
// The byte budget is spent on the partitions in the order of the request (or session). The first one with
// data gives its first batch whole, whatever the limits. Without enough data the fetch waits, and what it
// answers is decided by reading again. A client above its quota gets an empty answer instead, at once (KIP-219).

#include <sys/random.h>

#include <algorithm>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/fetch_operation.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/insight/reader_observer.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/partitions/turn.h"
#include "broker/runtime/partitions/turns.h"
#include "protocol/assert.h"
#include "protocol/messages/01_fetch.h"

namespace partita::handlers {
namespace {

using fetch::SessionPartition;

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

void resolve(runtime::RequestContext& context, FetchTarget& target, bool by_id) {
    const TopicLookup topic = find_topic(context, target.topic_name, target.topic_id, by_id, access::kReadTopic);
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
    if (runtime::ReaderObserver::watches(*topic.state)) [[unlikely]] {
        context.services.readers.on_fetch(context.turn.reactor().index(), *topic.state, context.client_id, context.client,
                                                  PartitionIndex{target.index}, target.fetch_offset, context.now().wall);
    }
    if (!by_id) {
        target.topic_name = topic.state->topic->name;
    }
}

FetchTarget target_of(runtime::RequestContext& context, const SessionPartition& partition, bool by_id) {
    FetchTarget target;
    target.topic_name = partition.name.topic;
    target.topic_id = partition.name.topic_id;
    target.index = partition.name.partition.value;
    target.current_leader_epoch = partition.current_leader_epoch;
    target.fetch_offset = partition.fetch_offset;
    target.last_fetched_epoch = partition.last_fetched_epoch;
    target.max_bytes = partition.max_bytes;
    resolve(context, target, by_id);
    return target;
}

std::int32_t random_session_id() {
    std::int32_t id = 0;
    while (id <= 0) {
        const ssize_t filled = ::getrandom(&id, sizeof id, 0);
        PARTITA_ASSERT(filled == sizeof id, "the kernel gives four random bytes");
        id &= 0x7fffffff;
    }
    return id;
}

/// Fills the targets from a request that names all of them.
void take_full_request(runtime::RequestContext& context, const FetchRequest& request, FetchOperation& operation,
                       bool by_id) {
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
            resolve(context, target, by_id);
        }
    }
}

/// Serves the session part of a request: which partitions are meant. A top-level error otherwise.
ErrorCode take_session(runtime::RequestContext& context, const FetchRequest& request, FetchOperation& operation,
                       bool by_id) {
    runtime::Services& services = context.services;
    const Instant now = context.now().monotonic;
    if (request.session_epoch == 0 || request.session_epoch == kFinalEpoch) {
        take_full_request(context, request, operation, by_id);
        if (context.version() < 7) {
            return ErrorCode::none;
        }
        const std::scoped_lock lock(services.fetch_sessions.mutex);
        if (request.session_id != 0) {
            services.fetch_sessions.sessions.remove(request.session_id);
        }
        if (request.session_epoch == kFinalEpoch) {
            return ErrorCode::none;
        }
        operation.session = services.fetch_sessions.sessions.create(random_session_id(), by_id, operation.targets().size(), now);
        if (operation.session) {
            operation.session_id = operation.session->id();
            std::size_t i = 0;
            for (const FetchRequest::FetchTopic& topic : request.topics) {
                for (const FetchRequest::FetchPartition& partition : topic.partitions) {
                    operation.targets()[i++].in_session = operation.session->put(session_partition(topic, partition, by_id));
                }
            }
            operation.session_epoch = operation.session->next_epoch();
        }
        return ErrorCode::none;
    }
    const std::scoped_lock lock(services.fetch_sessions.mutex);
    const fetch::FetchSessions::Found found =
        services.fetch_sessions.sessions.use(request.session_id, request.session_epoch, by_id, now);
    if (found.error != ErrorCode::none) {
        return found.error;
    }
    operation.session = found.session;
    operation.session_id = found.session->id();
    operation.incremental = true;
    for (const FetchRequest::ForgottenTopic& topic : request.forgotten_topics_data) {
        for (const std::int32_t partition : topic.partitions) {
            found.session->forget({.topic_id = topic.topic_id,
                                   .topic = by_id ? std::string() : std::string(topic.topic),
                                   .partition = PartitionIndex{partition}});
        }
    }
    for (const FetchRequest::FetchTopic& topic : request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            found.session->put(session_partition(topic, partition, by_id));
        }
    }
    operation.session_epoch = found.session->next_epoch();
    operation.targets().reserve(found.session->partition_count());
    for (auto partition = found.session->partitions().begin(); partition != found.session->partitions().end();
         ++partition) {
        operation.targets().push_back(target_of(context, *partition, by_id));
        operation.targets().back().in_session = partition;
        if (!operation.targets().back().partition) {
            // The name belongs to the session, which others may change meanwhile.
            operation.owned_names.push_back(std::make_unique<std::string>(partition->name.topic));
            operation.targets().back().topic_name = *operation.owned_names.back();
        }
    }
    return ErrorCode::none;
}

void park(runtime::RequestContext& context, std::unique_ptr<FetchOperation> operation, std::int32_t max_wait_ms) {
    operation->pending = context.park();
    operation->table = context.turn.shared_topics();
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
    operation->read_committed = request->isolation_level == 1;
    operation->leader_id = context.services.node_id;
    operation->from_follower = (context.version() >= 15 ? request->replica_state.replica_id : request->replica_id) >= 0;
    operation->max_bytes = std::min(request->max_bytes, context.services.config->fetch_max_bytes);
    if (context.services.throttles.limits(runtime::Throttled::fetched_bytes)) [[unlikely]] {
        // More could never be had without waiting.
        operation->throttled_client = {context.session().principal, std::string(context.client_id)};
        operation->max_bytes = std::min(
            operation->max_bytes, context.services.throttles.most_bytes_at_once(runtime::Throttled::fetched_bytes, context.quota_client()));
    }
    operation->min_bytes = std::min(request->min_bytes, operation->max_bytes);

    if (const ErrorCode error = take_session(context, *request, *operation, by_id); error != ErrorCode::none) {
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
    park(context, std::move(operation), request->max_wait_ms);
}

}  // namespace partita::handlers
