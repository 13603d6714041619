#include "broker/config/broker_config.h"

#include <algorithm>
#include <type_traits>

#include "broker/config/addition.h"
#include "broker/config/broker_rules.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/config_binding.h"
#include "broker/config/config_providers.h"
#include "broker/config/config_refusal.h"
#include "broker/config/image_variables.h"
#include "broker/config/java_text.h"
#include "broker/config/old_configs.h"
#include "broker/config/plugin_classes.h"
#include "broker/config/properties.h"
#include "broker/config/start_notes.h"
#include "protocol/assert.h"
#include "protocol/edit_distance.h"
#include "protocol/try.h"

namespace partita::config {

namespace {

/// Fields that take the parsed value of their config unchanged.
const std::vector<ConfigBinding<BrokerConfig>>& bindings() {
    static const std::vector<ConfigBinding<BrokerConfig>> kBindings{
        bind<BrokerConfig, &BrokerConfig::num_recovery_threads_per_data_dir>(),
        bind<BrokerConfig, &BrokerConfig::socket_request_max_bytes>(),
        bind<BrokerConfig, &BrokerConfig::socket_listen_backlog_size>(),
        bind<BrokerConfig, &BrokerConfig::connections_max_idle_ms>(),
        bind<BrokerConfig, &BrokerConfig::max_connections>(),
        bind<BrokerConfig, &BrokerConfig::max_connections_per_ip>(),
        bind<BrokerConfig, &BrokerConfig::max_connection_creation_rate>(),
        bind<BrokerConfig, &BrokerConfig::queued_max_request_bytes>(),
        bind<BrokerConfig, &BrokerConfig::fetch_max_bytes>(),
        bind<BrokerConfig, &BrokerConfig::max_incremental_fetch_session_cache_slots>(),
        bind<BrokerConfig, &BrokerConfig::max_request_partition_size_limit>(),
        bind<BrokerConfig, &BrokerConfig::auto_create_topics_enable>(),
        bind<BrokerConfig, &BrokerConfig::unstable_api_versions_enable>(),
        bind<BrokerConfig, &BrokerConfig::adopt_directories>("partita."),
        bind<BrokerConfig, &BrokerConfig::authentication_time_max_ms>("partita."),
        bind<BrokerConfig, &BrokerConfig::authentication_waiting_max>("partita."),
        bind<BrokerConfig, &BrokerConfig::connections_gather>("partita."),
        bind<BrokerConfig, &BrokerConfig::detection_enable>("partita."),
        bind<BrokerConfig, &BrokerConfig::detection_processor_percent>("partita."),
        bind<BrokerConfig, &BrokerConfig::events_topic_enable>("partita."),
        bind<BrokerConfig, &BrokerConfig::polling_enable>("partita."),
        bind<BrokerConfig, &BrokerConfig::delete_topic_enable>(),
        bind<BrokerConfig, &BrokerConfig::num_partitions>(),
        bind<BrokerConfig, &BrokerConfig::default_replication_factor>(),
        bind<BrokerConfig, &BrokerConfig::delegation_token_expiry_check_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::delegation_token_expiry_time_ms>(),
        bind<BrokerConfig, &BrokerConfig::delegation_token_max_lifetime_ms>(),
        bind<BrokerConfig, &BrokerConfig::log_retention_check_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::log_flush_offset_checkpoint_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::log_initial_task_delay_ms>(),
        bind<BrokerConfig, &BrokerConfig::log_cleaner_enable>(),
        bind<BrokerConfig, &BrokerConfig::log_cleaner_backoff_ms>(),
        bind<BrokerConfig, &BrokerConfig::log_cleaner_dedupe_buffer_size>(),
        bind<BrokerConfig, &BrokerConfig::log_cleaner_io_buffer_size>(),
        bind<BrokerConfig, &BrokerConfig::log_cleaner_io_buffer_load_factor>(),
        bind<BrokerConfig, &BrokerConfig::producer_id_expiration_ms>(),
        bind<BrokerConfig, &BrokerConfig::producer_id_expiration_check_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::offsets_topic_num_partitions>(),
        bind<BrokerConfig, &BrokerConfig::offsets_topic_segment_bytes>(),
        bind<BrokerConfig, &BrokerConfig::offsets_retention_minutes>(),
        bind<BrokerConfig, &BrokerConfig::offsets_retention_check_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::offset_metadata_max_bytes>(),
        bind<BrokerConfig, &BrokerConfig::group_initial_rebalance_delay_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_min_session_timeout_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_max_session_timeout_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_max_size>(),
        bind<BrokerConfig, &BrokerConfig::group_consumer_session_timeout_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_consumer_heartbeat_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_consumer_max_size>(),
        bind<BrokerConfig, &BrokerConfig::group_consumer_assignment_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_consumer_regex_refresh_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_share_session_timeout_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_share_heartbeat_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_share_max_size>(),
        bind<BrokerConfig, &BrokerConfig::group_share_assignment_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_share_initialize_retry_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::group_share_max_share_sessions>(),
        bind<BrokerConfig, &BrokerConfig::transaction_max_timeout_ms>(),
        bind<BrokerConfig, &BrokerConfig::transactional_id_expiration_ms>(),
        bind<BrokerConfig, &BrokerConfig::transaction_abort_timed_out_transaction_cleanup_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::transaction_remove_expired_transaction_cleanup_interval_ms>(),
        bind<BrokerConfig, &BrokerConfig::transaction_partition_verification_enable>(),
        bind<BrokerConfig, &BrokerConfig::transaction_state_log_num_partitions>(),
        bind<BrokerConfig, &BrokerConfig::transaction_state_log_min_isr>(),
        bind<BrokerConfig, &BrokerConfig::transaction_state_log_segment_bytes>(),
        bind<BrokerConfig, &BrokerConfig::share_coordinator_state_topic_num_partitions>(),
        bind<BrokerConfig, &BrokerConfig::share_coordinator_state_topic_min_isr>(),
        bind<BrokerConfig, &BrokerConfig::share_coordinator_state_topic_segment_bytes>(),
    };
    return kBindings;
}

RebalanceProtocols rebalance_protocols(const ConfigMap& effective) {
    RebalanceProtocols protocols{false, false, false, false};
    for (const std::string& name : broker_list(effective, "group.coordinator.rebalance.protocols")) {
        protocols.classic |= name == "classic";
        protocols.consumer |= name == "consumer";
        protocols.streams |= name == "streams";
        protocols.share |= name == "share";
    }
    return protocols;
}

void fill_http(BrokerConfig& config, const ConfigMap& effective) {
    const std::string open = std::get<std::string>(broker_value(effective, "partita.http.open"));
    config.http_without_token = open == "all"      ? HttpWithoutToken::all
                                : open == "health" ? HttpWithoutToken::health
                                                   : HttpWithoutToken::unsaid;
    config.http_listener.reset();
    const std::string text = std::get<std::string>(broker_value(effective, "partita.http.listener"));
    if (text.empty()) {
        return;
    }
    const auto listener = parse_http_listener(text);
    PARTITA_ASSERT(listener.has_value(), "the rules of the broker's configs were checked first");
    config.http_listener = listener->address;
    config.http_has_tls = listener->has_tls;
}

// Fills all typed fields from checked values.
std::expected<void, ConfigError> fill(BrokerConfig& config, const ConfigMap& given, const ConfigMap& effective) {
    for (const ConfigBinding<BrokerConfig>& binding : bindings()) {
        binding.apply(config, broker_value(effective, binding.name));
    }
    config.node_id = BrokerId{std::get<std::int32_t>(broker_value(effective, "node.id"))};
    config.broker_rack = config_value_text(broker_value(effective, "broker.rack"));
    config.delegation_token_secret_key = config_value_text(broker_value(effective, "delegation.token.secret.key")).value_or("");
    const ConfigValue directories = broker_value(effective, "log.dirs");
    config.log_dirs = std::get<std::vector<std::string>>(
        std::holds_alternative<std::monostate>(directories) ? broker_value(effective, "log.dir") : directories);
    config.group_coordinator_rebalance_protocols = rebalance_protocols(effective);
    config.group_consumer_migration_policy =
        java::to_lower(std::get<std::string>(broker_value(effective, "group.consumer.migration.policy")));
    config.group_consumer_assignors.clear();
    for (const std::string& name : broker_list(effective, "group.consumer.assignors")) {
        config.group_consumer_assignors.emplace_back(consumer_assignor_name(name));
    }
    PARTITA_TRY_ASSIGN(
        config.max_connections_per_ip_overrides,
        parse_connection_overrides(std::get<std::string>(broker_value(effective, "max.connections.per.ip.overrides"))));
    fill_http(config, effective);
    config.topic_limits.reset();
    for (const Addition* addition : additions()) {
        if (addition->topic_limits != nullptr && !config.topic_limits) {
            config.topic_limits = addition->topic_limits(effective);
        }
    }
    PARTITA_TRY_ASSIGN(config.listeners, parse_listeners(given));
    // Kafka's controllers hold no topics of clients.
    config.auto_create_topics_enable = config.auto_create_topics_enable && !config.listeners.is_controller_only;
    return {};
}

// Up to Kafka 3.9 this asked ZooKeeper for an id. Here it asks for the default.
void drop_generated_id(ConfigMap& given) {
    const auto broker = given.find("broker.id");
    if (broker != given.end() && java::trim(broker->second) == "-1" && !given.contains("node.id")) {
        given.erase(broker);
    }
}

// node.id and broker.id are synonyms; if one is given, Kafka describes both as given.
std::expected<void, ConfigError> unify_ids(ConfigMap& given) {
    const auto node = given.find("node.id");
    const auto broker = given.find("broker.id");
    if (node == given.end() && broker != given.end()) {
        given.emplace("node.id", broker->second);
    } else if (node != given.end() && broker == given.end()) {
        given.emplace("broker.id", node->second);
    } else if (node != given.end() && java::trim(node->second) != java::trim(broker->second)) {
        return std::unexpected(ConfigError{.message = "You must set `node.id` to the same value as `broker.id`."});
    }
    return {};
}

// Kafka requires these configs, but this broker has defaults for them. Describe them as given, as every Kafka does.
void add_required(ConfigMap& given) {
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        const bool has_other_name = definition.name == "node.id" && given.contains("broker.id");
        if (definition.required && definition.default_value && !has_other_name) {
            given.try_emplace(std::string(definition.name), *definition.default_value);
        }
    }
}

bool is_unknown(std::string_view name) {
    // Plugins and listeners have configs of their own under these prefixes.
    for (const std::string_view prefix :
         {"listener.name.", "config.providers.", "rsm.config.", "rlmm.config.", "remote.log.metadata.", "remote.log.storage."}) {
        if (name.starts_with(prefix)) {
            return false;
        }
    }
    return !is_of_authorizer(name) && find_broker_config(name) == nullptr && !find_old_config(name);
}

/// The most similar config name, with at most a fifth of the letters wrong; empty if none is similar.
std::string similar_config(std::string_view name) {
    constexpr std::size_t kNameBytesMax = 128;
    if (name.size() > kNameBytesMax) {
        return {};
    }
    std::string_view nearest;
    std::size_t least = std::max<std::size_t>(1, name.size() / 5) + 1;
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        const std::size_t distance = edit_distance(name, definition.name);
        if (distance < least) {
            least = distance;
            nearest = definition.name;
        }
    }
    return std::string(nearest);
}

/// The file, the environment and the overrides, without what an image sets itself.
std::expected<ConfigMap, ConfigError> merged(const ConfigInputs& inputs) {
    ConfigMap given;
    if (inputs.properties) {
        PARTITA_TRY_ASSIGN(given, parse_properties(*inputs.properties));
    }
    PARTITA_TRY_ASSIGN(auto of_image, configs_of_image(inputs.environment, given, inputs.read_file));
    for (auto& [name, value] : of_image) {
        given.insert_or_assign(name, value);
    }
    for (const std::string& text : inputs.overrides) {
        PARTITA_TRY_ASSIGN(auto parsed, parse_override(text));
        given.insert_or_assign(std::move(parsed.first), std::move(parsed.second));
    }
    return given;
}

std::expected<void, ConfigError> add_image(ConfigMap& given, const std::optional<std::string>& image) {
    if (!image) {
        return {};
    }
    // The scripts of cp-kafka end so; the names were never Kafka's.
    for (const std::string name : {"host", "advertised.host"}) {
        if (given.contains(name)) {
            return invalid_config(name +
                                  " is no setting of Kafka: say with KAFKA_ADVERTISED_LISTENERS where clients find the broker");
        }
    }
    PARTITA_TRY_ASSIGN(auto own, parse_properties(*image));
    for (auto& [name, value] : own) {
        std::vector<std::string> names = broker_config_names(name, false);
        if (name == "log.dirs") {
            names.emplace_back("log.dir");
        }
        if (std::ranges::none_of(names, [&](const std::string& each) { return given.contains(each); })) {
            given.emplace(name, std::move(value));
        }
    }
    return {};
}

/// Gathers the names that are unknown, and checks the values of the others.
std::expected<void, ConfigError> check_given(const ConfigMap& given, std::vector<std::string>& unknown_names) {
    for (const auto& [name, value] : given) {
        if (is_unknown(name)) {
            const std::string near = similar_config(name);
            unknown_names.push_back(near.empty() ? name : name + " (did you mean " + near + "?)");
        } else if (const ConfigDefinition* definition = find_broker_config(name)) {
            // Kafka's text alone does not always show what is allowed ("Not a number of type INT").
            if (auto parsed = parse_config_value(*definition, value); !parsed) {
                return std::unexpected(
                    ConfigError{.message = parsed.error().message + " (allowed: " + allowed_values(*definition) + ")"});
            }
        }
    }
    return {};
}

std::expected<void, ConfigError> check_plaintext(const ListenerSettings& listeners, std::span<const std::string> environment) {
    const auto open = std::ranges::find(listeners.listeners, SecurityProtocol::plaintext,
                                        [](const Listener& each) { return each.endpoint.protocol; });
    if (forbids_plaintext(environment) && open != listeners.listeners.end()) {
        return invalid_config(
            "ALLOW_PLAINTEXT_LISTENER forbids listener " + open->endpoint.listener_name +
            ", which has neither logins nor TLS: give it another protocol, or set ALLOW_PLAINTEXT_LISTENER=yes");
    }
    return {};
}

}  // namespace

ConfigValue BrokerConfig::value(std::string_view name) const {
    const ConfigMap effective = effective_broker_values(given_, dynamic_);
    for (const std::string& candidate : broker_config_names(name, true)) {
        if (candidate == name && find_broker_config(name) != nullptr) {
            return broker_value(effective, name);
        }
    }
    return {};
}

std::expected<BrokerConfig, ConfigError> BrokerConfig::from(ConfigMap given) {
    PARTITA_TRY(unify_ids(given));
    PARTITA_TRY(check_broker_values(given));
    const ConfigMap effective = given;
    return of_checked(std::move(given), effective);
}

std::expected<BrokerConfig, ConfigError> BrokerConfig::of_checked(ConfigMap given, const ConfigMap& effective) {
    BrokerConfig config{Unfilled{}};
    PARTITA_TRY(fill(config, given, effective));
    config.given_ = std::move(given);
    return config;
}

BrokerConfig::BrokerConfig() : BrokerConfig(Unfilled{}) {
    static const BrokerConfig kDefaults = of_checked({}, {}).value();
    *this = kDefaults;
}

std::expected<BrokerConfig, ConfigError> BrokerConfig::with_dynamic(DynamicBrokerConfigs dynamic) const {
    const ConfigMap effective = effective_broker_values(given_, dynamic);
    PARTITA_TRY(check_broker_values(effective));
    // The broker opens sockets only at its start. A dynamic `listeners` is stored and described, and takes effect at the next
    // start.
    auto config = of_checked(given_, effective);
    if (config) {
        config->dynamic_ = std::move(dynamic);
    }
    return config;
}

ConfigMap initial_cluster_default_configs(const BrokerConfig& config) {
    constexpr std::string_view kName = "min.insync.replicas";
    return {{std::string(kName), config_value_text(broker_value(config.given(), kName)).value_or("1")}};
}

std::expected<LoadedBrokerConfig, ConfigError> load_broker_config(const ConfigInputs& inputs) {
    LoadedBrokerConfig loaded;
    PARTITA_TRY_ASSIGN(ConfigMap given, merged(inputs));
    PARTITA_TRY(resolve_variables(given, inputs.environment, inputs.read_file));
    PARTITA_TRY(follow_old_places(given, inputs.image ? "0.0.0.0" : "localhost", loaded.notes));
    PARTITA_TRY(add_image(given, inputs.image));
    drop_generated_id(given);
    PARTITA_TRY(check_given(given, loaded.unknown_names));
    PARTITA_TRY(check_plugin_classes(given, loaded.notes));
    note_old_configs(given, loaded.notes);
    for (const Addition* addition : additions()) {
        if (addition->add_presets != nullptr) {
            addition->add_presets(given);
        }
    }
    add_required(given);
    auto config = BrokerConfig::from(std::move(given));
    if (!config) {
        constexpr std::string_view kRequirement = "requirement failed: ";
        ConfigError error = config.error();
        if (error.message.starts_with(kRequirement)) {
            error.message.erase(0, kRequirement.size());
        }
        if (error.message.starts_with("inter.broker.listener.name must be")) {
            error.message +=
                " (without inter.broker.listener.name, security.inter.broker.protocol names it: PLAINTEXT by default)";
        }
        return std::unexpected(std::move(error));
    }
    // Kafka accepts these configs, and fails when it creates its authorizer from them.
    PARTITA_TRY(authorizer_settings(config->given()));
    PARTITA_TRY(check_http(*config));
    PARTITA_TRY(check_plaintext(config->listeners, inputs.environment));
    note_settings(*config, inputs.image.has_value(), loaded.notes);
    loaded.config = std::move(*config);
    return loaded;
}

}  // namespace partita::config
