#include "broker/runtime/settings/catalog_settings.h"

#include "broker/config/broker_rules.h"

namespace partita::runtime {
namespace {

std::optional<catalog::CatalogLimits> limits_of(const std::optional<config::TopicLimits>& limits) {
    if (!limits) {
        return std::nullopt;
    }
    return catalog::CatalogLimits{.of = limits->of,
                                  .topics = limits->topics,
                                  .partitions_of_topic = limits->partitions_of_topic,
                                  .partitions = limits->partitions,
                                  .retention_ms = limits->retention_ms,
                                  .adds_partitions = limits->adds_partitions};
}

}  // namespace

catalog::CatalogSettings catalog_settings(const config::BrokerConfig& config) {
    return {
        .brokers = std::vector{config.node_id},
        .num_partitions = config.num_partitions,
        .default_replication_factor = config.default_replication_factor,
        .delete_topic_enable = config.delete_topic_enable,
        .takes_new_partitions = !config::is_cordoned(config, config.log_dirs.front()),
        .limits = limits_of(config.topic_limits),
        .offsets_topic_num_partitions = config.offsets_topic_num_partitions,
        .offsets_topic_segment_bytes = config.offsets_topic_segment_bytes,
        .transaction_state_log_num_partitions = config.transaction_state_log_num_partitions,
        .transaction_state_log_segment_bytes = config.transaction_state_log_segment_bytes,
        .transaction_state_log_min_isr = config.transaction_state_log_min_isr,
        .share_coordinator_state_topic_num_partitions = config.share_coordinator_state_topic_num_partitions,
        .share_coordinator_state_topic_segment_bytes = config.share_coordinator_state_topic_segment_bytes,
        .share_coordinator_state_topic_min_isr = std::int32_t{config.share_coordinator_state_topic_min_isr},
        .offsets_topic_replication_factor = std::get<std::int16_t>(config.value("offsets.topic.replication.factor")),
        .transaction_state_log_replication_factor =
            std::get<std::int16_t>(config.value("transaction.state.log.replication.factor")),
        .share_coordinator_state_topic_replication_factor =
            std::get<std::int16_t>(config.value("share.coordinator.state.topic.replication.factor")),
    };
}

}  // namespace partita::runtime
