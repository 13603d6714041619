#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/topic_config.h"
#include "storage/log_config.h"

namespace partita::runtime {

/// What is in force for a topic: for requests, and for its logs. Never null; topics with the same configs may share it.
struct TopicSettings {
    std::shared_ptr<const config::TopicConfig> topic;
    std::shared_ptr<const LogConfig> logs;
};

/// Works out the settings of topics, once for all that have the same configs: a change of the broker's own settings asks for
/// those of every topic, with the catalog's lock. One caller at a time.
class TopicSettingsTable {
  public:
    /// How many different sets of configs are remembered. With one more it begins anew.
    static constexpr std::size_t kKindsMax = 256;

    /// The settings of a topic with these configs of its own. Where they cannot be read, as another version wrote them, a line
    /// of the log says so and the defaults serve.
    [[nodiscard]] TopicSettings of(std::string_view topic, const config::ConfigMap& configs,
                                   const std::shared_ptr<const config::BrokerConfig>& broker);

  private:
    /// With these settings of the broker.
    std::shared_ptr<const config::BrokerConfig> broker_;
    std::map<config::ConfigMap, TopicSettings> known_;
};

}  // namespace partita::runtime
