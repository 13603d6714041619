#pragma once

#include "broker/config/broker_config.h"
#include "broker/config/topic_config.h"
#include "storage/log_config.h"

namespace partita::runtime {

/// The settings of a topic's logs, derived from the topic's settings and the broker's.
[[nodiscard]] LogConfig log_settings(const config::TopicConfig& topic, const config::BrokerConfig& broker);

}  // namespace partita::runtime
