#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/config_sources.h"
#include "broker/config/listeners.h"
#include "protocol/types.h"

namespace partita::config {

/// Broker configs altered while the broker runs (kafka-configs --entity-type brokers).
struct DynamicBrokerConfigs {
    /// --entity-default: for every broker.
    ConfigMap cluster_default;
    /// --entity-name ID: for this broker.
    ConfigMap this_broker;
};

/// The enabled group protocols, by `group.coordinator.rebalance.protocols`.
struct RebalanceProtocols {
    bool classic = true;
    bool consumer = true;
    bool streams = true;
    bool share = false;

    friend bool operator==(const RebalanceProtocols&, const RebalanceProtocols&) = default;
};

/// The services of an HTTP side without a token: `partita.http.open`.
enum class HttpWithoutToken : std::uint8_t {
    unsaid,  ///< Everything, only for this machine; with a listener beyond it the broker refuses to start.
    health,  ///< Health and metrics, for everyone.
    all,     ///< Everything, for everyone.
};

/// Limits for the number and the size of topics.
struct TopicLimits {
    /// The source of these limits, for refusals.
    std::string of;
    std::int32_t topics = 0;
    std::int32_t partitions_of_topic = 0;
    /// The limit for all topics together.
    std::int64_t partitions = 0;
    std::int64_t retention_ms = 0;
    /// Whether clients can add partitions to a topic.
    bool adds_partitions = false;

    friend bool operator==(const TopicLimits&, const TopicLimits&) = default;
};

/// The settings of a broker, typed and checked. Immutable: threads share it as `std::shared_ptr<const BrokerConfig>`, and a
/// change of a dynamic config replaces the whole object.
///
/// The fields have Kafka's names (with underscores for dots), units last, and the broker acts on each of them. A
/// default-constructed BrokerConfig has every default. `value` returns every other config by name; the broker only accepts,
/// checks and describes most of these (`ConfigEffect::kept`).
///
/// Only the definition of a config (*_definitions.cc) has its default, bounds, text, and the rule for changes at run time. The
/// name of a field of a plain type determines its config: see config_binding.h.
struct BrokerConfig {
    BrokerConfig();

    // Identity and places.
    BrokerId node_id{};
    std::optional<std::string> broker_rack;
    /// Only the first directory is used.
    std::vector<std::string> log_dirs;
    ListenerSettings listeners;

    // Network and requests.
    std::int32_t num_recovery_threads_per_data_dir{};
    std::int32_t socket_request_max_bytes{};
    std::int32_t socket_listen_backlog_size{};
    std::int64_t connections_max_idle_ms{};
    std::int32_t max_connections{};
    std::int32_t max_connections_per_ip{};
    /// Hosts or addresses with their own limits, from `max.connections.per.ip.overrides`.
    std::vector<std::pair<std::string, std::int32_t>> max_connections_per_ip_overrides;
    std::int32_t max_connection_creation_rate{};
    std::int64_t queued_max_request_bytes{};
    std::int32_t fetch_max_bytes{};
    std::int32_t max_incremental_fetch_session_cache_slots{};
    std::int32_t max_request_partition_size_limit{};

    // Topics.
    bool auto_create_topics_enable{};
    bool unstable_api_versions_enable{};
    bool adopt_directories{};                   ///< partita.adopt.directories
    std::int32_t authentication_time_max_ms{};  ///< partita.authentication.time.max.ms
    std::int32_t authentication_waiting_max{};  ///< partita.authentication.waiting.max
    bool connections_gather{};                  ///< partita.connections.gather
    bool detection_enable{};                    ///< partita.detection.enable
    double detection_processor_percent{};       ///< partita.detection.processor.percent
    bool events_topic_enable{};                 ///< partita.events.topic.enable
    bool polling_enable{};                      ///< partita.polling.enable
    bool delete_topic_enable{};
    std::int32_t num_partitions{};
    /// The configured value. A single node can hold only one replica. So callers treat larger values as 1 for internal topics,
    /// and refuse a user's topic, like a Kafka with one broker.
    std::int32_t default_replication_factor{};

    // Delegation tokens.
    std::int64_t delegation_token_expiry_check_interval_ms{};
    std::int64_t delegation_token_expiry_time_ms{};
    std::int64_t delegation_token_max_lifetime_ms{};
    /// Empty: no delegation tokens.
    std::string delegation_token_secret_key;

    // Logs; everything that a topic config can override is in TopicConfig.
    std::int64_t log_retention_check_interval_ms{};
    std::int32_t log_flush_offset_checkpoint_interval_ms{};
    std::int64_t log_initial_task_delay_ms{};
    bool log_cleaner_enable{};
    std::int64_t log_cleaner_backoff_ms{};
    std::int64_t log_cleaner_dedupe_buffer_size{};
    std::int32_t log_cleaner_io_buffer_size{};
    double log_cleaner_io_buffer_load_factor{};
    std::int32_t producer_id_expiration_ms{};
    std::int32_t producer_id_expiration_check_interval_ms{};

    // Offsets and classic groups.
    std::int32_t offsets_topic_num_partitions{};
    std::int32_t offsets_topic_segment_bytes{};
    std::int32_t offsets_retention_minutes{};
    std::int64_t offsets_retention_check_interval_ms{};
    std::int32_t offset_metadata_max_bytes{};
    std::int32_t group_initial_rebalance_delay_ms{};
    std::int32_t group_min_session_timeout_ms{};
    std::int32_t group_max_session_timeout_ms{};
    std::int32_t group_max_size{};
    RebalanceProtocols group_coordinator_rebalance_protocols;

    // KIP-848 consumer groups.
    std::int32_t group_consumer_session_timeout_ms{};
    std::int32_t group_consumer_heartbeat_interval_ms{};
    std::int32_t group_consumer_max_size{};
    std::vector<std::string> group_consumer_assignors;
    std::int32_t group_consumer_assignment_interval_ms{};
    std::int32_t group_consumer_regex_refresh_interval_ms{};
    /// Lower case: disabled, upgrade, downgrade, bidirectional.
    std::string group_consumer_migration_policy;

    // KIP-932 share groups.
    std::int32_t group_share_session_timeout_ms{};
    std::int32_t group_share_heartbeat_interval_ms{};
    std::int32_t group_share_max_size{};
    std::int32_t group_share_assignment_interval_ms{};
    std::int32_t group_share_initialize_retry_interval_ms{};
    std::int32_t group_share_max_share_sessions{};

    // Transactions.
    std::int32_t transaction_max_timeout_ms{};
    std::int32_t transactional_id_expiration_ms{};
    std::int32_t transaction_abort_timed_out_transaction_cleanup_interval_ms{};
    std::int32_t transaction_remove_expired_transaction_cleanup_interval_ms{};
    bool transaction_partition_verification_enable{};
    std::int32_t transaction_state_log_num_partitions{};
    std::int32_t transaction_state_log_min_isr{};
    std::int32_t transaction_state_log_segment_bytes{};

    // Coordinator topics that do not exist yet are created like Kafka's.
    std::int32_t share_coordinator_state_topic_num_partitions{};
    std::int16_t share_coordinator_state_topic_min_isr{};
    std::int32_t share_coordinator_state_topic_segment_bytes{};

    // Our own.
    /// Host and port of the HTTP side. An empty host means every interface; without a value the HTTP side is off.
    std::optional<AdvertisedAddress> http_listener;
    bool http_has_tls = false;
    HttpWithoutToken http_without_token{};
    /// Null: no limits beyond Kafka's. Only an addon sets limits (addition.h).
    std::optional<TopicLimits> topic_limits;

    /// The value of any broker config: this broker's dynamic value, else the cluster's, else the static one, else the default.
    /// Null value (monostate) if it has none or the name is unknown.
    [[nodiscard]] ConfigValue value(std::string_view name) const;

    /// The configs given at the start, unknown names included.
    [[nodiscard]] const ConfigMap& given() const { return given_; }
    [[nodiscard]] const DynamicBrokerConfigs& dynamic() const { return dynamic_; }

    /// Builds the config from the values given at the start. Fails on the first invalid value. Unknown names are kept for
    /// DescribeConfigs and have no other effect.
    [[nodiscard]] static std::expected<BrokerConfig, ConfigError> from(ConfigMap given);

    /// The same broker config with other dynamic configs. Fails on unknown or invalid ones; dynamic_rules.h has Kafka's further
    /// checks of a change.
    [[nodiscard]] std::expected<BrokerConfig, ConfigError> with_dynamic(DynamicBrokerConfigs dynamic) const;

  private:
    struct Unfilled {};
    explicit BrokerConfig(Unfilled) {}
    /// Builds the config from checked values: those `given` at the start, and the `effective` ones, which include the dynamic
    /// values.
    [[nodiscard]] static std::expected<BrokerConfig, ConfigError> of_checked(ConfigMap given, const ConfigMap& effective);

    ConfigMap given_;
    DynamicBrokerConfigs dynamic_;
};

/// The default of all brokers that a fresh cluster of Kafka 4.3.1 stores, because eligible.leader.replicas.version is 1:
/// min.insync.replicas with the value that it has at that start. So kafka-topics --describe prints it for every topic, and a
/// later change of server.properties does not show.
[[nodiscard]] ConfigMap initial_cluster_default_configs(const BrokerConfig& config);

/// The sources of values, in rising precedence.
struct ConfigInputs {
    /// Settings of a container image itself, as properties. A value gives way to any name that others give for the same thing:
    /// log.dirs to log.dir. Unset outside of images.
    std::optional<std::string> image;
    /// Content of server.properties, if the command names a file.
    std::optional<std::string> properties;
    /// The environment as "NAME=value"; image_variables.h says what counts.
    std::vector<std::string> environment;
    /// "key=value" of each --override.
    std::vector<std::string> overrides;
    FileReader read_file = read_settings_file;
};

struct LoadedBrokerConfig {
    BrokerConfig config;
    /// Names that neither Kafka nor this broker ever knew, ascending, for one warning at the start.
    std::vector<std::string> unknown_names;
    /// Lines about the settings for the log.
    std::vector<StartNote> notes;
};

/// Reads all inputs. The error is one line that names the key, the value and the allowed values; the caller then exits with code
/// 2.
[[nodiscard]] std::expected<LoadedBrokerConfig, ConfigError> load_broker_config(const ConfigInputs& inputs);

}  // namespace partita::config
