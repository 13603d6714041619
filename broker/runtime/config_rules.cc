#include "broker/runtime/config_rules.h"

#include "broker/config/config_changes.h"
#include "broker/config/config_definition.h"
#include "broker/config/topic_config.h"

namespace partita::runtime {
namespace {

topics::CatalogError refusal(const config::ConfigError& error) { return {error.code, error.message}; }

}  // namespace

topics::CatalogError DefinedConfigRules::validate(const topics::ConfigResource& resource,
                                                  const topics::ConfigMap& overrides,
                                                  const topics::ConfigMap& /*current*/) const {
    switch (resource.type) {
        case topics::ConfigResourceType::topic: {
            const auto valid = config::validate_topic_configs(overrides, *broker_());
            return valid ? topics::CatalogError{} : refusal(valid.error());
        }
        case topics::ConfigResourceType::broker: {
            const auto scope =
                resource.name.empty() ? config::BrokerScope::cluster_default : config::BrokerScope::this_broker;
            const auto valid = config::validate_broker_configs(*broker_(), scope, overrides);
            return valid ? topics::CatalogError{} : refusal(valid.error());
        }
        case topics::ConfigResourceType::group:
        case topics::ConfigResourceType::client_metrics:
        case topics::ConfigResourceType::broker_logger:
        case topics::ConfigResourceType::client_quota:
        case topics::ConfigResourceType::scram_credential:
        case topics::ConfigResourceType::unknown:
            return {ErrorCode::invalid_request, "Configs of this resource type are not served by this broker."};
    }
    return {};
}

bool DefinedConfigRules::is_list(topics::ConfigResourceType type, std::string_view name) const {
    if (type == topics::ConfigResourceType::topic) {
        const config::TopicConfigDefinition* definition = config::find_topic_config(name);
        return definition != nullptr && definition->definition.type == config::ConfigType::list;
    }
    const config::ConfigDefinition* definition = config::find_broker_config(name);
    return definition != nullptr && definition->type == config::ConfigType::list;
}

std::optional<std::string> DefinedConfigRules::default_value(topics::ConfigResourceType type,
                                                             std::string_view name) const {
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
