// Changes of topics, made as a Kafka client would make them (local_requests.h):
//
//   POST   /v1/topics                 {"topic": T, "partitions": N, "configs": {...}, "validate_only": false}
//   DELETE /v1/topics/T
//   POST   /v1/topics/T/partitions    {"count": M, "validate_only": false}

#include <limits>
#include <nlohmann/json.hpp>

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/services.h"
#include "broker/http/authorize.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/kafka_errors.h"
#include "broker/http/local_client.h"
#include "broker/http/local_requests.h"
#include "broker/http/resources.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/growth/expansion_worker.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"

namespace partita::http {
namespace {

constexpr std::int32_t kTimeoutMs = 30'000;
constexpr std::string_view kAddPartitions = "POST /v1/topics/T/partitions";

/// The range for a partition count.
constexpr NumberRange kCounts{.least = 1, .most = std::numeric_limits<std::int32_t>::max()};

runtime::ExpansionRequest expansion_request(const Surroundings& surroundings, const Caller& caller) {
    runtime::ExpansionRequest request;
    request.principal = caller.session.principal;
    request.client_id = kHttpClientId;
    request.may_be_refused_by_quota = true;
    request.requested_by = {.client_id = std::string(kHttpClientId),
                            .software_name = {},
                            .software_version = {},
                            .address = caller.address,
                            .principal = caller.session.principal->text()};
    request.received = surroundings.services.turns.first().now().monotonic;
    request.timeout_ms = kTimeoutMs;
    return request;
}

/// Any thread may call this.
void respond_grown(Exchange& exchange, const BrokerIdentity& identity, std::int64_t wanted,
                   const runtime::ExpansionReply& reply) {
    const catalog::ExpandedTopic& grown = reply.reply.topics.front();
    if (reply.is_not_written) {
        respond_kafka_error(exchange, ErrorCode::kafka_storage_error, handlers::kCatalogNotWritten);
        return;
    }
    if (grown.error.failed()) {
        respond_kafka_error(exchange, grown.error.code, grown.error.message.value_or(""));
        return;
    }
    auto object = identity.begin_answer();
    object["topic"] = grown.name;
    object["partitions"] = wanted;
    // Remarks of the topic's mode about a growth that it does not refuse.
    object["message"] = grown.error.message ? nlohmann::ordered_json(*grown.error.message) : nlohmann::ordered_json(nullptr);
    respond_json(exchange, object);
}

}  // namespace

void create_topic(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const std::string name = body.text("topic");
    const auto partitions = body.number("partitions", kCounts);
    const auto configs = body.texts("configs");
    const bool validate_only = body.flag("validate_only");
    if (body.refuse_unless_good()) {
        return;
    }
    std::vector<CreateTopicsRequest::CreatableTopicConfig> wanted;
    for (const auto& [key, value] : configs) {
        wanted.push_back({.name = key, .value = value});
    }
    CreateTopicsRequest::CreatableTopic topic{.name = name,
                                              .num_partitions = static_cast<std::int32_t>(partitions.value_or(-1)),
                                              .replication_factor = -1,
                                              .configs = wanted};
    const CreateTopicsRequest request{.topics = {&topic, 1}, .timeout_ms = kTimeoutMs, .validate_only = validate_only};
    surroundings.local_requests.ask<CreateTopicsResponse>(
        exchange, request, [exchange, &identity = surroundings.identity](const CreateTopicsResponse& reply) {
            const auto& made = reply.topics[0];
            if (made.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, made.error_code, made.error_message.value_or(""));
                return;
            }
            auto object = identity.begin_answer();
            object["topic"] = made.name;
            object["topic_id"] = made.topic_id.to_string();
            object["partitions"] = made.num_partitions;
            respond_json(*exchange, object);
        });
}

void delete_topic(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::string& name = exchange->request().path.at(2);
    DeleteTopicsRequest::DeleteTopicState topic{.name = name};
    const DeleteTopicsRequest request{.topics = {&topic, 1}, .timeout_ms = kTimeoutMs};
    surroundings.local_requests.ask<DeleteTopicsResponse>(
        exchange, request, [exchange, &identity = surroundings.identity](const DeleteTopicsResponse& reply) {
            const auto& gone = reply.responses[0];
            if (gone.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, gone.error_code, gone.error_message.value_or(""));
                return;
            }
            auto object = identity.begin_answer();
            object["topic"] = exchange->request().path.at(2);
            object["topic_id"] = gone.topic_id.to_string();
            respond_json(*exchange, object);
        });
}

void add_partitions(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const auto count = body.number("count", kCounts);
    const bool validate_only = body.flag("validate_only");
    if (!count) {
        body.complain("the body has no \"count\"");
    }
    if (body.refuse_unless_good()) {
        return;
    }
    const std::string& name = exchange->request().path.at(2);
    const runtime::Services& services = surroundings.services;
    runtime::ExpansionRequest request = expansion_request(surroundings, exchange->caller());
    const catalog::CatalogError refusal{ErrorCode::topic_authorization_failed, std::nullopt};
    if (!authorize(services.authorizer, exchange->caller(), access::kAlterTopic, name, kAddPartitions)) {
        request.refused.push_back({name, refusal});
    } else {
        request.wishes.push_back({name, static_cast<std::int32_t>(*count), std::nullopt});
    }
    request.validate_only = validate_only;
    request.answer = [exchange, wanted = *count, &identity = surroundings.identity](const runtime::ExpansionReply& reply) {
        respond_grown(*exchange, identity, wanted, reply);
    };
    services.growth.worker.submit(std::move(request));
}

}  // namespace partita::http
