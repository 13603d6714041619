// CreatePartitions: v0-3.
//
//   v2: flexible; v3: quota errors.
//
// Metadata has the new partitions before the reply leaves. Existing partitions keep their leader epochs, and classic groups
// notice the growth when their leader refreshes its metadata, as with Kafka. In modes other than faithful
// (partita.expansion.mode) the broker may refuse an expansion with POLICY_VIOLATION, also with validate_only. In these modes, an
// accepted validate_only request carries the verdict in its error_message.

#include "protocol/messages/37_create_partitions.h"

#include <algorithm>
#include <limits>

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/growth/expansion_worker.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(create_partitions, growth, access::kAlterTopic);

namespace {

constexpr std::int16_t kRefusedByQuotaSince = 3;

using TopicResult = CreatePartitionsResponse::CreatePartitionsTopicResult;

/// Runs on the thread that added the partitions.
runtime::Reply encode(const runtime::KafkaCall& pending, const runtime::ExpansionReply& answer) {
    std::vector<TopicResult> results;
    results.reserve(answer.reply.topics.size());
    for (const catalog::ExpandedTopic& topic : answer.reply.topics) {
        TopicResult& result = results.emplace_back();
        result.name = topic.name;
        result.error_code = answer.is_not_written ? ErrorCode::kafka_storage_error : topic.error.code;
        result.error_message = answer.is_not_written ? std::optional<std::string_view>(kCatalogNotWritten)
                                                     : std::optional<std::string_view>(topic.error.message);
    }
    CreatePartitionsResponse response;
    response.results = results;
    return runtime::encode_reply(pending, response);
}

runtime::ExpansionRequest owned_request(const runtime::RequestContext& context, const CreatePartitionsRequest& request) {
    runtime::ExpansionRequest wanted;
    for (const CreatePartitionsRequest::CreatePartitionsTopic& topic : request.topics) {
        if (!authorize(context, access::kAlterTopic, topic.name)) {
            constexpr ErrorCode kRefused = ErrorCode::topic_authorization_failed;
            wanted.refused.push_back({std::string(topic.name), {kRefused, std::nullopt}});
            continue;
        }
        runtime::ExpansionRequest::Wish& wish = wanted.wishes.emplace_back();
        wish.name = topic.name;
        wish.count = topic.count;
        if (!topic.assignments.is_null()) {
            wish.assignments.emplace();
            for (const CreatePartitionsRequest::CreatePartitionsAssignment& assignment : topic.assignments) {
                std::vector<BrokerId>& brokers = wish.assignments->emplace_back();
                for (const std::int32_t broker : assignment.broker_ids) {
                    brokers.push_back(BrokerId{broker});
                }
            }
        }
    }
    const std::string_view address = context.client.address();
    wanted.validate_only = request.validate_only;
    wanted.principal = context.session().principal;
    wanted.client_id = context.client_id;
    wanted.may_be_refused_by_quota = mutating_client(context, kRefusedByQuotaSince).may_be_refused;
    wanted.requested_by = {.client_id = std::string(context.client_id),
                           .software_name = context.client.software_name(),
                           .software_version = context.client.software_version(),
                           .address = std::string(address),
                           .principal = context.principal().text()};
    wanted.received = context.now().monotonic;
    wanted.timeout_ms = request.timeout_ms;
    return wanted;
}

}  // namespace

void create_partitions(runtime::RequestContext& context, const runtime::GrowthServices& growth) {
    const CreatePartitionsRequest* request = context.decode<CreatePartitionsRequest>();
    if (request == nullptr) {
        return;
    }
    if (has_no_time(request->timeout_ms)) {
        ArenaVector<TopicResult> results(context.arena(), request->topics.count());
        for (const CreatePartitionsRequest::CreatePartitionsTopic& topic : request->topics) {
            results.push_back({.name = topic.name, .error_code = ErrorCode::request_timed_out, .error_message = std::nullopt});
        }
        CreatePartitionsResponse response;
        response.results = results;
        context.reply(response);
        return;
    }
    runtime::ExpansionRequest wanted = owned_request(context, *request);
    wanted.answer = [pending = context.park(), &turns = context.services.turns](runtime::ExpansionReply answer) mutable {
        pending.throttle_ms =
            std::max(pending.throttle_ms, static_cast<std::int32_t>(std::min<std::int64_t>(
                                              answer.reply.throttle_ms, std::numeric_limits<std::int32_t>::max())));
        turns.deliver(pending.target, encode(pending, answer));
    };
    growth.worker.submit(std::move(wanted));
}

}  // namespace partita::handlers
