#include "broker/config/dynamic_rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/broker_synonyms.h"
#include "broker/config/config_providers.h"
#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"

namespace partita::config {

namespace {

using Verdict = std::expected<void, ConfigError>;

// Key stores can be replaced at run time, but only those of one listener.
constexpr std::string_view kListenerOnly[] = {"ssl.key.password",
                                              "ssl.keystore.certificate.chain",
                                              "ssl.keystore.key",
                                              "ssl.keystore.location",
                                              "ssl.keystore.password",
                                              "ssl.keystore.type",
                                              "ssl.truststore.certificates",
                                              "ssl.truststore.location",
                                              "ssl.truststore.password",
                                              "ssl.truststore.type"};

std::string_view base_name(std::string_view name) {
    const std::string_view key = listener_override_key(name);
    return key.empty() ? name : key;
}

// Listener configs that apply to every broker even with a listener's prefix.
bool is_cluster_level_listener_config(std::string_view name) {
    return name == "max.connections" || name == "max.connection.creation.rate" || name == "num.network.threads";
}

bool is_per_broker(std::string_view name) {
    if (const ConfigDefinition* definition = find_broker_config(name)) {
        return definition->update_mode == UpdateMode::per_broker;
    }
    const std::string_view key = listener_override_key(name);
    return !key.empty() && !is_cluster_level_listener_config(key);
}

Verdict check_dynamic_names(const ConfigMap& overrides, BrokerScope scope) {
    std::vector<std::string> read_only;
    std::vector<std::string> listener_only;
    std::vector<std::string> per_broker;
    for (const auto& [name, value] : overrides) {
        const ConfigDefinition* definition = find_broker_config(name);
        if (definition != nullptr && definition->update_mode == UpdateMode::read_only) {
            read_only.push_back(name);
        }
        if (std::ranges::find(kListenerOnly, name) != std::end(kListenerOnly)) {
            listener_only.push_back(name);
        }
        if (is_per_broker(name)) {
            per_broker.push_back(name);
        }
    }
    if (!read_only.empty()) {
        return invalid_request("Cannot update these configs dynamically: " + java::list_text(read_only));
    }
    if (!listener_only.empty()) {
        return invalid_request("These security configs can be dynamically updated only per-listener using the listener prefix: " +
                               java::list_text(listener_only));
    }
    for (const auto& [name, value] : overrides) {
        if (const ConfigDefinition* definition = find_broker_config(base_name(name))) {
            if (auto parsed = parse_config_value(*definition, value); !parsed) {
                return invalid_request(parsed.error().message);
            }
        }
    }
    if (scope == BrokerScope::cluster_default && !per_broker.empty()) {
        return invalid_request("Cannot update these configs at default cluster level, broker id must be specified: " +
                               java::list_text(per_broker));
    }
    return {};
}

std::unexpected<ConfigError> refused_resize(const std::string& reason) {
    return invalid_request("Invalid value org.apache.kafka.common.config.ConfigException: " + reason +
                           " for configuration Invalid dynamic configuration");
}

// In one step, thread pools may at most double and at most halve. Kafka's texts for clients include the name of the Java
// exception.
Verdict check_thread_counts(const BrokerConfig& before, const BrokerConfig& after) {
    for (const std::string_view name : {"num.io.threads", "num.network.threads", "num.replica.fetchers",
                                        "num.recovery.threads.per.data.dir", "background.threads"}) {
        const std::int64_t present = std::get<std::int32_t>(before.value(name));
        const std::int64_t wanted = std::get<std::int32_t>(after.value(name));
        const std::string what =
            "Dynamic thread count update validation failed for " + std::string(name) + "=" + std::to_string(wanted);
        if (wanted < present / 2) {
            return refused_resize(what + ", value should be at least half the current value " + std::to_string(present));
        }
        if (wanted > present * 2) {
            return refused_resize(what + ", value should not be greater than double the current value " +
                                  std::to_string(present));
        }
    }
    const std::int64_t present = std::get<std::int32_t>(before.value("log.cleaner.threads"));
    const std::int64_t wanted = std::get<std::int32_t>(after.value("log.cleaner.threads"));
    if (wanted < present / 2) {
        return refused_resize("Log cleaner threads cannot be reduced to less than half the current value " +
                              std::to_string(present));
    }
    if (wanted > present * 2) {
        return refused_resize("Log cleaner threads cannot be increased to more than double the current value " +
                              std::to_string(present));
    }
    return {};
}

// With eligible leader replicas (KIP-966), only the cluster and the topics may set min.insync.replicas.
Verdict check_min_insync_replicas(BrokerScope scope, const ConfigMap& before, const ConfigMap& after) {
    constexpr std::string_view kName = "min.insync.replicas";
    if (scope == BrokerScope::this_broker && after.contains(kName)) {
        return invalid_config("Broker-level min.insync.replicas cannot be altered while ELR is enabled.");
    }
    if (scope == BrokerScope::cluster_default && before.contains(kName) && !after.contains(kName)) {
        return invalid_config("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.");
    }
    return {};
}

}  // namespace

std::expected<void, ConfigError> validate_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                         const ConfigMap& overrides) {
    if (Verdict verdict = refuse_variables(overrides, broker.given()); !verdict) {
        return verdict;
    }
    if (Verdict verdict = check_dynamic_names(overrides, scope); !verdict) {
        return verdict;
    }
    DynamicBrokerConfigs dynamic = broker.dynamic();
    ConfigMap& place = scope == BrokerScope::this_broker ? dynamic.this_broker : dynamic.cluster_default;
    const ConfigMap before = place;
    place = overrides;
    const auto after = broker.with_dynamic(dynamic);
    if (!after) {
        return invalid_request(after.error().message);
    }
    if (dynamic.this_broker.contains("listeners") || dynamic.this_broker.contains("listener.security.protocol.map")) {
        if (auto listeners = parse_listeners(effective_broker_values(broker.given(), dynamic)); !listeners) {
            return invalid_request(listeners.error().message);
        }
    }
    if (Verdict verdict = check_thread_counts(broker, *after); !verdict) {
        return verdict;
    }
    return check_min_insync_replicas(scope, before, overrides);
}

}  // namespace partita::config
