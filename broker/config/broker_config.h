#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/listeners.h"
#include "protocol/types.h"

namespace partita::config {

/// Broker configs that were altered while the broker ran (kafka-configs --entity-type brokers).
struct DynamicBrokerConfigs {
    /// --entity-default: for every broker.
    ConfigMap cluster_default;
    /// --entity-name ID: for this broker.
    ConfigMap this_broker;
};

/// Who may speak a group protocol; a set of bits of `group.coordinator.rebalance.protocols`.
struct RebalanceProtocols {
    bool classic = true;
    bool consumer = true;
    bool streams = true;
    bool share = false;

    friend bool operator==(const RebalanceProtocols&, const RebalanceProtocols&) = default;
};

/// The settings of a broker, typed and checked; immutable once made, so it is shared between threads
/// as `std::shared_ptr<const BrokerConfig>` and replaced whole when a dynamic config changes.
///
/// The fields are the configs that this broker acts on, with Kafka's names (dots are underscores) and
/// units last. A default-constructed BrokerConfig has every default. All other configs are reachable
/// by name through `value`.
struct BrokerConfig {
    // Identity and places.
    BrokerId node_id{1};
    std::optional<std::string> broker_rack;
    /// The first is used for everything that is written once (catalog, locks).
    std::vector<std::string> log_dirs{"./partita-data"};
    ListenerSettings listeners;

    // Network and requests.
    std::int32_t num_network_threads = 3;
    std::int32_t num_io_threads = 8;
    std::int32_t background_threads = 10;
    std::int32_t num_recovery_threads_per_data_dir = 2;
    std::int32_t socket_request_max_bytes = 104857600;
    std::int32_t socket_send_buffer_bytes = 102400;     ///< -1 leaves it to the system
    std::int32_t socket_receive_buffer_bytes = 102400;  ///< -1 leaves it to the system
    std::int32_t socket_listen_backlog_size = 50;
    std::int64_t connections_max_idle_ms = 600000;
    std::int32_t max_connections = 2147483647;
    std::int32_t max_connections_per_ip = 2147483647;
    /// Host or address and its own limit, of `max.connections.per.ip.overrides`.
    std::vector<std::pair<std::string, std::int32_t>> max_connections_per_ip_overrides;
    std::int32_t max_connection_creation_rate = 2147483647;
    std::int32_t queued_max_requests = 500;
    std::int64_t queued_max_request_bytes = -1;
    std::int32_t request_timeout_ms = 30000;
    std::int32_t fetch_max_bytes = 57671680;
    std::int32_t max_incremental_fetch_session_cache_slots = 1000;
    std::int32_t max_request_partition_size_limit = 2000;

    // Topics.
    bool auto_create_topics_enable = true;
    bool unstable_api_versions_enable = false;
    bool adopt_directories = false;   ///< partita.adopt.directories
    bool connections_gather = true;   ///< partita.connections.gather
    bool detection_enable = true;     ///< partita.detection.enable
    bool events_topic_enable = true;  ///< partita.events.topic.enable
    bool delete_topic_enable = true;
    std::int32_t num_partitions = 1;
    /// As configured. One node holds one replica, so callers treat larger values as 1 for internal
    /// topics, and refuse a user's topic as a one-broker Kafka does.
    std::int32_t default_replication_factor = 1;

    // Logs; everything that a topic config can override is in TopicConfig.
    std::int64_t log_retention_check_interval_ms = 300000;
    std::int64_t log_flush_scheduler_interval_ms = 9223372036854775807;
    std::int32_t log_flush_offset_checkpoint_interval_ms = 60000;
    std::int64_t log_initial_task_delay_ms = 30000;
    bool log_cleaner_enable = true;
    std::int32_t log_cleaner_threads = 1;
    std::int64_t log_cleaner_backoff_ms = 15000;
    std::int64_t log_cleaner_dedupe_buffer_size = 134217728;
    std::int32_t log_cleaner_io_buffer_size = 524288;
    double log_cleaner_io_buffer_load_factor = 0.9;
    double log_cleaner_io_max_bytes_per_second = 1.7976931348623157e308;
    std::int32_t producer_id_expiration_ms = 86400000;
    std::int32_t producer_id_expiration_check_interval_ms = 600000;

    // Offsets and classic groups.
    std::int32_t offsets_topic_num_partitions = 50;
    std::int16_t offsets_topic_replication_factor = 3;
    std::int32_t offsets_topic_segment_bytes = 104857600;
    std::int32_t offsets_retention_minutes = 10080;
    std::int64_t offsets_retention_check_interval_ms = 600000;
    std::int32_t offset_metadata_max_bytes = 4096;
    std::int32_t offsets_commit_timeout_ms = 5000;
    /// Departs from Kafka's 3000: on one machine nobody gains from waiting for more members.
    std::int32_t group_initial_rebalance_delay_ms = 0;
    std::int32_t group_min_session_timeout_ms = 6000;
    std::int32_t group_max_session_timeout_ms = 1800000;
    std::int32_t group_max_size = 2147483647;
    RebalanceProtocols group_coordinator_rebalance_protocols;

    // KIP-848 consumer groups.
    std::int32_t group_consumer_session_timeout_ms = 45000;
    std::int32_t group_consumer_min_session_timeout_ms = 45000;
    std::int32_t group_consumer_max_session_timeout_ms = 60000;
    std::int32_t group_consumer_heartbeat_interval_ms = 5000;
    std::int32_t group_consumer_min_heartbeat_interval_ms = 5000;
    std::int32_t group_consumer_max_heartbeat_interval_ms = 15000;
    std::int32_t group_consumer_max_size = 2147483647;
    std::vector<std::string> group_consumer_assignors{"uniform", "range"};
    std::int32_t group_consumer_assignment_interval_ms = 1000;
    std::int32_t group_consumer_regex_refresh_interval_ms = 600000;
    /// Lower case: disabled, upgrade, downgrade, bidirectional.
    std::string group_consumer_migration_policy = "bidirectional";

    // Transactions.
    std::int32_t transaction_state_log_num_partitions = 50;
    std::int16_t transaction_state_log_replication_factor = 3;
    std::int32_t transaction_state_log_min_isr = 2;
    std::int32_t transaction_state_log_segment_bytes = 104857600;
    std::int32_t transaction_max_timeout_ms = 900000;
    std::int32_t transactional_id_expiration_ms = 604800000;
    std::int32_t transaction_abort_timed_out_transaction_cleanup_interval_ms = 10000;
    std::int32_t transaction_remove_expired_transaction_cleanup_interval_ms = 3600000;
    bool transaction_partition_verification_enable = true;

    // Ours.
    /// Host and port of the HTTP side; an empty host is every interface, no value switches it off.
    std::optional<AdvertisedAddress> http_listener{{"localhost", 8092}};

    /// The value of any broker config: this broker's dynamic value, else the cluster's, else the static
    /// one, else the default. Null value (monostate) when it has none or the name is unknown.
    [[nodiscard]] ConfigValue value(std::string_view name) const;

    /// What was given at start, unknown names included.
    [[nodiscard]] const ConfigMap& given() const { return given_; }
    [[nodiscard]] const DynamicBrokerConfigs& dynamic() const { return dynamic_; }

    /// From values given at start. Fails on the first invalid value; unknown names are kept for
    /// DescribeConfigs and otherwise without effect.
    [[nodiscard]] static std::expected<BrokerConfig, ConfigError> from(ConfigMap given);

    /// The same broker with other dynamic configs. Unknown or invalid ones fail; see config_changes.h
    /// for the checks that Kafka makes when they are altered.
    [[nodiscard]] std::expected<BrokerConfig, ConfigError> with_dynamic(DynamicBrokerConfigs dynamic) const;

private:
    ConfigMap given_;
    DynamicBrokerConfigs dynamic_;
};

/// What a fresh cluster of Kafka 4.3.1 stores as the default of all brokers: min.insync.replicas=1,
/// because eligible.leader.replicas.version is 1. The catalog starts with it, and that is why
/// kafka-topics --describe prints it for every topic.
[[nodiscard]] ConfigMap initial_cluster_default_configs();

/// The places that values come from, in rising precedence.
struct ConfigInputs {
    /// Content of server.properties, if a file was named.
    std::optional<std::string> properties;
    /// Environment as "NAME=value"; only KAFKA_* is looked at.
    std::vector<std::string> environment;
    /// "key=value" of each --override.
    std::vector<std::string> overrides;
};

struct LoadedBrokerConfig {
    BrokerConfig config;
    /// Names that neither Kafka 4.3.1 nor this broker knows, ascending, for one warning at start.
    std::vector<std::string> unknown_names;
};

/// Reads everything. An error names the key, the value and what is allowed, in one line, and is meant
/// to end the start with exit code 2.
[[nodiscard]] std::expected<LoadedBrokerConfig, ConfigError> load_broker_config(const ConfigInputs& inputs);

}  // namespace partita::config
