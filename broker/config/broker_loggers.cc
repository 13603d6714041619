#include "broker/config/broker_loggers.h"

#include <algorithm>

#include "broker/config/config_refusal.h"
#include "broker/config/log_setup.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::config {
namespace {

constexpr std::string_view kRoot = "root";

struct Logger {
    std::string_view name;
    std::string_view area;
};

constexpr Logger kLoggers[] = {
    {"kafka.log.LogManager", "storage"},
    {"kafka.network.SocketServer", "net"},
    {"kafka.server.BrokerServer", "broker"},
    {"kafka.server.ConfigAdminManager", "config"},
    {"org.apache.kafka.controller.QuorumController", "catalog"},
    {"org.apache.kafka.coordinator.group.GroupCoordinatorService", "groups"},
    {"org.apache.kafka.storage.internals.log.LogLoader", "recovery"},
    {"partita.expansion", "expansion"},
    {"partita.http", "http"},
};
static_assert(std::size(kLoggers) == std::size(log::kAreas), "every area has a logger");

/// Kafka's levels and ours: Kafka's finest level is our debug, and its FATAL our error.
struct LevelName {
    std::string_view name;
    log::Level level;
};
constexpr LevelName kLevels[] = {
    {"DEBUG", log::Level::debug}, {"ERROR", log::Level::error}, {"FATAL", log::Level::error},
    {"INFO", log::Level::info},   {"TRACE", log::Level::debug}, {"WARN", log::Level::warning},
};

const Logger* find_logger(std::string_view name) {
    const auto found = std::ranges::find(kLoggers, name, &Logger::name);
    return found == std::end(kLoggers) ? nullptr : &*found;
}

const LevelName* find_level(std::string_view name) {
    const auto found = std::ranges::find(kLevels, name, &LevelName::name);
    return found == std::end(kLevels) ? nullptr : &*found;
}

std::string_view name_of(log::Level level) {
    switch (level) {
        case log::Level::debug:
            return "DEBUG";
        case log::Level::info:
            return "INFO";
        case log::Level::warning:
            return "WARN";
        case log::Level::error:
            return "ERROR";
        case log::Level::off:
            return "OFF";
    }
    return "OFF";
}

std::expected<void, ConfigError> judge(const ConfigChange& change) {
    const bool is_known = change.name == kRoot || find_logger(change.name) != nullptr;
    switch (change.operation) {
        case AlterOperation::set:
            if (!is_known) {
                return refusal(ErrorCode::invalid_config, "Logger " + change.name + " does not exist!");
            }
            if (find_level(*change.value) == nullptr) {
                return refusal(ErrorCode::invalid_config,
                               "Cannot set the log level of " + change.name + " to " + *change.value +
                                   " as it is not a supported log level. Valid log levels are DEBUG, ERROR, FATAL, "
                                   "INFO, TRACE, WARN");
            }
            return {};
        case AlterOperation::remove:
            if (change.name == kRoot) {
                return refusal(ErrorCode::invalid_request, "Removing the log level of the root logger is not allowed");
            }
            if (!is_known) {
                return refusal(ErrorCode::invalid_config, "Logger " + change.name + " does not exist!");
            }
            return {};
        case AlterOperation::append:
            return refusal(ErrorCode::invalid_request, "APPEND operation is not allowed for the BROKER_LOGGER resource");
        case AlterOperation::subtract:
            return refusal(ErrorCode::invalid_request, "SUBTRACT operation is not allowed for the BROKER_LOGGER resource");
    }
    return refusal(ErrorCode::unknown_server_error, "");
}

void apply(const ConfigChange& change) {
    std::optional<log::Level> level;
    if (change.operation == AlterOperation::set) {
        level = find_level(*change.value)->level;
    }
    if (change.name == kRoot) {
        PARTITA_ASSERT(level.has_value(), "the root logger keeps a level");
        log::set_level(*level);
    } else {
        log::set_area_level(find_logger(change.name)->area, level);
    }
}

}  // namespace

BrokerLoggers& broker_loggers() {
    static BrokerLoggers instance;
    return instance;
}

std::vector<ConfigEntry> BrokerLoggers::describe(const DescribeOptions& options) const {
    const MutexLock lock(mutex_);
    const auto root = levels_.find(kRoot);
    const std::string root_level = root == levels_.end() ? std::string(name_of(log::level())) : root->second;
    std::vector<ConfigEntry> entries;
    const auto add = [&](std::string_view name) REQUIRES(mutex_) {
        if (!is_described(options, name)) {
            return;
        }
        const auto own = levels_.find(name);
        entries.push_back({.name = std::string(name),
                           .value = own == levels_.end() ? root_level : own->second,
                           .source = ConfigSource::dynamic_broker_logger_config,
                           .documentation = ""});
    };
    for (const Logger& logger : kLoggers) {
        add(logger.name);
    }
    add(kRoot);
    return entries;
}

std::expected<void, ConfigError> BrokerLoggers::alter(std::span<const ConfigChange> changes, bool validate_only) {
    for (const ConfigChange& change : changes) {
        PARTITA_TRY(judge(change));
    }
    if (validate_only) {
        return {};
    }
    const MutexLock lock(mutex_);
    for (const ConfigChange& change : changes) {
        apply(change);
        if (change.operation == AlterOperation::set) {
            levels_.insert_or_assign(change.name, *change.value);
        } else {
            levels_.erase(change.name);
        }
    }
    return {};
}

}  // namespace partita::config
