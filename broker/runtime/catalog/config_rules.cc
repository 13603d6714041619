#include "broker/runtime/catalog/config_rules.h"

#include "broker/config/client_metrics_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/dynamic_rules.h"
#include "broker/config/group_config.h"
#include "broker/config/topic_config.h"
#include "broker/groups/topic_regex.h"
#include "protocol/assert.h"

namespace partita::runtime {
namespace {

catalog::CatalogError refusal(const config::ConfigError& error) { return {error.code, error.message}; }

}  // namespace

catalog::CatalogError DefinedConfigRules::validate(const catalog::ConfigResource& resource, const catalog::ConfigMap& overrides,
                                                   const catalog::ConfigMap& /*current*/) const {
    switch (resource.type) {
        case catalog::ConfigResourceType::topic: {
            const auto valid = config::validate_topic_configs(overrides, *broker_());
            return valid ? catalog::CatalogError{} : refusal(valid.error());
        }
        case catalog::ConfigResourceType::broker: {
            const auto scope = resource.name.empty() ? config::BrokerScope::cluster_default : config::BrokerScope::this_broker;
            const auto valid = config::validate_broker_configs(*broker_(), scope, overrides);
            return valid ? catalog::CatalogError{} : refusal(valid.error());
        }
        case catalog::ConfigResourceType::group: {
            const auto valid = config::validate_group_configs(overrides, *broker_());
            return valid ? catalog::CatalogError{} : refusal(valid.error());
        }
        case catalog::ConfigResourceType::client_metrics: {
            const auto is_regex = [](std::string_view text) { return !groups::regex_complaint(text); };
            const auto valid = config::validate_client_metrics_configs(resource.name, overrides, is_regex);
            return valid ? catalog::CatalogError{} : refusal(valid.error());
        }
        case catalog::ConfigResourceType::broker_logger:
        case catalog::ConfigResourceType::client_quota:
        case catalog::ConfigResourceType::scram_credential:
        case catalog::ConfigResourceType::unknown:
            PARTITA_ASSERT(false, "the catalog asks for what requests can alter");
    }
    return {};
}

bool DefinedConfigRules::is_list(catalog::ConfigResourceType type, std::string_view name) const {
    if (type == catalog::ConfigResourceType::topic) {
        const config::TopicConfigDefinition* definition = config::find_topic_config(name);
        return definition != nullptr && definition->definition.type == config::ConfigType::list;
    }
    const config::ConfigDefinition* definition = config::find_broker_config(name);
    // Clients cannot append to the lists of subscriptions and groups, because Kafka does not treat them as lists.
    return type == catalog::ConfigResourceType::broker && definition != nullptr && definition->type == config::ConfigType::list;
}

std::optional<std::string> DefinedConfigRules::default_value(catalog::ConfigResourceType type, std::string_view name) const {
    const config::ConfigDefinition* definition = nullptr;
    if (type == catalog::ConfigResourceType::topic) {
        if (const config::TopicConfigDefinition* topic = config::find_topic_config(name)) {
            for (const config::ConfigSynonym& synonym : topic->broker_synonyms) {
                if (const auto text = config::config_value_text(broker_()->value(synonym.broker_config))) {
                    return text;
                }
            }
            definition = &topic->definition;
        }
    } else {
        definition = config::find_broker_config(name);
    }
    if (definition == nullptr || !definition->default_value) {
        return std::nullopt;
    }
    return std::string(*definition->default_value);
}

}  // namespace partita::runtime
