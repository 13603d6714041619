// ShareFetch: v1-2 (KIP-932).
//
//   v2: the acquire mode (KIP-1206), and renewal of locks (KIP-1222).
//
// The request acknowledges records, then reads from the partitions of the member's share session. Without enough records it waits
// until an append, or records that others give back, or its deadline.

#include <algorithm>
#include <set>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/fetch/fetch_waiters.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_acknowledgements.h"
#include "broker/handlers/share_fetch_answer.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/client_share_sessions.h"
#include "broker/runtime/coordinators/share_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(share_fetch, coordinators.share, access::kReadGroup, access::kReadTopic);

namespace {

using Request = ShareFetchRequest;
using Response = ShareFetchResponse;

constexpr std::int16_t kRenewalSince = 2;

/// Answers a client for which there is no share session after the time that its fetch would have waited, so that it does not ask
/// again at once.
class LateRefusal final : public logs::WaitingFetch {
  public:
    LateRefusal(logs::Turns& turns, runtime::KafkaCall pending) : turns_(turns), pending_(std::move(pending)) {}

    void complete(logs::Turn&) override {
        turns_.deliver(pending_.target,
                       runtime::encode_reply(pending_, Response{.error_code = ErrorCode::share_session_limit_reached}));
    }
    std::optional<logs::FetchWait> look(logs::Turn& turn) override {
        complete(turn);
        return std::nullopt;
    }

  private:
    logs::Turns& turns_;
    runtime::KafkaCall pending_;
};

bool has_acknowledgements(const Request& request) {
    return std::ranges::any_of(request.topics, [](const Request::FetchTopic& topic) {
        return std::ranges::any_of(topic.partitions, [](const Request::FetchPartition& partition) {
            return partition.acknowledgement_batches.count() > 0;
        });
    });
}

ErrorCode refusal(runtime::RequestContext& context, const Request& request) {
    if (!share_groups_are_enabled(context.turn)) {
        return ErrorCode::unsupported_version;
    }
    if (!request.group_id) {
        return ErrorCode::invalid_request;
    }
    if (!authorize(context, access::kReadGroup, *request.group_id)) {
        return ErrorCode::group_authorization_failed;
    }
    // A request that renews locks must not wait for records: the locks might end meanwhile.
    const bool wants_records =
        request.max_bytes != 0 || request.min_bytes != 0 || request.max_records != 0 || request.max_wait_ms != 0;
    const bool renews_and_reads = context.version() >= kRenewalSince && request.is_renew_ack && wants_records;
    return is_share_member_id(request.member_id) && !renews_and_reads ? ErrorCode::none : ErrorCode::invalid_request;
}

/// In the order of the request, each once.
std::vector<share::FetchedPartition> asked_partitions(const Request& request) {
    std::vector<share::FetchedPartition> asked;
    std::set<share::FetchedPartition> seen;
    for (const Request::FetchTopic& topic : request.topics) {
        for (const Request::FetchPartition& partition : topic.partitions) {
            const share::FetchedPartition name{topic.topic_id, {partition.partition_index}};
            if (seen.insert(name).second) {
                asked.push_back(name);
            }
        }
    }
    return asked;
}

/// The partitions to read, from the session or from the request that begins one. The error is that of the whole answer.
std::expected<std::vector<share::SessionPartition>, ErrorCode> take_session(runtime::RequestContext& context,
                                                                            const runtime::ShareServices& services,
                                                                            const Request& request) {
    const std::string_view group_id = *request.group_id;
    const std::string_view member_id = *request.member_id;
    const std::vector<share::FetchedPartition> asked = asked_partitions(request);
    std::vector<share::FetchedPartition> forgotten;
    for (const Request::ForgottenTopic& topic : request.forgotten_topics_data) {
        for (const std::int32_t partition : topic.partitions) {
            forgotten.push_back({topic.topic_id, {partition}});
        }
    }
    const auto max = static_cast<std::size_t>(services.config->group_share_max_share_sessions);
    using Taken = std::expected<std::vector<share::SessionPartition>, ErrorCode>;
    return services.sessions.with([&](share::ShareSessions& sessions) -> Taken {
        if (request.share_session_epoch == share::kFinalShareEpoch) {
            return sessions.has(group_id, member_id) ? Taken() : std::unexpected(ErrorCode::share_session_not_found);
        }
        if (request.share_session_epoch != share::kInitialShareEpoch) {
            return sessions.go_on(group_id, member_id, request.share_session_epoch, asked, forgotten);
        }
        if (has_acknowledgements(request)) {
            return std::unexpected(ErrorCode::invalid_request);
        }
        if (!sessions.begin(group_id, member_id, context.client.id.value, asked, max)) {
            return std::unexpected(ErrorCode::share_session_limit_reached);
        }
        context.client.has_share_session = true;
        std::vector<share::SessionPartition> begun;
        for (const share::FetchedPartition& partition : asked) {
            begun.push_back({.name = partition, .must_answer = true});
        }
        return begun;
    });
}

/// Looks the partitions up, and adds them to the answer, beginning with another one each time.
void add_partitions(runtime::RequestContext& context, const runtime::ShareServices& services, const logs::TopicTable& table,
                    std::vector<share::SessionPartition> partitions, std::int32_t epoch, ShareFetchAnswer& answer) {
    if (epoch > share::kInitialShareEpoch && !partitions.empty()) {
        const auto first = static_cast<std::size_t>(epoch) % partitions.size();
        std::ranges::rotate(partitions, partitions.begin() + static_cast<std::ptrdiff_t>(first));
    }
    answer.reserve(partitions.size());
    for (const share::SessionPartition& partition : partitions) {
        logs::Read read;
        read.index = partition.name.partition;
        const logs::TopicLookup topic =
            look_up_topic(context, table, {.name = {}, .id = partition.name.topic_id, .is_id = true}, access::kReadTopic);
        read.lookup = topic.outcome;
        if (topic.topic != nullptr) {
            const logs::PartitionLookup found =
                logs::find_partition(*topic.topic, read.index, services.placement, context.listener().node);
            read.lookup = found.outcome;
            if (found.partition != nullptr && found.outcome == logs::Outcome::ok) {
                read.topic = topic.topic;
                read.partition = *found.partition;
            }
        }
        answer.add_partition(partition.name.topic_id, partition.must_answer, std::move(read), context.turn);
    }
}

void answer_or_wait(runtime::RequestContext& context, const runtime::ShareServices& services, const logs::TopicTable& table,
                    std::unique_ptr<ShareFetchAnswer> answer, std::int32_t max_wait_ms) {
    const std::uint64_t changes = services.shares.changes();
    answer->read_planned(context.turn);
    if (max_wait_ms <= 0 || answer->is_due()) {
        answer->answer_now(context.defer(), context.turn);
        return;
    }
    const Instant deadline = context.turn.machine_now() + max_wait_ms + fetch::grace_ms(max_wait_ms);
    const logs::FetchWait wait = answer->begin_to_wait(context.park(), context.turn.keep(table), deadline);
    context.client.parked_fetch = context.turn.park_fetch(std::move(answer), wait);
    if (services.shares.changes() != changes) {
        // Records may have been given back after the plan and before anybody knew that this fetch waits.
        for (const logs::WaitFor& partition : wait.partitions) {
            context.turn.on_change(partition.partition->key);
        }
    }
}

}  // namespace

void share_fetch(runtime::RequestContext& context, const runtime::ShareServices& services) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    if (const ErrorCode refused = refusal(context, *request); refused != ErrorCode::none) {
        context.reply(Response{.error_code = refused});
        return;
    }
    auto partitions = take_session(context, services, *request);
    if (!partitions) {
        if (partitions.error() == ErrorCode::share_session_limit_reached && request->max_wait_ms > 0) {
            context.client.parked_fetch = context.turn.park_fetch(
                std::make_unique<LateRefusal>(services.turns, context.park()),
                {.partitions = {}, .missing_bytes = 1, .deadline = context.turn.machine_now() + request->max_wait_ms});
            return;
        }
        context.reply(Response{.error_code = partitions.error()});
        return;
    }
    ShareFetchAnswer::Asked asked{
        .group_id = std::string(*request->group_id),
        .member = std::make_shared<const std::string>(*request->member_id),
        .session_epoch = request->share_session_epoch,
        .mode = request->share_acquire_mode == 1 ? share::AcquireMode::record_limit : share::AcquireMode::batch_optimized,
        .max_records = request->max_records,
        .batch_size = request->batch_size,
        .settings = share_settings(context.turn, services.config, *request->group_id)};
    const bool is_renewal = context.version() >= kRenewalSince && request->is_renew_ack;
    std::vector<Acknowledged> acknowledged;
    if (has_acknowledgements(*request)) {
        acknowledged = acknowledge(context, services,
                                   {.group_id = asked.group_id,
                                    .member_id = *asked.member,
                                    .limits = asked.settings.limits,
                                    .knows_renewal = context.version() >= kRenewalSince,
                                    .is_renewal = request->is_renew_ack},
                                   request->topics);
    }
    const bool is_final = request->share_session_epoch == share::kFinalShareEpoch;
    if (is_final) {
        give_back(context.turn, services, services.sessions.with([&](share::ShareSessions& sessions) {
            return sessions.end(asked.group_id, *asked.member);
        }));
    }
    const logs::ReadTerms terms{.min_bytes = request->min_bytes,
                                .max_bytes = std::min(request->max_bytes, services.config->fetch_max_bytes),
                                .is_committed = asked.settings.is_committed,
                                .is_first = !context.client.noted_consumer};
    auto answer = std::make_unique<ShareFetchAnswer>(services,
                                                     logs::Client{.connection = &context.client,
                                                                  .connection_id = context.client.id.value,
                                                                  .client_id = context.client_id,
                                                                  .usage = context.principal().usage()},
                                                     terms, std::move(asked));
    answer->set_acknowledged(std::move(acknowledged));
    answer->admit(context.turn);
    const bool reads = !is_final && !is_renewal && request->max_records > 0 && request->max_bytes > 0;
    const logs::TopicTable& table = context.turn.topics();
    if (reads) {
        add_partitions(context, services, table, std::move(*partitions), request->share_session_epoch, *answer);
    }
    answer_or_wait(context, services, table, std::move(answer), reads ? request->max_wait_ms : 0);
}

}  // namespace partita::handlers
