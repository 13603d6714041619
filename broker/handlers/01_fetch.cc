// Fetch: v4-18.
//
//   v5: log start offset; v7: sessions (KIP-227); v9: leader epoch of the client; v11: rack; v12: flexible, last fetched epoch;
//   v13: topics by id; v15, v17, v18: fields of followers (this broker has none); v16: the leader, beside errors about it.
//
// The request, or its session, becomes a list of reads (logs/read_request.h). Without enough data the fetch waits and then reads
// again for its answer. A client above its quota gets an empty answer at once instead (KIP-219).

#include <algorithm>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/fetch_answer.h"
#include "broker/handlers/record_handlers.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/lookup.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_fetch_sessions.h"
#include "protocol/messages/01_fetch.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(fetch, records, access::kReadTopic, access::kClusterAction);

namespace {

using fetch::SessionPartition;
using logs::Outcome;

constexpr std::int16_t kSessionsSince = 7;
constexpr std::int16_t kReadsFollowersSince = 11;
constexpr std::int16_t kNamesTopicsByIdSince = 13;
constexpr std::int16_t kFollowersSayMoreSince = 15;
constexpr std::int32_t kFinalEpoch = -1;

/// A negative epoch means that the client does not know it.
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

/// One Fetch request during the look-up of its targets. All look-ups use one table: topics may change at any moment, and another
/// reactor may publish the next table.
struct Targets {
    runtime::ClientRequest& context;
    const runtime::RecordServices& services;
    const FetchRequest& request;
    const logs::TopicTable& table;
    FetchAnswer& answer;
    bool are_by_id;
    /// The session of an incremental request.
    fetch::SessionTurn session;
    /// The names that the session does not know yet. The partitions of a topic often follow each other, and share the name.
    std::vector<fetch::SessionTopicName> new_names;
};

/// Finds the name of a topic for the session, which knows the topic only by its id.
void learn_topic_name(Targets& targets, fetch::SessionSlot slot, const TopicId& id) {
    const logs::TopicState* topic = targets.table.find(id);
    if (topic == nullptr) {
        return;
    }
    const std::string& name = topic->topic->name;
    const bool is_shared = !targets.new_names.empty() && *targets.new_names.back().name == name;
    targets.new_names.push_back(
        {.slot = slot, .name = is_shared ? targets.new_names.back().name : std::make_shared<const std::string>(name)});
}

/// The outcome for a partition whose topic has gone, if the session knows the name that it had: it is that of a request by name.
/// Kafka's session keeps the name too, and most clients only look again for a topic of which they are told so.
Outcome look_up_former_topic(Targets& targets, const FetchPlace& place, PartitionIndex index) {
    const fetch::TopicName name = targets.services.fetch_sessions.topic_name(targets.session, place.slot);
    if (name == nullptr) {
        return Outcome::unknown_topic_id;
    }
    const logs::TopicLookup topic =
        look_up_topic(targets.context, targets.table, {.name = *name, .id = {}, .is_id = false}, access::kReadTopic);
    if (topic.topic == nullptr) {
        return topic.outcome;
    }
    const logs::PartitionLookup partition = logs::find_partition(*topic.topic, index);
    return partition.outcome == Outcome::ok ? Outcome::inconsistent_topic_id : partition.outcome;
}

/// Looks up the partition and adds it to the answer's targets. `is_named`: the session knows the name of the topic of an id.
void add_target(Targets& targets, FetchPlace place, logs::Read read, bool is_named = false) {
    runtime::ClientRequest& context = targets.context;
    if (targets.answer.terms().is_follower && !authorize_cluster(context, access::kClusterAction)) {
        read.lookup = Outcome::not_authorized;
        return targets.answer.add_target(place, std::move(read), context.turn);
    }
    const logs::TopicLookup topic = look_up_topic(
        context, targets.table, {.name = place.topic_name, .id = place.topic_id, .is_id = targets.are_by_id}, access::kReadTopic);
    read.lookup = topic.outcome;
    if (is_named && topic.outcome == Outcome::unknown_topic_id) {
        read.lookup = look_up_former_topic(targets, place, read.index);
    }
    if (topic.topic != nullptr) {
        const logs::PartitionLookup partition =
            logs::find_partition(*topic.topic, read.index, targets.services.placement, context.listener().node);
        // A consumer may also read from a follower (KIP-392).
        read.is_led_here = partition.outcome != Outcome::not_led_here ||
                           (context.version() >= kReadsFollowersSince && !targets.answer.terms().is_follower &&
                            targets.services.placement.is_held_at(context.listener().node, topic.topic->topic->id, read.index));
        read.lookup = partition.outcome == Outcome::not_led_here ? Outcome::ok : partition.outcome;
        if (partition.outcome == Outcome::ok && !targets.request.rack_id.empty() && !targets.answer.terms().is_follower) {
            place.preferred_replica = targets.services.placement.preferred_replica(
                context.listener().node, topic.topic->topic->id, read.index, targets.request.rack_id);
        }
        if (partition.partition != nullptr) {
            read.topic = topic.topic;
            read.partition = *partition.partition;
            if (!targets.are_by_id) {
                // This name lives longer than the request's.
                place.topic_name = topic.topic->topic->name;
            }
        }
    }
    targets.answer.add_target(place, std::move(read), context.turn);
}

/// Takes the targets of a request that names all of them.
void take_full_request(Targets& targets) {
    std::size_t count = 0;
    for (const FetchRequest::FetchTopic& topic : targets.request.topics) {
        count += topic.partitions.count();
    }
    targets.answer.reserve_targets(count);
    for (const FetchRequest::FetchTopic& topic : targets.request.topics) {
        FetchPlace place;
        place.topic_name = targets.are_by_id ? std::string_view() : topic.topic;
        place.topic_id = targets.are_by_id ? topic.topic_id : TopicId{};
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            logs::Read read;
            read.index = PartitionIndex{partition.partition};
            read.current_leader_epoch = epoch_to_check(partition.current_leader_epoch);
            read.from = Offset{partition.fetch_offset};
            read.last_fetched_epoch = LeaderEpoch{partition.last_fetched_epoch};
            read.max_bytes = partition.partition_max_bytes;
            add_target(targets, place, std::move(read));
        }
    }
}

/// Begins a session if the client asked for one and there is room for it.
void begin_session(Targets& targets) {
    std::vector<SessionPartition> asked;
    asked.reserve(targets.answer.target_count());
    for (const FetchRequest::FetchTopic& topic : targets.request.topics) {
        for (const FetchRequest::FetchPartition& partition : topic.partitions) {
            asked.push_back(session_partition(topic, partition, targets.are_by_id));
        }
    }
    const auto begun = targets.services.fetch_sessions.begin(targets.request.session_id, targets.are_by_id, asked,
                                                             targets.context.now().monotonic);
    if (!begun) {
        return;
    }
    targets.answer.begin_session(begun->turn, begun->slots);
    if (targets.are_by_id) {
        for (std::size_t i = 0; i < asked.size(); ++i) {
            learn_topic_name(targets, begun->slots[i], asked[i].name.topic_id);
        }
        targets.services.fetch_sessions.name_topics(begun->turn, targets.new_names);
    }
}

/// The changes that an incremental request makes to its session.
void read_changes(const FetchRequest& request, bool by_id, runtime::SessionChanges& changes) {
    changes.forgotten.clear();
    changes.asked.clear();
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
}

/// Applies the request's changes to its session, then takes all targets of the session. Returns a top-level error if the session
/// refuses the request.
ErrorCode take_incremental_request(Targets& targets) {
    // Thread-local, so that the next request allocates no memory.
    thread_local runtime::SessionChanges changes;
    thread_local std::vector<runtime::SessionRead> reads;
    read_changes(targets.request, targets.are_by_id, changes);
    reads.clear();
    const auto turn = targets.services.fetch_sessions.go_on(targets.request.session_id, targets.request.session_epoch,
                                                            targets.are_by_id, changes, targets.context.now().monotonic, reads);
    if (!turn) {
        return turn.error();
    }
    targets.session = *turn;
    if (turn->session_id != 0) {
        targets.answer.go_on_with_session(*turn);
    }
    targets.answer.reserve_targets(reads.size());
    for (runtime::SessionRead& asked : reads) {
        SessionPartition& partition = asked.partition;
        FetchPlace place;
        if (!targets.are_by_id) {
            place.topic_name = targets.answer.own_name(std::move(partition.name.topic));
        }
        place.topic_id = partition.name.topic_id;
        place.slot = asked.slot;
        place.sent_high_watermark = partition.sent_high_watermark;
        place.sent_log_start_offset = partition.sent_log_start_offset;
        logs::Read read;
        read.index = partition.name.partition;
        read.current_leader_epoch = partition.current_leader_epoch;
        read.from = partition.fetch_offset;
        read.last_fetched_epoch = partition.last_fetched_epoch;
        read.max_bytes = partition.max_bytes;
        if (targets.are_by_id && !asked.has_topic_name) {
            learn_topic_name(targets, place.slot, place.topic_id);
        }
        add_target(targets, place, std::move(read), asked.has_topic_name);
    }
    if (!targets.new_names.empty()) {
        targets.services.fetch_sessions.name_topics(*turn, targets.new_names);
    }
    return ErrorCode::none;
}

/// Takes the targets from the request or from its session. Returns a top-level error if the session refuses the request.
ErrorCode take_targets(Targets& targets) {
    const FetchRequest& request = targets.request;
    if (request.session_epoch != 0 && request.session_epoch != kFinalEpoch) {
        return take_incremental_request(targets);
    }
    take_full_request(targets);
    if (targets.context.version() >= kSessionsSince) {
        if (request.session_epoch == 0) {
            begin_session(targets);
        } else if (request.session_id != 0) {
            targets.services.fetch_sessions.end(request.session_id);
        }
    }
    return ErrorCode::none;
}

FetchAnswer::Asked asked_by(const runtime::ClientRequest& context, const runtime::RecordServices& services,
                            const FetchRequest& request) {
    const std::int32_t replica =
        context.version() >= kFollowersSayMoreSince ? request.replica_state.replica_id : request.replica_id;
    return {.version = context.version(),
            .terms = {.min_bytes = request.min_bytes,
                      .max_bytes = std::min(request.max_bytes, services.config->fetch_max_bytes),
                      .is_committed = request.isolation_level == 1,
                      .is_follower = replica >= 0,
                      .is_first = !context.client.noted_consumer},
            .listener = context.client.listener.get()};
}

}  // namespace

void fetch_records(runtime::ClientRequest& context, const runtime::RecordServices& services) {
    const FetchRequest* request = context.decode<FetchRequest>();
    if (request == nullptr) {
        return;
    }
    auto answer = std::make_unique<FetchAnswer>(
        FetchAnswer::Parts{services.reader, services.turns, services.fetch_sessions, services.placement, services.config},
        logs::Client{.connection = &context.client,
                     .connection_id = context.client.id.value,
                     .client_id = context.client_id,
                     .usage = context.principal().usage()},
        asked_by(context, services, *request));
    answer->admit(context.turn);
    Targets targets{context, services, *request, context.turn.topics(), *answer, context.version() >= kNamesTopicsByIdSince,
                    {},      {}};
    if (const ErrorCode error = take_targets(targets); error != ErrorCode::none) {
        FetchResponse response;
        response.error_code = error;
        context.reply(response);
        return;
    }
    answer->read(context.turn);
    if (request->max_wait_ms <= 0 || answer->is_due() || answer->names_preferred_replica()) {
        answer->answer_now(context.defer(), context.turn);
        return;
    }
    const Instant deadline = context.turn.machine_now() + request->max_wait_ms + fetch::grace_ms(request->max_wait_ms);
    const logs::FetchWait wait = answer->begin_to_wait(context.park(), context.turn.keep(targets.table), deadline);
    context.client.parked_fetch = context.turn.park_fetch(std::move(answer), wait);
}

void fetch(runtime::RequestContext& context, const runtime::RecordServices& services) { fetch_records(context, services); }

}  // namespace partita::handlers
