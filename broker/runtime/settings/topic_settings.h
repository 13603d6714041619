#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/topic_config.h"
#include "storage/log_config.h"

namespace partita::runtime {

/// The settings in force for a topic, for requests and for its logs. The pointers are never null. Topics with the same configs
/// may share the objects.
struct TopicSettings {
    std::shared_ptr<const config::TopicConfig> topic;
    std::shared_ptr<const LogConfig> logs;
};

/// Computes the settings of topics, once for all topics with the same configs. After a change of the broker's own settings, the
/// broker asks for every topic's settings while it holds the catalog's lock. One caller at a time.
class TopicSettingsTable {
  public:
    /// How many different sets of configs the table remembers. At one more the table starts over.
    static constexpr std::size_t kKindsMax = 256;

    /// Returns the settings of a topic that has these configs of its own. If the table cannot read them (another version wrote
    /// them), it writes a log line and uses the defaults.
    [[nodiscard]] TopicSettings of(std::string_view topic, const config::ConfigMap& configs,
                                   const std::shared_ptr<const config::BrokerConfig>& broker);

  private:
    /// The broker's settings that the entries of `known_` were computed with.
    std::shared_ptr<const config::BrokerConfig> broker_;
    std::map<config::ConfigMap, TopicSettings> known_;
};

}  // namespace partita::runtime
