#include "broker/runtime/settings/topic_settings.h"

#include <utility>

#include "broker/config/log_setup.h"
#include "broker/config/mode_patterns.h"
#include "broker/runtime/settings/log_settings.h"

namespace partita::runtime {

TopicSettings TopicSettingsTable::of(std::string_view topic, const config::ConfigMap& configs,
                                     const std::shared_ptr<const config::BrokerConfig>& broker) {
    if (broker != broker_) {
        known_.clear();
        broker_ = broker;
    }
    config::ConfigMap given = config::with_mode_pattern(configs, *broker, topic);
    if (const auto known = known_.find(given); known != known_.end()) {
        return known->second;
    }

    const auto settings_of = [&](const config::TopicConfig& config) {
        return TopicSettings{std::make_shared<const config::TopicConfig>(config),
                             std::make_shared<const LogConfig>(log_settings(config, *broker))};
    };
    const auto effective = config::effective_topic_config(given, *broker);
    if (!effective) {
        log::error("config", "cannot read a topic's settings; the defaults apply",
                   {{"topic", topic}, {"reason", effective.error().message}});
        return settings_of(config::TopicConfig());
    }
    if (known_.size() == kKindsMax) {
        known_.clear();
    }
    return known_.emplace(std::move(given), settings_of(*effective)).first->second;
}

}  // namespace partita::runtime
