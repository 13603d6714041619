#pragma once

#include <type_traits>
#include <utility>

#include "broker/runtime/settings/catalog_settings.h"
#include "broker/runtime/settings/group_settings.h"
#include "broker/runtime/settings/log_settings.h"

/// Settings for tests of the parts that act on them: the declared defaults, converted as the broker does it.
namespace partita {

/// Includes Kafka's wait for more members, which this broker does not have by default.
inline groups::GroupConfig declared_group_config() {
    groups::GroupConfig config = runtime::group_settings(config::BrokerConfig());
    config.initial_rebalance_delay_ms = 3'000;
    return config;
}
/// The declared settings with another value for one of them.
template <class Value>
groups::GroupConfig group_config_with(Required<Value> groups::GroupConfig::* setting, std::type_identity_t<Value> value) {
    groups::GroupConfig config = declared_group_config();
    config.*setting = std::move(value);
    return config;
}

inline catalog::CatalogSettings declared_catalog_settings() { return runtime::catalog_settings(config::BrokerConfig()); }

inline LogConfig declared_log_config() { return runtime::log_settings(config::TopicConfig(), config::BrokerConfig()); }

}  // namespace partita
