#pragma once

#include <type_traits>
#include <utility>

#include "broker/runtime/settings/catalog_settings.h"
#include "broker/runtime/settings/group_settings.h"
#include "broker/runtime/settings/log_settings.h"

/// Settings for tests of the parts that act on them: the declared defaults, carried over as in the broker.
namespace partita {

/// With the wait for more members that Kafka has, and this broker has not.
inline groups::GroupConfig declared_group_config() {
    groups::GroupConfig config = runtime::group_settings(config::BrokerConfig());
    config.initial_rebalance_delay_ms = 3'000;
    return config;
}
/// With another value of one of them.
template <class Value>
groups::GroupConfig group_config_with(Required<Value> groups::GroupConfig::* setting, std::type_identity_t<Value> value) {
    groups::GroupConfig config = declared_group_config();
    config.*setting = std::move(value);
    return config;
}

inline catalog::CatalogSettings declared_catalog_settings() { return runtime::catalog_settings(config::BrokerConfig()); }

inline LogConfig declared_log_config() { return runtime::log_settings(config::TopicConfig(), config::BrokerConfig()); }

}  // namespace partita
