#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"
#include "protocol/mutex.h"

/// Log levels for kafka-configs --entity-type broker-loggers. A logger has the name of Kafka's logger for the same part of a
/// broker, so that familiar names work. The levels last until the process ends.
namespace partita::config {

/// Operations of IncrementalAlterConfigs with their numbers on the wire.
enum class AlterOperation : std::int8_t { set = 0, remove = 1, append = 2, subtract = 3 };

struct ConfigChange {
    std::string name;
    AlterOperation operation = AlterOperation::set;
    std::optional<std::string> value;
};

/// The levels that clients have set, in place of the log's own. Thread-safe. One per process, because there is one log.
class BrokerLoggers {
  public:
    /// "root" and all loggers, ascending by name.
    [[nodiscard]] std::vector<ConfigEntry> describe(const DescribeOptions& options) const;

    /// Makes all changes or none. Errors and texts are those of Kafka 4.3.1: INVALID_CONFIG for unknown loggers and levels,
    /// INVALID_REQUEST for operations other than SET and DELETE. The caller has checked that names are unique and values present.
    [[nodiscard]] std::expected<void, ConfigError> alter(std::span<const ConfigChange> changes, bool validate_only);

  private:
    mutable Mutex mutex_{LockRank::broker_loggers};
    std::map<std::string, std::string, std::less<>> levels_ GUARDED_BY(mutex_);
};

/// The object of this process.
[[nodiscard]] BrokerLoggers& broker_loggers();

}  // namespace partita::config
