#pragma once

#include "broker/config/broker_config.h"
#include "broker/config/topic_config.h"
#include "storage/log_config.h"

namespace partita::runtime {

/// What the logs of a topic want to know of its settings, and of the broker's.
[[nodiscard]] LogConfig log_settings(const config::TopicConfig& topic, const config::BrokerConfig& broker);

}  // namespace partita::runtime
