// Produce: v3-13.
//
//   v8: errors of single records; v9: flexible; v10: the leader, for a client at the wrong node (KIP-951); v12: implicit
//   AddPartitionsToTxn; v13: topics by id only.
//
// With acks=0 the client gets no answer; if a partition fails, the broker closes the connection. The log service
// (logs/appender.h) handles the batches. It refuses or stages each batch. It reports the result at the end of the loop turn, or
// after the sync if flush.messages requires one.

#include <algorithm>
#include <string>
#include <utility>

#include "broker/handlers/authorize.h"
#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/produce_response.h"
#include "broker/handlers/record_handlers.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/appender.h"
#include "broker/logs/lookup.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "protocol/assert.h"
#include "protocol/messages/00_produce.h"
#include "protocol/recycled_blocks.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(produce, records, access::kWriteTransactionalId, access::kWriteTopic);

namespace {

using logs::Outcome;

constexpr std::string_view kAdminClientId = "__admin_client";

constexpr std::int16_t kZstdSince = 7;
constexpr std::int16_t kNamesLeadersSince = 10;
/// From this version on, clients rely on the broker to add partitions to a transaction.
constexpr std::int16_t kAddsPartitionsSince = 12;
constexpr std::int16_t kNamesTopicsByIdSince = 13;

/// Answers a request once its appends are written. Each thread reuses the memory of earlier replies.
class ProduceReply final : public logs::AppendListener {
  public:
    ProduceReply(logs::Turns& turns, const ProduceRequest& request) : turns_(turns), request_(request) {}
    static void* operator new(std::size_t) { return RecycledBlocks<sizeof(ProduceReply)>::take(); }
    static void operator delete(void* memory) { RecycledBlocks<sizeof(ProduceReply)>::give_back(memory); }

    void set_pending(runtime::KafkaCall pending) { pending_ = std::move(pending); }
    /// May be null; lives as long as the request.
    void set_hints(const LeaderHints* hints) { hints_ = hints; }

    void on_written(logs::AppendRequest& appends, logs::Turn& turn) override {
        if (!appends.needs_sync()) {
            turns_.deliver(pending_.target, reply(appends, turn));
            return;
        }
        appends.appender->when_synced(
            appends, [&turns = turns_, target = pending_.target, reply = reply(appends, turn)](bool is_synced) mutable {
                if (!is_synced) {
                    // The device may or may not get the data, so no answer is possible. The broker closes the connection, and the
                    // producer retries.
                    reply = {};
                    reply.close = true;
                }
                turns.deliver(target, std::move(reply));
            });
    }

  private:
    [[nodiscard]] runtime::Reply reply(const logs::AppendRequest& appends, logs::Turn& turn) const {
        if (request_.acks == 0) {
            runtime::Reply nothing;
            nothing.close = appends.has_failed();
            nothing.rest_ms = pending_.throttle_ms;
            return nothing;
        }
        return runtime::encode_reply(pending_, produce_response(request_, appends, pending_.api_version, turn.arena(), hints_));
    }

    logs::Turns& turns_;
    /// Lives in the turn's arena.
    const ProduceRequest& request_;
    const LeaderHints* hints_ = nullptr;
    runtime::KafkaCall pending_;
};

/// The part of the request's bytes as mutable bytes: they are in the connection's read buffer.
MutableBytes part_of(MutableBytes body, Bytes part) {
    if (part.empty()) {
        return {};
    }
    const auto position = static_cast<std::size_t>(part.data() - body.data());
    PARTITA_ASSERT(position <= body.size() && part.size() <= body.size() - position, "records lie in their request");
    return body.subspan(position, part.size());
}

logs::TopicName name_of(const runtime::ClientRequest& context, const ProduceRequest::TopicProduceData& topic) {
    return {.name = topic.name, .id = topic.topic_id, .is_id = context.version() >= kNamesTopicsByIdSince};
}

/// Adds the request's batches to `appends`, in order. Returns true if any batch is transactional.
bool take_batches(runtime::ClientRequest& context, const ProduceRequest& request, logs::AppendRequest& appends) {
    bool has_transactional = false;
    std::uint32_t place = 0;
    for (const ProduceRequest::TopicProduceData& topic : request.topic_data) {
        for (const ProduceRequest::PartitionProduceData& data : topic.partition_data) {
            logs::Append& append = appends.appends.emplace_back();
            append.index = PartitionIndex{data.index};
            append.topic_place = place;
            append.batch = part_of(context.body, data.records.bytes());
            has_transactional = has_transactional || logs::is_transactional(append.batch);
        }
        ++place;
    }
    return has_transactional;
}

/// Calls `visit` with each topic of the request and its batches.
template <class Visit>
void for_each_topic(const ProduceRequest& request, logs::AppendRequest& appends, Visit&& visit) {
    std::size_t next = 0;
    for (const ProduceRequest::TopicProduceData& topic : request.topic_data) {
        visit(topic, std::span(appends.appends).subspan(next, topic.partition_data.count()));
        next += topic.partition_data.count();
    }
}

void look_up(runtime::ClientRequest& context, const runtime::RecordServices& services, const ProduceRequest& request,
             logs::AppendRequest& appends) {
    const logs::TopicTable& table = context.turn.topics();
    for_each_topic(request, appends, [&](const auto& asked, std::span<logs::Append> batches) {
        const logs::TopicLookup topic = look_up_topic(context, table, name_of(context, asked), access::kWriteTopic);
        for (logs::Append& append : batches) {
            append.topic = topic.topic;
            append.outcome = topic.outcome;
            if (topic.topic != nullptr) {
                const logs::PartitionLookup partition =
                    logs::find_partition(*topic.topic, append.index, services.placement, context.listener().node);
                append.outcome = partition.outcome;
                append.partition = partition.partition == nullptr ? nullptr : partition.partition->get();
            }
        }
    });
}

/// Null if every batch came to the right node, or the client would not understand.
const LeaderHints* leader_hints(runtime::ClientRequest& context, const runtime::RecordServices& services,
                                const logs::AppendRequest& appends) {
    const auto is_misled = [](const logs::Append& append) { return append.outcome == Outcome::not_led_here; };
    if (services.placement.plan() == nullptr || context.version() < kNamesLeadersSince ||
        std::ranges::none_of(appends.appends, is_misled)) {
        return nullptr;
    }
    Arena& arena = context.arena();
    const NodeKnowledge known = node_knowledge(context, services);
    ArenaVector<LeaderHint> leaders(arena, appends.appends.size());
    for (const logs::Append& append : appends.appends) {
        leaders.push_back(is_misled(append) ? leader_hint(known, *append.topic, append.index) : LeaderHint());
    }
    return new (arena.allocate_unlimited(sizeof(LeaderHints), alignof(LeaderHints)))
        LeaderHints{.leaders = leaders,
                    .nodes = leader_endpoints<ProduceResponse::NodeEndpoint>(known, arena, {leaders.begin(), leaders.end()})};
}

/// Refuses every partition with the same error.
void reply_refused(runtime::ClientRequest& context, const ProduceRequest& request, const logs::AppendRequest& appends,
                   Outcome outcome) {
    context.throttle(appends.wait_ms);
    if (request.acks == 0) {
        // A client without an answer learns of a failure only from the end of the connection.
        return context.close_connection("the broker refused a produce request without acknowledgement: " +
                                        std::string(error_name(error_code(outcome))));
    }
    context.reply(produce_response(request, appends, context.version(), context.arena()));
}

/// Refuses a client that may not use the transactional id. Looks up the topics anyway, for steps that count by topic.
void refuse_transaction(runtime::ClientRequest& context, const runtime::RecordServices& services, const ProduceRequest& request,
                        logs::AppendRequest& appends) {
    const logs::TopicTable& table = context.turn.topics();
    for_each_topic(request, appends, [&](const auto& asked, std::span<logs::Append> batches) {
        const logs::TopicName name = name_of(context, asked);
        for (logs::Append& append : batches) {
            append.topic = name.is_id ? table.find(name.id) : table.find(name.name);
        }
    });
    services.appender.refuse(context.turn, appends, Outcome::transactional_id_not_authorized);
    reply_refused(context, request, appends, Outcome::transactional_id_not_authorized);
}

bool is_valid_acks(std::int16_t acks) { return acks >= -1 && acks <= 1; }

}  // namespace

void produce_records(runtime::ClientRequest& context, const runtime::RecordServices& services) {
    const ProduceRequest* request = context.decode<ProduceRequest>();
    if (request == nullptr) {
        return;
    }
    logs::AppendRequest& appends = context.turn.append_request();
    appends.client = {.connection = &context.client, .client_id = context.client_id, .usage = context.principal().usage()};
    if (take_batches(context, *request, appends)) {
        if (!request->transactional_id || !authorize(context, access::kWriteTransactionalId, *request->transactional_id)) {
            return refuse_transaction(context, services, *request, appends);
        }
        appends.transaction = {.transactional_id = *request->transactional_id,
                               .adds_partitions = context.version() >= kAddsPartitionsSince};
    }
    look_up(context, services, *request, appends);
    const LeaderHints* const hints = leader_hints(context, services, appends);
    appends.knows_zstd = context.version() >= kZstdSince;
    appends.is_administrators = context.client_id == kAdminClientId;
    appends.is_first = !context.client.noted_producer;
    appends.dismissal = is_valid_acks(request->acks) ? Outcome::ok : Outcome::unknown_acknowledgement;
    appends.waits_for_replicas = request->acks == -1;
    appends.timeout_ms = request->timeout_ms;
    appends.request_bytes = context.request_bytes;
    auto listener = std::make_unique<ProduceReply>(services.turns, *request);
    ProduceReply& reply = *listener;
    reply.set_hints(hints);
    appends.listener = std::move(listener);
    if (!services.appender.append(context.turn, appends)) {
        return reply_refused(context, *request, appends, appends.refusal);
    }
    context.throttle(appends.wait_ms);
    if (request->acks == 0) {
        // No reply can tell this client to wait. So only its bytes count against quotas, and its connection rests.
        context.forget_time();
    }
    reply.set_pending(context.defer());
}

void produce(runtime::RequestContext& context, const runtime::RecordServices& services) { produce_records(context, services); }

}  // namespace partita::handlers
