#pragma once

#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/config_changes.h"
#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"
#include "protocol/mutex.h"

/// Log levels as kafka-configs --entity-type broker-loggers shows and sets them. Loggers have the names of Kafka's own
/// that stand for the same part of a broker, so that what people know by heart works; their levels last until
/// the process ends.
namespace partita::config {

/// Levels that a client set, on top of the log's. Thread-safe; one per process, since the log is.
class BrokerLoggers {
  public:
    /// "root" and all loggers, ascending by name.
    [[nodiscard]] std::vector<ConfigEntry> describe(const DescribeOptions& options) const;

    /// All changes or none. Errors and texts are those of Kafka 4.3.1: INVALID_CONFIG for unknown loggers and levels,
    /// INVALID_REQUEST for operations other than SET and DELETE. Names are unique and values there: that was checked.
    [[nodiscard]] std::expected<void, ConfigError> alter(std::span<const ConfigChange> changes, bool validate_only);

  private:
    mutable Mutex mutex_{LockRank::broker_loggers};
    std::map<std::string, std::string, std::less<>> levels_ GUARDED_BY(mutex_);
};

/// The one of this process.
[[nodiscard]] BrokerLoggers& broker_loggers();

}  // namespace partita::config
