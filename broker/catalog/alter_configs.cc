#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "broker/catalog/altered_configs.h"
#include "broker/catalog/catalog_core.h"
#include "broker/catalog/catalog_limits.h"
#include "broker/catalog/catalog_refusal.h"
#include "broker/catalog/change_builder.h"

namespace partita::catalog {
namespace {

bool can_be_altered(ConfigResourceType type) {
    switch (type) {
        case ConfigResourceType::topic:
        case ConfigResourceType::broker:
        case ConfigResourceType::client_metrics:
        case ConfigResourceType::group:
            return true;
        // The catalog does not keep log levels: the handler that serves them takes them out of the request.
        case ConfigResourceType::broker_logger:
        // These have requests of their own.
        case ConfigResourceType::client_quota:
        case ConfigResourceType::scram_credential:
        case ConfigResourceType::unknown:
            break;
    }
    return false;
}

/// Rules for the form of a request, which Kafka's broker checks before its controller sees it.
CatalogError judge_resource(const ConfigResource& resource, const CatalogSettings& settings) {
    if (!can_be_altered(resource.type)) {
        return refused(ErrorCode::invalid_request, "Unknown resource type " + std::to_string(static_cast<int>(resource.type)));
    }
    if (resource.type != ConfigResourceType::broker || resource.name.empty()) {
        return {};
    }
    std::int32_t id = 0;
    const auto [end, failure] = std::from_chars(resource.name.data(), resource.name.data() + resource.name.size(), id);
    if (failure != std::errc() || end != resource.name.data() + resource.name.size()) {
        return refused(ErrorCode::invalid_request, "Node id must be an integer, but it is: " + std::string(resource.name));
    }
    if (std::ranges::find(settings.brokers.value, BrokerId{id}) == settings.brokers.value.end()) {
        return refused(ErrorCode::invalid_request, "Unexpected broker id, expected " +
                                                       std::to_string(settings.brokers.value.front().value) + ", but received " +
                                                       std::string(resource.name));
    }
    return {};
}

template <class Items>
bool has_duplicate_names(const Items& items) {
    std::set<std::string_view> names;
    return std::ranges::any_of(items, [&](const auto& item) { return !names.insert(item.name).second; });
}

template <class Items, class IsNull>
std::string names_of_nulls(const Items& items, std::string_view separator, IsNull is_null) {
    std::string names;
    for (const auto& item : items) {
        if (!is_null(item)) {
            continue;
        }
        if (!names.empty()) {
            names += separator;
        }
        names += item.name;
    }
    return names;
}

std::vector<std::string> split_list(std::string_view text, bool keep_empty) {
    std::vector<std::string> items;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        if (keep_empty || !item.empty()) {
            items.emplace_back(item);
        }
        if (comma == text.npos) {
            return items;
        }
        text.remove_prefix(comma + 1);
    }
}

std::string join_list(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) {
        if (&item != &items.front()) {
            text += ',';
        }
        text += item;
    }
    return text;
}

/// The present configs of a resource. Empty if it does not exist.
const ConfigMap& current_configs(const CatalogSnapshot& catalog, const ConfigResource& resource) {
    static const ConfigMap kNone;
    const auto find_in = [&](const CatalogSnapshot::ConfigsByName& all) -> const ConfigMap& {
        const auto found = all.find(resource.name);
        return found == all.end() ? kNone : found->second;
    };
    switch (resource.type) {
        case ConfigResourceType::topic: {
            const Topic* topic = catalog.find_topic(resource.name);
            return topic == nullptr ? kNone : topic->configs;
        }
        case ConfigResourceType::broker:
            return find_in(catalog.all_broker_configs());
        case ConfigResourceType::group:
            return find_in(catalog.all_group_configs());
        case ConfigResourceType::client_metrics:
            return find_in(catalog.all_client_metrics_configs());
        case ConfigResourceType::broker_logger:
        case ConfigResourceType::client_quota:
        case ConfigResourceType::scram_credential:
        case ConfigResourceType::unknown:
            break;
    }
    return kNone;
}

}  // namespace

std::expected<ConfigMap, CatalogError> altered_configs(const ResourceToAlter& wish, const ConfigMap& current,
                                                       const ConfigRules& rules) {
    ConfigMap configs = current;
    for (const ConfigChange& change : wish.changes) {
        const std::string name(change.name);
        const auto operation = static_cast<AlterOperation>(change.operation);
        switch (operation) {
            case AlterOperation::set:
                configs.insert_or_assign(name, std::string(*change.value));
                break;
            case AlterOperation::remove:
                configs.erase(name);
                break;
            case AlterOperation::append:
            case AlterOperation::subtract: {
                const bool is_append = operation == AlterOperation::append;
                if (!rules.is_list(wish.resource.type, change.name)) {
                    // Kafka's broker refuses for brokers, its controller for topics, with different texts.
                    return std::unexpected(refused(ErrorCode::invalid_config,
                                                   wish.resource.type == ConfigResourceType::broker
                                                       ? std::string("Config value ") + (is_append ? "append" : "subtract") +
                                                             " is not allowed for config key: " + name
                                                       : std::string("Can't ") + (is_append ? "APPEND" : "SUBTRACT") +
                                                             " to key " + name + " because its type is not LIST."));
                }
                const auto found = configs.find(name);
                const std::string base =
                    found != configs.end() ? found->second : rules.default_value(wish.resource.type, change.name).value_or("");
                std::vector<std::string> items = split_list(base, false);
                for (const std::string& item : split_list(*change.value, true)) {
                    const auto position = std::ranges::find(items, item);
                    if (is_append && position == items.end()) {
                        items.push_back(item);
                    }
                    if (!is_append && position != items.end()) {
                        items.erase(position);
                    }
                }
                configs.insert_or_assign(name, join_list(items));
                break;
            }
            default:
                // Kafka fails on it without a message.
                return std::unexpected(CatalogError{ErrorCode::unknown_server_error, std::nullopt});
        }
    }
    return configs;
}

namespace {

/// The controller's rules for the complete new set.
CatalogError judge_configs(const ConfigResource& resource, const ConfigMap& configs, const ConfigMap& current,
                           const CatalogSnapshot& catalog, const ConfigRules& rules, const CatalogSettings& settings) {
    if (auto problem = config_value_problem(configs)) {
        return std::move(*problem);
    }
    if (resource.name.empty() && resource.type == ConfigResourceType::topic) {
        return refused(ErrorCode::invalid_request, "Default topic resources are not allowed.");
    }
    if (resource.name.empty() && resource.type == ConfigResourceType::group) {
        return refused(ErrorCode::invalid_request, "Default group resources are not allowed.");
    }
    if (resource.type == ConfigResourceType::topic) {
        if (auto problem = topic_name_problem(resource.name)) {
            return refused(ErrorCode::invalid_topic_exception, std::move(*problem));
        }
    }
    if (CatalogError judged = rules.validate(resource, configs, current); judged.failed()) {
        return judged;
    }
    if (resource.type == ConfigResourceType::topic && catalog.find_topic(resource.name) == nullptr) {
        return refused(ErrorCode::unknown_topic_or_partition, "The topic '" + std::string(resource.name) + "' does not exist.");
    }
    // A topic keeps a value from before the limits until a request changes it.
    const auto retention_of = [](const ConfigMap& of) {
        const auto found = of.find("retention.ms");
        return found == of.end() ? std::string_view() : std::string_view(found->second);
    };
    if (resource.type == ConfigResourceType::topic && retention_of(configs) != retention_of(current)) {
        return retention_problem(settings.limits, resource.name, configs);
    }
    return {};
}

void store(const ConfigResource& resource, ConfigMap configs, const ConfigMap& current, const CatalogSnapshot& catalog,
           ChangeBuilder& change) {
    // A broker reloads its configs even if the value stays the same: that is how a password file is read again (KAFKA-14136). For
    // other resources an unchanged value leaves no record.
    if (configs == current && resource.type != ConfigResourceType::broker) {
        return;
    }
    if (resource.type == ConfigResourceType::topic) {
        change.reconfigure_topic(catalog.share_topic(resource.name), std::move(configs));
    } else {
        change.set_configs(resource.type, resource.name, std::move(configs));
    }
}

/// Number of records that Kafka would write for a change.
std::int64_t changed_entries(const ConfigMap& before, const ConfigMap& after) {
    std::int64_t count = 0;
    for (const auto& [name, value] : after) {
        const auto found = before.find(name);
        if (found == before.end() || found->second != value) {
            ++count;
        }
    }
    for (const auto& [name, value] : before) {
        count += after.contains(name) ? 0 : 1;
    }
    return count;
}

/// The common part of both APIs: `form_of` judges a resource's items, `result_of` gives its new set.
template <class Command, class FormOf, class ResultOf>
Decision<Command> alter(const Command& command, const CatalogPointer& catalog, const ConfigRules& rules,
                        const CatalogSettings& settings, FormOf form_of, ResultOf result_of) {
    std::map<std::pair<ConfigResourceType, std::string_view>, int> occurrences;
    for (const auto& wish : command.resources) {
        ++occurrences[{wish.resource.type, wish.resource.name}];
    }

    ChangeBuilder change(catalog);
    AlterConfigsResult answer;
    std::int64_t records = 0;
    for (const auto& wish : command.resources) {
        CatalogError judged;
        if (occurrences[{wish.resource.type, wish.resource.name}] > 1) {
            judged = refused(ErrorCode::invalid_request, "Each resource must appear at most once.");
        }
        if (!judged.failed()) {
            judged = form_of(wish);
        }
        if (!judged.failed()) {
            judged = judge_resource(wish.resource, settings);
        }
        if (!judged.failed()) {
            const ConfigMap& current = current_configs(*catalog, wish.resource);
            std::expected<ConfigMap, CatalogError> configs = result_of(wish, current);
            judged = configs ? judge_configs(wish.resource, *configs, current, *catalog, rules, settings) : configs.error();
            if (!judged.failed()) {
                records += changed_entries(current, *configs);
            }
            if (!judged.failed() && !command.validate_only) {
                store(wish.resource, std::move(*configs), current, *catalog, change);
            }
        }
        answer.resources.push_back({wish.resource.type, std::string(wish.resource.name), std::move(judged)});
    }
    if (records > kMaxRecordsPerRequest) {
        for (AlteredResource& resource : answer.resources) {
            resource.error = refused(ErrorCode::policy_violation, std::string(kExcessiveBatch));
        }
        return {std::move(answer), {}};
    }
    return {std::move(answer), change.finish()};
}

CatalogError judge_form(bool has_duplicates, const std::string& nulls) {
    if (has_duplicates) {
        return refused(ErrorCode::invalid_request, "Error due to duplicate config keys");
    }
    if (!nulls.empty()) {
        return refused(ErrorCode::invalid_request, "Null value not supported for : " + nulls);
    }
    return {};
}

}  // namespace

Decision<IncrementalAlterConfigs> CatalogCore::decide(const IncrementalAlterConfigs& command,
                                                      const CatalogContext& context) const {
    const auto is_null = [](const ConfigChange& change) {
        return !change.value && static_cast<AlterOperation>(change.operation) != AlterOperation::remove;
    };
    return alter(
        command, snapshot_, rules_, context.settings,
        [&](const ResourceToAlter& wish) {
            return judge_form(has_duplicate_names(wish.changes), names_of_nulls(wish.changes, ", ", is_null));
        },
        [&](const ResourceToAlter& wish, const ConfigMap& current) { return altered_configs(wish, current, rules_); });
}

Decision<AlterConfigs> CatalogCore::decide(const AlterConfigs& command, const CatalogContext& context) const {
    const auto is_null = [](const NamedConfig& config) { return !config.value; };
    return alter(
        command, snapshot_, rules_, context.settings,
        [&](const ResourceToReplace& wish) {
            return judge_form(has_duplicate_names(wish.configs), names_of_nulls(wish.configs, ",", is_null));
        },
        [](const ResourceToReplace& wish, const ConfigMap&) -> std::expected<ConfigMap, CatalogError> {
            ConfigMap configs;
            for (const NamedConfig& config : wish.configs) {
                configs.insert_or_assign(std::string(config.name), std::string(*config.value));
            }
            return configs;
        });
}

}  // namespace partita::catalog
