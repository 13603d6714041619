#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/catalog_limits.h"
#include "broker/catalog/change_builder.h"
#include "broker/catalog/internal_topics.h"
#include "broker/catalog/mutation_quotas.h"
#include "protocol/try.h"

namespace partita::catalog {
namespace {

CreatedTopic refused(std::string_view name, ErrorCode code, std::optional<std::string> message) {
    CreatedTopic result;
    result.name = name;
    result.error = {code, std::move(message)};
    return result;
}

/// Every topic of the request with the same error, as Kafka answers when the request fails as a whole.
CreateTopicsResult all_refused(const CreateTopics& command, ErrorCode code, std::string_view message) {
    CreateTopicsResult answer;
    for (const TopicToCreate& topic : command.topics) {
        answer.topics.push_back(refused(topic.name, code, std::string(message)));
    }
    return answer;
}

/// Names that the broker reserves and no topic may have.
constexpr std::array kReserved{kClusterMetadataTopicName, kCatalogLogName};

std::int64_t partitions_asked_for(const TopicToCreate& topic, const CatalogSettings& settings) {
    if (!topic.assignments.empty()) {
        return static_cast<std::int64_t>(topic.assignments.size());
    }
    if (topic.num_partitions == -1) {
        return settings.num_partitions;
    }
    return std::max(topic.num_partitions, 0);
}

/// Kafka checks the names first, and the last problem wins: for an existing name it reports that, even if the name is also
/// invalid.
std::optional<CatalogError> name_problem(std::string_view name, const CatalogSnapshot& catalog) {
    const std::string quoted = "Topic '" + std::string(name) + "'";
    if (catalog.find_topic(name) != nullptr) {
        return CatalogError{ErrorCode::topic_already_exists, quoted + " already exists."};
    }
    if (const Topic* colliding = catalog.find_colliding_topic(name)) {
        return CatalogError{ErrorCode::invalid_topic_exception, quoted + " collides with existing topic: " + colliding->name};
    }
    if (auto problem = topic_name_problem(name)) {
        return CatalogError{ErrorCode::invalid_topic_exception, std::move(problem)};
    }
    return std::nullopt;
}

std::expected<ConfigMap, CatalogError> judge_configs(const TopicToCreate& topic, const ConfigRules& rules) {
    ConfigMap configs;
    std::string nulls;
    for (const NamedConfig& config : topic.configs) {
        if (config.value) {
            configs.insert_or_assign(std::string(config.name), std::string(*config.value));
        } else {
            nulls += (nulls.empty() ? "" : ",") + std::string(config.name);
        }
    }
    if (!nulls.empty()) {
        return std::unexpected(CatalogError{ErrorCode::invalid_config, "Null value not supported for topic configs: " + nulls});
    }
    if (configs.empty()) {
        return configs;
    }
    if (auto problem = config_value_problem(configs)) {
        return std::unexpected(std::move(*problem));
    }
    CatalogError judged = rules.validate({ConfigResourceType::topic, topic.name}, configs, {});
    if (judged.failed()) {
        return std::unexpected(std::move(judged));
    }
    return configs;
}

struct Shape {
    std::int32_t partition_count = 0;
    std::int16_t replication_factor = 1;
};

std::expected<Shape, CatalogError> judge_assignments(const TopicToCreate& topic, const CatalogSettings& settings) {
    const auto fail = [](ErrorCode code, std::string message) { return std::unexpected(CatalogError{code, std::move(message)}); };
    if (topic.replication_factor != -1) {
        return fail(ErrorCode::invalid_request,
                    "A manual partition assignment was specified, but replication factor was not set to -1.");
    }
    if (topic.num_partitions != -1) {
        return fail(ErrorCode::invalid_request,
                    "A manual partition assignment was specified, but numPartitions was not set to -1.");
    }
    std::set<std::int32_t> partitions;
    std::optional<std::size_t> replicas;
    for (const ManualAssignment& assignment : topic.assignments) {
        if (!partitions.insert(assignment.partition.value).second) {
            return fail(ErrorCode::invalid_replica_assignment, "Found multiple manual partition assignments for partition " +
                                                                   std::to_string(assignment.partition.value));
        }
        if (auto problem = assignment_problem(assignment.brokers, replicas, settings.brokers.value)) {
            return fail(ErrorCode::invalid_replica_assignment, std::move(*problem));
        }
        replicas = assignment.brokers.size();
        if (auto problem = dead_assignment_problem(assignment.brokers, assignment.partition, settings.fenced_brokers)) {
            return fail(ErrorCode::invalid_replica_assignment, std::move(*problem));
        }
    }
    const auto count = static_cast<std::int32_t>(partitions.size());
    if (*partitions.begin() != 0 || *partitions.rbegin() != count - 1) {
        return fail(ErrorCode::invalid_replica_assignment, "partitions should be a consecutive 0-based integer sequence");
    }
    return Shape{count, static_cast<std::int16_t>(*replicas)};
}

std::expected<Shape, CatalogError> judge_shape(const TopicToCreate& topic, const CatalogSettings& settings) {
    if (!topic.assignments.empty()) {
        return judge_assignments(topic, settings);
    }
    if (topic.replication_factor < -1 || topic.replication_factor == 0) {
        return std::unexpected(CatalogError{ErrorCode::invalid_replication_factor,
                                            "Replication factor must be larger than 0, or -1 to use the default value."});
    }
    if (topic.num_partitions < -1 || topic.num_partitions == 0) {
        return std::unexpected(
            CatalogError{ErrorCode::invalid_partitions, "Number of partitions was set to an invalid non-positive value."});
    }
    const std::int32_t replicas =
        topic.replication_factor == -1 ? settings.default_replication_factor.value : topic.replication_factor;
    const std::string count = std::to_string(replicas);
    if (!settings.takes_new_partitions) {
        return std::unexpected(CatalogError{ErrorCode::invalid_replication_factor,
                                            "Unable to replicate the partition " + count + " time(s): " + std::string(kNoPlace)});
    }
    if (replicas > static_cast<std::int64_t>(settings.brokers.value.size())) {
        return std::unexpected(
            CatalogError{ErrorCode::invalid_replication_factor,
                         "Unable to replicate the partition " + count + " time(s): The target replication factor of " + count +
                             " cannot be reached because only " + std::to_string(settings.brokers.value.size()) +
                             " broker(s) are registered or some brokers have all their log directories cordoned."});
    }
    return Shape{topic.num_partitions == -1 ? settings.num_partitions.value : topic.num_partitions,
                 static_cast<std::int16_t>(replicas)};
}

/// Judges one topic by all rules. `existing` is the catalog before the request: Kafka does not look for collisions between the
/// topics of one request.
std::expected<Topic, CatalogError> judge_topic(const TopicToCreate& topic, const CatalogSnapshot& existing,
                                               const ConfigRules& rules, const CatalogContext& context) {
    if (auto problem = name_problem(topic.name, existing)) {
        return std::unexpected(std::move(*problem));
    }
    PARTITA_TRY_ASSIGN(auto configs, judge_configs(topic, rules));
    PARTITA_TRY_ASSIGN(const auto shape, judge_shape(topic, context.settings));
    Topic created;
    created.name = topic.name;
    created.partition_count = shape.partition_count;
    created.replication_factor = shape.replication_factor;
    created.internal = is_internal_topic(topic.name);
    created.created_time = context.now.wall;
    created.configs = std::move(configs);
    return created;
}

/// By partition.
std::vector<std::vector<BrokerId>> assignments_of(const TopicToCreate& topic) {
    std::vector<std::vector<BrokerId>> assignments(topic.assignments.size());
    for (const ManualAssignment& assignment : topic.assignments) {
        assignments[static_cast<std::size_t>(assignment.partition.value)] = assignment.brokers;
    }
    return assignments;
}

CreatedTopic created_result(const Topic& topic) {
    return {.name = topic.name,
            .id = topic.id,
            .num_partitions = topic.partition_count,
            .replication_factor = topic.replication_factor,
            .configs = topic.configs};
}

/// The topic that Kafka creates on first use. Texts of the configs live in `configs`.
TopicToCreate automatic_topic(std::string_view name, const CatalogSettings& settings, ConfigMap& configs) {
    TopicToCreate topic{.name = name};
    if (const InternalTopic* internal = find_internal_topic(name)) {
        topic.num_partitions = partitions_when_made(*internal, settings);
        // A user's topic that asks for too many is refused, as in Kafka.
        topic.replication_factor = replicas_when_made(*internal, settings);
        configs = configs_when_made(*internal, settings);
    }
    for (const auto& [key, value] : configs) {
        topic.configs.push_back({key, value});
    }
    return topic;
}

}  // namespace

Decision<CreateTopics> CatalogCore::decide(const CreateTopics& command, const CatalogContext& context) const {
    std::map<std::string_view, int> occurrences;
    for (const TopicToCreate& topic : command.topics) {
        ++occurrences[topic.name];
    }
    const auto is_judged = [&](const TopicToCreate& topic) {
        return occurrences[topic.name] == 1 && std::ranges::find(kReserved, topic.name) == kReserved.end();
    };
    std::int64_t partitions = 0;
    for (const TopicToCreate& topic : command.topics) {
        if (is_judged(topic)) {
            partitions += partitions_asked_for(topic, context.settings);
        }
    }
    if (partitions > kMaxPartitionsPerRequest) {
        return {all_refused(command, ErrorCode::policy_violation, "Excessively large number of partitions per request."), {}};
    }

    ChangeBuilder change(snapshot_);
    MutationMeter meter(*snapshot_, command.client, context);
    LimitedCommand limited(*snapshot_, context.settings.limits.value);
    CreateTopicsResult answer;
    std::int64_t records = 0;
    for (const TopicToCreate& topic : command.topics) {
        if (!is_judged(topic)) {
            continue;
        }
        auto created = judge_topic(topic, *snapshot_, rules_, context);
        if (!created) {
            answer.topics.push_back(refused(topic.name, created.error().code, std::move(created.error().message)));
            continue;
        }
        if (CatalogError beyond = limited.admit(*created); beyond.failed()) {
            answer.topics.push_back(refused(topic.name, beyond.code, std::move(beyond.message)));
            continue;
        }
        if (CatalogError throttled = meter.charge(created->partition_count); throttled.failed()) {
            answer.topics.push_back(refused(topic.name, throttled.code, std::move(throttled.message)));
            continue;
        }
        // This is Kafka's count, so that the same requests are refused; we write only one record.
        records += 1 + static_cast<std::int64_t>(created->configs.size()) + created->partition_count;
        if (records > kMaxRecordsPerRequest) {
            return {all_refused(command, ErrorCode::policy_violation, kExcessiveBatch), {}};
        }
        created->id = fresh_topic_id(context, change.draft());
        answer.topics.push_back(created_result(*created));
        if (!command.validate_only) {
            change.create_topic(std::move(*created), assignments_of(topic));
        }
    }
    for (const TopicToCreate& topic : command.topics) {
        if (int& count = occurrences[topic.name]; count > 1) {
            answer.topics.push_back(refused(topic.name, ErrorCode::invalid_request, std::string(kDuplicateTopicName)));
            count = 0;
        }
    }
    for (const std::string_view name : kReserved) {
        if (const auto found = occurrences.find(name); found != occurrences.end() && found->second == 1) {
            answer.topics.push_back(
                refused(name, ErrorCode::invalid_request, "Creation of internal topic " + std::string(name) + " is prohibited."));
        }
    }
    answer.throttle_ms = meter.throttle_ms();
    return {std::move(answer), change.finish()};
}

Decision<AutoCreateTopic> CatalogCore::decide(const AutoCreateTopic& command, const CatalogContext& context) const {
    if (const Topic* existing = snapshot_->find_topic(command.name)) {
        return {created_result(*existing), {}};
    }
    ConfigMap configs;
    CreateTopics create;
    create.topics.push_back(automatic_topic(command.name, context.settings, configs));
    // A coordinator without its topic could serve no client, so its topic finds a place even in cordoned directories.
    CatalogSettings settings = context.settings;
    settings.takes_new_partitions = settings.takes_new_partitions || is_internal_topic(command.name);
    Decision<CreateTopics> decision = decide(create, {.now = context.now,
                                                      .settings = settings,
                                                      .next_topic_id = context.next_topic_id,
                                                      .log_end_offsets = context.log_end_offsets});
    return {std::move(decision.result.topics.front()), std::move(decision.effects)};
}

}  // namespace partita::catalog
