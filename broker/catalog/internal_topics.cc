#include "broker/catalog/internal_topics.h"

#include <algorithm>
#include <array>
#include <string>

#include "protocol/assert.h"

namespace partita::catalog {
namespace {

using Config = std::pair<std::string_view, std::string_view>;

constexpr std::array kOffsetsConfigs{Config{"cleanup.policy", "compact"}, Config{"compression.type", "producer"}};
constexpr std::array kTransactionConfigs{Config{"cleanup.policy", "compact"}, Config{"compression.type", "uncompressed"},
                                         Config{"unclean.leader.election.enable", "false"}};
constexpr std::array kShareGroupConfigs{Config{"cleanup.policy", "delete"}, Config{"compression.type", "producer"},
                                        Config{"retention.ms", "-1"}};

constexpr std::array kInternalTopics{
    InternalTopic{.name = kOffsetsTopicName,
                  .coordinator = CoordinatorKind::groups,
                  .partition_count = &CatalogSettings::offsets_topic_num_partitions,
                  .segment_bytes = &CatalogSettings::offsets_topic_segment_bytes,
                  .replication_factor = &CatalogSettings::offsets_topic_replication_factor,
                  .min_isr = nullptr,
                  .configs = kOffsetsConfigs},
    InternalTopic{.name = kTransactionTopicName,
                  .coordinator = CoordinatorKind::transactions,
                  .partition_count = &CatalogSettings::transaction_state_log_num_partitions,
                  .segment_bytes = &CatalogSettings::transaction_state_log_segment_bytes,
                  .replication_factor = &CatalogSettings::transaction_state_log_replication_factor,
                  .min_isr = &CatalogSettings::transaction_state_log_min_isr,
                  .configs = kTransactionConfigs},
    InternalTopic{.name = kShareGroupTopicName,
                  .coordinator = CoordinatorKind::share,
                  .partition_count = &CatalogSettings::share_coordinator_state_topic_num_partitions,
                  .segment_bytes = &CatalogSettings::share_coordinator_state_topic_segment_bytes,
                  .replication_factor = &CatalogSettings::share_coordinator_state_topic_replication_factor,
                  .min_isr = &CatalogSettings::share_coordinator_state_topic_min_isr,
                  .configs = kShareGroupConfigs},
    InternalTopic{.name = kClaimsTopicName,
                  .coordinator = CoordinatorKind::claims,
                  .partition_count = nullptr,
                  .segment_bytes = &CatalogSettings::offsets_topic_segment_bytes,
                  .replication_factor = nullptr,
                  .min_isr = nullptr,
                  .takes_records_of_administrators = false,
                  .configs = kOffsetsConfigs},
};

}  // namespace

std::span<const InternalTopic> internal_topics() { return kInternalTopics; }

const InternalTopic* find_internal_topic(std::string_view name) {
    const auto found = std::ranges::find(kInternalTopics, name, &InternalTopic::name);
    return found == kInternalTopics.end() ? nullptr : &*found;
}

const InternalTopic& topic_of(CoordinatorKind kind) {
    const auto found = std::ranges::find(kInternalTopics, std::optional(kind), &InternalTopic::coordinator);
    PARTITA_ASSERT(found != kInternalTopics.end(), "every kind of coordinator has its topic");
    return *found;
}

bool is_internal_topic(std::string_view name) { return find_internal_topic(name) != nullptr; }

bool takes_records_of_administrators(std::string_view name) {
    const InternalTopic* topic = find_internal_topic(name);
    return topic != nullptr && topic->takes_records_of_administrators;
}

bool holds_coordinators(std::string_view name) {
    const InternalTopic* topic = find_internal_topic(name);
    return topic != nullptr && topic->coordinator.has_value();
}

std::int32_t partitions_when_made(const InternalTopic& topic, const CatalogSettings& settings) {
    if (topic.partition_count == nullptr) {
        return 1;
    }
    return settings.*topic.partition_count;
}

std::int16_t replicas_when_made(const InternalTopic& topic, const CatalogSettings& settings) {
    const std::int16_t wanted = topic.replication_factor == nullptr ? std::int16_t{1} : settings.*topic.replication_factor;
    // Kafka's sample configuration asks for 3 replicas of these topics, which fewer nodes cannot have.
    return std::min(wanted, static_cast<std::int16_t>(settings.brokers.value.size()));
}

ConfigMap configs_when_made(const InternalTopic& topic, const CatalogSettings& settings) {
    ConfigMap configs(topic.configs.begin(), topic.configs.end());
    configs.emplace("segment.bytes", std::to_string(settings.*topic.segment_bytes));
    if (topic.min_isr != nullptr) {
        configs.emplace("min.insync.replicas", std::to_string(settings.*topic.min_isr));
    }
    return configs;
}

}  // namespace partita::catalog
