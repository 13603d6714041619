// CreatePartitions: v0-3.
//
//   v2: flexible; v3: quota errors.
//
// The new partitions are in Metadata before the reply leaves. Existing partitions keep their leader epochs,
// and classic groups notice when their leader refreshes its metadata, as with Kafka. In modes other than faithful
// (partita.expansion.mode) an expansion may be refused with POLICY_VIOLATION, also with validate_only; a validate_only
// request that is not refused carries the verdict in its error_message there.

#include <algorithm>

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/registry.h"
#include "broker/runtime/broker.h"
#include "broker/runtime/topic_plan.h"
#include "broker/runtime/turn.h"
#include "protocol/messages/37_create_partitions.h"

namespace partita::handlers {
namespace {

constexpr std::int16_t kRefusedByQuotaSince = 3;

/// What a dry run that would succeed says besides: nothing in mode faithful, as with Kafka; elsewhere the verdict. Clients
/// that look at the code alone (the Java client does) see no difference.
std::optional<std::string_view> advice_for(runtime::RequestContext& context, const topics::CreatePartitionsCommand& command,
                                           std::string_view topic) {
    const runtime::TopicState* state = context.turn.topics().find(topic);
    if (state == nullptr || state->config->expansion_mode == config::ExpansionMode::faithful) {
        return std::nullopt;
    }
    const auto wish = std::ranges::find(command.topics, topic, &topics::TopicToExpand::name);
    return context.arena().copy(runtime::plan_sentence(context.broker, topic, wish->count));
}

}  // namespace

void create_partitions(runtime::RequestContext& context) {
    const CreatePartitionsRequest* request = context.decode<CreatePartitionsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    topics::CreatePartitionsCommand command;
    command.validate_only = request->validate_only;
    command.client = mutating_client(context, kRefusedByQuotaSince);
    for (const CreatePartitionsRequest::CreatePartitionsTopic& topic : request->topics) {
        topics::TopicToExpand& wanted = command.topics.emplace_back();
        wanted.name = topic.name;
        wanted.count = topic.count;
        if (!topic.assignments.is_null()) {
            wanted.assignments.emplace();
            for (const CreatePartitionsRequest::CreatePartitionsAssignment& assignment : topic.assignments) {
                std::vector<BrokerId>& brokers = wanted.assignments->emplace_back();
                for (const std::int32_t broker : assignment.broker_ids) {
                    brokers.push_back(BrokerId{broker});
                }
            }
        }
    }
    CreatePartitionsResponse response;
    ArenaVector<CreatePartitionsResponse::CreatePartitionsTopicResult> results(arena, request->topics.count());
    const auto all_failed = [&](ErrorCode error, std::optional<std::string_view> message) {
        for (const topics::TopicToExpand& topic : command.topics) {
            results.push_back({.name = topic.name, .error_code = error, .error_message = message});
        }
        response.results = results;
        context.reply(response);
    };
    if (has_no_time(request->timeout_ms)) {
        return all_failed(ErrorCode::request_timed_out, std::nullopt);
    }
    command.circumstances = [&context](const topics::Topic& topic, std::int32_t new_count) {
        std::string_view address = context.client.host;
        if (address.starts_with('/')) {
            address.remove_prefix(1);
        }
        return runtime::expansion_circumstances(context.broker, topic, new_count,
                                                {.client_id = std::string(context.client_id),
                                                 .software_name = context.client.software_name,
                                                 .software_version = context.client.software_version,
                                                 .address = std::string(address),
                                                 .principal = "User:ANONYMOUS"});
    };
    context.broker.expansions().protect(command, context.turn);
    const auto reply = context.broker.change_catalog<topics::CreatePartitionsReply>(
        context.turn, [&](const topics::CatalogCore& core, const topics::CatalogContext& catalog) {
            return core.create_partitions(command, catalog);
        });
    if (!reply) {
        return all_failed(ErrorCode::kafka_storage_error, kCatalogNotWritten);
    }
    for (const topics::ExpandedTopic& expanded : reply->topics) {
        std::optional<std::string_view> message = message_of(expanded.error, arena);
        if (request->validate_only && !expanded.error.failed()) {
            message = advice_for(context, command, expanded.name);
        }
        results.push_back(
            {.name = arena.copy(expanded.name), .error_code = expanded.error.code, .error_message = message});
    }
    response.results = results;
    reply_throttled(context, response, reply->throttle_ms);
}

}  // namespace partita::handlers
