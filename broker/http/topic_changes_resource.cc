// What changes topics, as a Kafka client would (own_requests.h):
//
//   POST   /v1/topics                 {"topic": T, "partitions": N, "configs": {...}, "validate_only": false}
//   DELETE /v1/topics/T
//   POST   /v1/topics/T/partitions    {"count": M, "validate_only": false}
//   POST   /v1/topics/T/records       {"partition": P, "key": "...", "value": "...", "headers": {...}}: one record

#include <limits>
#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/json_body.h"
#include "broker/http/own_requests.h"
#include "broker/http/resources.h"
#include "broker/logs/published_topics.h"
#include "broker/partitioners/families.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/record_batch_builder.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

constexpr std::int32_t kTimeoutMs = 30'000;

/// Of a partition or a count of them.
constexpr NumberRange kCounts{.least = 1, .most = std::numeric_limits<std::int32_t>::max()};
constexpr NumberRange kIndexes{.least = 0, .most = std::numeric_limits<std::int32_t>::max()};

/// What a person writes by hand.
struct WrittenRecord {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::map<std::string, std::optional<std::string>> headers;
    std::optional<std::int64_t> partition;
};

std::optional<Bytes> bytes_of(const std::optional<std::string>& text) {
    return text ? std::optional(as_bytes(*text)) : std::nullopt;
}

/// Where the Java client would put the record; without a key in the first partition.
std::int32_t place(const WrittenRecord& record, std::int32_t partition_count) {
    if (record.partition) {
        return static_cast<std::int32_t>(*record.partition);
    }
    if (!record.key) {
        return 0;
    }
    return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(*record.key), partition_count).value;
}

std::vector<std::byte> batch_of(const WrittenRecord& record, TimestampMs now) {
    std::vector<RecordHeader> headers;
    for (const auto& [name, value] : record.headers) {
        headers.push_back({.key = name, .value = bytes_of(value)});
    }
    BatchBuilder builder;
    builder.append(now, bytes_of(record.key), bytes_of(record.value), headers);
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
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
    surroundings.own_requests.ask<CreateTopicsResponse>(
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
    surroundings.own_requests.ask<DeleteTopicsResponse>(
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
    const auto wanted = static_cast<std::int32_t>(*count);
    CreatePartitionsRequest::CreatePartitionsTopic topic{
        .name = exchange->request().path.at(2), .count = wanted, .assignments = nullptr};
    const CreatePartitionsRequest request{.topics = {&topic, 1}, .timeout_ms = kTimeoutMs, .validate_only = validate_only};
    surroundings.own_requests.ask<CreatePartitionsResponse>(
        exchange, request, [exchange, wanted, &identity = surroundings.identity](const CreatePartitionsResponse& reply) {
            const auto& grown = reply.results[0];
            if (grown.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, grown.error_code, grown.error_message.value_or(""));
                return;
            }
            auto object = identity.begin_answer();
            object["topic"] = grown.name;
            object["partitions"] = wanted;
            // What a topic's mode has to say of a growth that it does not refuse.
            object["message"] =
                grown.error_message ? nlohmann::ordered_json(*grown.error_message) : nlohmann::ordered_json(nullptr);
            respond_json(*exchange, object);
        });
}

void write_record(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    const WrittenRecord record{.key = body.text_or_null("key"),
                               .value = body.text_or_null("value"),
                               .headers = body.texts("headers"),
                               .partition = body.number("partition", kIndexes)};
    if (body.refuse_unless_good()) {
        return;
    }
    const std::string& name = exchange->request().path.at(2);
    const auto table = surroundings.services.topics.table();
    const runtime::TopicState* found = table->find(name);
    // Who may not write hears the same of a topic that is not there.
    const std::int32_t count = found == nullptr ? 1 : found->topic->partition_count;
    const std::int32_t partition = place(record, count);
    std::vector<std::byte> batch = batch_of(record, surroundings.services.clock.now().wall);
    ProduceRequest::PartitionProduceData data{.index = partition, .records = Bytes(batch)};
    ProduceRequest::TopicProduceData topic{.name = name, .partition_data = {&data, 1}};
    const ProduceRequest request{.acks = -1, .timeout_ms = kTimeoutMs, .topic_data = {&topic, 1}};
    constexpr std::int16_t kLastWithNames = 12;
    surroundings.own_requests.ask<ProduceResponse>(
        exchange, request,
        [exchange, partition, &identity = surroundings.identity](const ProduceResponse& reply) {
            const auto& written = reply.responses[0].partition_responses[0];
            if (written.error_code != ErrorCode::none) {
                respond_kafka_error(*exchange, written.error_code, written.error_message.value_or(""));
                return;
            }
            auto object = identity.begin_answer();
            object["topic"] = exchange->request().path.at(2);
            object["partition"] = partition;
            object["offset"] = written.base_offset;
            respond_json(*exchange, object);
        },
        kLastWithNames);
}

}  // namespace partita::http
