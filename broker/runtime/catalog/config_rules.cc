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

topics::CatalogError refusal(const config::ConfigError& error) { return {error.code, error.message}; }

}  // namespace

topics::CatalogError DefinedConfigRules::validate(const topics::ConfigResource& resource, const topics::ConfigMap& overrides,
                                                  const topics::ConfigMap& /*current*/) const {
    switch (resource.type) {
        case topics::ConfigResourceType::topic: {
            const auto valid = config::validate_topic_configs(overrides, *broker_());
            return valid ? topics::CatalogError{} : refusal(valid.error());
        }
        case topics::ConfigResourceType::broker: {
            const auto scope = resource.name.empty() ? config::BrokerScope::cluster_default : config::BrokerScope::this_broker;
            const auto valid = config::validate_broker_configs(*broker_(), scope, overrides);
            return valid ? topics::CatalogError{} : refusal(valid.error());
        }
        case topics::ConfigResourceType::group: {
            const auto valid = config::validate_group_configs(overrides, *broker_());
            return valid ? topics::CatalogError{} : refusal(valid.error());
        }
        case topics::ConfigResourceType::client_metrics: {
            const auto is_regex = [](std::string_view text) { return !groups::regex_complaint(text); };
            const auto valid = config::validate_client_metrics_configs(resource.name, overrides, is_regex);
            return valid ? topics::CatalogError{} : refusal(valid.error());
        }
        case topics::ConfigResourceType::broker_logger:
        case topics::ConfigResourceType::client_quota:
        case topics::ConfigResourceType::scram_credential:
        case topics::ConfigResourceType::unknown:
            PARTITA_ASSERT(false, "the catalog asks for what requests can alter");
    }
    return {};
}

bool DefinedConfigRules::is_list(topics::ConfigResourceType type, std::string_view name) const {
    if (type == topics::ConfigResourceType::topic) {
        const config::TopicConfigDefinition* definition = config::find_topic_config(name);
        return definition != nullptr && definition->definition.type == config::ConfigType::list;
    }
    const config::ConfigDefinition* definition = config::find_broker_config(name);
    // The lists of subscriptions and groups cannot be added to: Kafka does not know them for lists.
    return type == topics::ConfigResourceType::broker && definition != nullptr && definition->type == config::ConfigType::list;
}

std::optional<std::string> DefinedConfigRules::default_value(topics::ConfigResourceType type, std::string_view name) const {
    const config::ConfigDefinition* definition = nullptr;
    if (type == topics::ConfigResourceType::topic) {
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
