#include "broker/config/config_changes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "broker/config/broker_synonyms.h"
#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"

namespace partita::config {

namespace {

using Verdict = std::expected<void, ConfigError>;

// What Kafka checks before it looks at the resource: no name twice, and a value wherever one is needed.
Verdict check_shape(std::span<const ConfigChange> changes) {
    std::set<std::string_view> names;
    std::vector<std::string> nulls;
    for (const ConfigChange& change : changes) {
        if (!names.insert(change.name).second) {
            return invalid_request("Error due to duplicate config keys");
        }
        if (change.operation != AlterOperation::remove && !change.value) {
            nulls.push_back(change.name);
        }
    }
    if (!nulls.empty()) {
        return invalid_request("Null value not supported for : " + java::join(nulls, ", "));
    }
    return {};
}

// The items of the present value, or of the default when there is none. Empty items vanish.
std::vector<std::string> present_items(const ConfigMap& overrides, const ConfigDefinition& definition) {
    std::string text(definition.default_value.value_or(""));
    if (const auto found = overrides.find(definition.name); found != overrides.end()) {
        text = found->second;
    }
    std::vector<std::string> items = java::split_commas(text);
    std::erase(items, "");
    return items;
}

std::string changed_list(const ConfigMap& overrides, const ConfigDefinition& definition, const ConfigChange& change) {
    std::vector<std::string> items = present_items(overrides, definition);
    for (const std::string& item : java::split_commas(*change.value)) {
        const auto found = std::ranges::find(items, item);
        if (change.operation == AlterOperation::append) {
            if (found == items.end()) {
                items.push_back(item);
            }
        } else if (found != items.end()) {
            items.erase(found);
        }
    }
    return java::join(items, ",");
}

bool is_list(const ConfigDefinition* definition) { return definition != nullptr && definition->type == ConfigType::list; }

// Applies SET and DELETE, and the list operations to what `find` says is a list; `refuse` words the rest.
template <class Find, class Refuse>
std::expected<ConfigMap, ConfigError> applied(ConfigMap overrides, std::span<const ConfigChange> changes, Find find,
                                              Refuse refuse) {
    for (const ConfigChange& change : changes) {
        switch (change.operation) {
            case AlterOperation::set:
                overrides.insert_or_assign(change.name, *change.value);
                break;
            case AlterOperation::remove:
                overrides.erase(change.name);
                break;
            case AlterOperation::append:
            case AlterOperation::subtract: {
                const ConfigDefinition* definition = find(change.name);
                if (!is_list(definition)) {
                    return refuse(change);
                }
                std::string value = changed_list(overrides, *definition, change);
                overrides.insert_or_assign(change.name, std::move(value));
                break;
            }
        }
    }
    return overrides;
}

// Key stores can be replaced while the broker runs, but only those of one listener.
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

// Listener configs that hold for every broker even with a listener's prefix.
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

// Thread pools may at most double and at most halve in one step. Clients see these texts with the name of
// the Java exception in them.
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

// With eligible leader replicas (KIP-966), min.insync.replicas belongs to the cluster and the topics.
Verdict check_min_insync_replicas(std::span<const ConfigChange> changes, BrokerScope scope, const ConfigMap& before,
                                  const ConfigMap& after) {
    constexpr std::string_view kName = "min.insync.replicas";
    const bool named = std::ranges::find(changes, kName, &ConfigChange::name) != changes.end();
    if (scope == BrokerScope::this_broker && named) {
        return invalid_config("Broker-level min.insync.replicas cannot be altered while ELR is enabled.");
    }
    if (scope == BrokerScope::cluster_default && !after.contains(kName) && (named || before.contains(kName))) {
        return invalid_config("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.");
    }
    return {};
}

std::expected<DynamicBrokerConfigs, ConfigError> checked(const BrokerConfig& broker, BrokerScope scope,
                                                         std::span<const ConfigChange> changes, ConfigMap overrides) {
    if (Verdict verdict = check_dynamic_names(overrides, scope); !verdict) {
        return std::unexpected(verdict.error());
    }
    DynamicBrokerConfigs dynamic = broker.dynamic();
    ConfigMap& place = scope == BrokerScope::this_broker ? dynamic.this_broker : dynamic.cluster_default;
    const ConfigMap before = place;
    place = std::move(overrides);
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
        return std::unexpected(verdict.error());
    }
    if (Verdict verdict = check_min_insync_replicas(changes, scope, before, place); !verdict) {
        return std::unexpected(verdict.error());
    }
    return dynamic;
}

}  // namespace

std::expected<ConfigMap, ConfigError> alter_topic_configs(const ConfigMap& overrides, std::span<const ConfigChange> changes,
                                                          const BrokerConfig& broker) {
    if (Verdict verdict = check_shape(changes); !verdict) {
        return std::unexpected(verdict.error());
    }
    const auto find = [](std::string_view name) {
        const TopicConfigDefinition* topic = find_topic_config(name);
        return topic == nullptr ? nullptr : &topic->definition;
    };
    const auto refuse = [](const ConfigChange& change) {
        return invalid_config(std::string("Can't ") + (change.operation == AlterOperation::append ? "APPEND" : "SUBTRACT") +
                              " to key " + change.name + " because its type is not LIST.");
    };
    auto altered = applied(overrides, changes, find, refuse);
    if (!altered) {
        return altered;
    }
    if (Verdict verdict = validate_topic_configs(*altered, broker); !verdict) {
        return std::unexpected(verdict.error());
    }
    return altered;
}

std::expected<DynamicBrokerConfigs, ConfigError> alter_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                                      std::span<const ConfigChange> changes) {
    if (Verdict verdict = check_shape(changes); !verdict) {
        return std::unexpected(verdict.error());
    }
    const auto refuse = [](const ConfigChange& change) {
        return invalid_config(std::string("Config value ") +
                              (change.operation == AlterOperation::append ? "append" : "subtract") +
                              " is not allowed for config key: " + change.name);
    };
    const ConfigMap& present =
        scope == BrokerScope::this_broker ? broker.dynamic().this_broker : broker.dynamic().cluster_default;
    auto altered = applied(present, changes, find_broker_config, refuse);
    if (!altered) {
        return std::unexpected(altered.error());
    }
    return checked(broker, scope, changes, std::move(*altered));
}

std::expected<void, ConfigError> validate_broker_configs(const BrokerConfig& broker, BrokerScope scope,
                                                         const ConfigMap& overrides) {
    const ConfigMap& present =
        scope == BrokerScope::this_broker ? broker.dynamic().this_broker : broker.dynamic().cluster_default;
    std::vector<ConfigChange> changes;
    for (const auto& [name, value] : overrides) {
        if (const auto known = present.find(name); known == present.end() || known->second != value) {
            changes.push_back({.name = name, .value = value});
        }
    }
    const auto judged = checked(broker, scope, changes, overrides);
    if (!judged) {
        return std::unexpected(judged.error());
    }
    return {};
}

}  // namespace partita::config
