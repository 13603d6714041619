// CreateTopics: v2-7.
//
//   v4: -1 for the broker's defaults; v5: flexible, effective configs in the reply; v6: quota errors; v7: topic ids.

#include "protocol/messages/19_create_topics.h"
#include <map>
#include "broker/config/current_config.h"
#include "broker/config/describe_configs.h"
#include "broker/config/mode_patterns.h"

#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(create_topics, catalog, access::kCreateTopicOrInCluster, access::kDescribeTopicConfigs);

namespace {

constexpr std::int16_t kRefusedByQuotaSince = 6;

using Result = CreateTopicsResponse::CreatableTopicResult;

catalog::TopicToCreate to_create(const CreateTopicsRequest::CreatableTopic& topic) {
    catalog::TopicToCreate wanted;
    wanted.name = topic.name;
    wanted.num_partitions = topic.num_partitions;
    wanted.replication_factor = topic.replication_factor;
    for (const CreateTopicsRequest::CreatableReplicaAssignment& assignment : topic.assignments) {
        catalog::ManualAssignment& manual = wanted.assignments.emplace_back();
        manual.partition = PartitionIndex{assignment.partition_index};
        for (const std::int32_t broker : assignment.broker_ids) {
            manual.brokers.push_back(BrokerId{broker});
        }
    }
    for (const CreateTopicsRequest::CreatableTopicConfig& config : topic.configs) {
        wanted.configs.push_back({.name = config.name, .value = config.value});
    }
    return wanted;
}

void add_configs(runtime::RequestContext& context, const catalog::CreatedTopic& created, Result& result) {
    Arena& arena = context.arena();
    ArenaVector<CreateTopicsResponse::CreatableTopicConfigs> configs(arena);
    const auto config = context.services.config.get();
    for (const config::ConfigEntry& entry :
         config::describe_topic_configs(config::with_mode_pattern(created.configs, *config, created.name), *config, {})) {
        CreateTopicsResponse::CreatableTopicConfigs& item = configs.emplace_back();
        item.name = arena.copy(entry.name);
        item.value = entry.value ? std::optional<std::string_view>(arena.copy(*entry.value)) : std::nullopt;
        item.read_only = entry.read_only;
        item.config_source = static_cast<std::int8_t>(entry.source);
        item.is_sensitive = entry.sensitive;
    }
    result.configs = configs;
}

}  // namespace

void create_topics(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const CreateTopicsRequest* request = context.decode<CreateTopicsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    catalog::CreateTopics command;
    command.validate_only = request->validate_only;
    command.client = mutating_client(context, kRefusedByQuotaSince);
    CreateTopicsResponse response;
    ArenaVector<Result> results(arena, request->topics.count());
    std::map<std::string_view, int> occurrences;
    for (const CreateTopicsRequest::CreatableTopic& topic : request->topics) {
        ++occurrences[topic.name];
    }
    for (const CreateTopicsRequest::CreatableTopic& topic : request->topics) {
        // The catalog refuses a topic that is named twice, regardless of permissions.
        if (occurrences[topic.name] > 1 || authorize(context, access::kCreateTopicOrInCluster, topic.name)) {
            command.topics.push_back(to_create(topic));
        } else {
            results.push_back({.name = topic.name,
                               .error_code = ErrorCode::topic_authorization_failed,
                               .error_message = "Authorization failed."});
        }
    }
    const auto all_failed = [&](ErrorCode error, std::optional<std::string_view> message) {
        for (const catalog::TopicToCreate& topic : command.topics) {
            results.push_back({.name = topic.name, .error_code = error, .error_message = message});
        }
        response.topics = results;
        context.reply(response);
    };
    if (has_no_time(request->timeout_ms)) {
        return all_failed(ErrorCode::request_timed_out, std::nullopt);
    }
    const auto reply = catalog.change(context.turn, command);
    if (!reply) {
        return all_failed(ErrorCode::kafka_storage_error, kCatalogNotWritten);
    }
    for (const catalog::CreatedTopic& created : reply->topics) {
        Result& result = results.emplace_back();
        result.name = arena.copy(created.name);
        result.error_code = created.error.code;
        result.error_message = message_of(created.error, arena);
        if (!created.error.failed()) {
            result.topic_id = created.id;
            if (context.version() >= 5 && !authorize(context, access::kDescribeTopicConfigs, created.name)) {
                result.topic_config_error_code = static_cast<std::int16_t>(ErrorCode::topic_authorization_failed);
                continue;
            }
            result.num_partitions = created.num_partitions;
            result.replication_factor = created.replication_factor;
            if (context.version() >= 5) {
                add_configs(context, created, result);
            }
        }
    }
    response.topics = results;
    reply_throttled(context, response, reply->throttle_ms);
}

}  // namespace partita::handlers
