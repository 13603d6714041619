#include "broker/config/plugin_classes.h"

#include <algorithm>
#include <array>

#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"

namespace partita::config {
namespace {

constexpr std::string_view kKafka = "org.apache.kafka.";

struct ClassSetting {
    std::string_view name;
    /// Classes that begin so pass. Empty: none passes.
    std::string_view allowed;
};

constexpr std::array<ClassSetting, 17> kSettings = {{
    {"alter.config.policy.class.name", ""},
    {"client.quota.callback.class", ""},
    {"create.topic.policy.class.name", ""},
    {"kafka.metrics.reporters", kKafka},
    {"metric.reporters", kKafka},
    {"principal.builder.class", "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"},
    {"remote.log.metadata.manager.class.name", kKafka},
    {"remote.log.storage.manager.class.name", ""},
    {"replica.selector.class", kKafka},
    {"sasl.client.callback.handler.class", kKafka},
    {"sasl.login.callback.handler.class", kKafka},
    {"sasl.login.class", kKafka},
    {"sasl.oauthbearer.jwt.retriever.class", kKafka},
    {"sasl.oauthbearer.jwt.validator.class", kKafka},
    {"sasl.server.callback.handler.class", kKafka},
    {"security.providers", ""},
    {"ssl.engine.factory.class", "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory"},
}};

/// Null for settings without classes. A listener's own setting ends with the name of the general one.
const ClassSetting* setting_of(std::string_view name) {
    const auto found = std::ranges::find_if(kSettings, [&](const ClassSetting& each) {
        return name == each.name || (name.starts_with("listener.name.") && name.ends_with("." + std::string(each.name)));
    });
    return found == kSettings.end() ? nullptr : &*found;
}

bool is_on(const ConfigMap& given, std::string_view name) {
    const auto found = given.find(name);
    return found != given.end() && java::equal_ignoring_case(java::trim(found->second), "true");
}

}  // namespace

std::expected<void, ConfigError> check_plugin_classes(const ConfigMap& given, std::vector<StartNote>& notes) {
    for (const auto& [name, text] : given) {
        const ClassSetting* const setting = setting_of(name);
        if (setting == nullptr || (name.starts_with("remote.log.") && !is_on(given, "remote.log.storage.system.enable"))) {
            continue;
        }
        for (const std::string& class_name : java::split_list(text)) {
            if (!setting->allowed.empty() && class_name.starts_with(setting->allowed)) {
                continue;
            }
            if (name.ends_with("reporters") && class_name.starts_with("io.confluent.")) {
                notes.push_back({log::Level::warning, "reporters of Confluent's server are left out; /metrics has metrics",
                                 "names", name + "=" + class_name});
                continue;
            }
            return invalid_config("Invalid value " + class_name + " for configuration " + name + ": Class " + class_name +
                                  " could not be found. This broker loads no classes; " +
                                  (setting->allowed.empty() ? "leave the setting out"
                                   : setting->allowed == kKafka
                                       ? "leave the setting out or name one of Kafka's own"
                                       : "leave the setting out or use " + std::string(setting->allowed)));
        }
    }
    return {};
}

}  // namespace partita::config
