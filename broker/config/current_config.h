#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "broker/config/broker_config.h"
#include "protocol/mutex.h"

namespace partita::config {

/// The broker's settings in force: those of the start, until the catalog replaces them. Thread-safe.
class CurrentConfig {
  public:
    explicit CurrentConfig(std::shared_ptr<const BrokerConfig> config) : config_(std::move(config)) {}
    CurrentConfig(const CurrentConfig&) = delete;
    CurrentConfig& operator=(const CurrentConfig&) = delete;

    /// Never null, and immutable. A caller that needs several settings from the same moment calls this once.
    [[nodiscard]] std::shared_ptr<const BrokerConfig> get() const {
        const MutexLock lock(mutex_);
        return config_;
    }
    /// For callers that need one setting only.
    [[nodiscard]] std::shared_ptr<const BrokerConfig> operator->() const { return get(); }

    void replace(std::shared_ptr<const BrokerConfig> config) {
        const MutexLock lock(mutex_);
        config_ = std::move(config);
    }

    /// Why the broker cannot change its settings from `before` to `after`, as text for the client. May read files.
    using Objection = std::function<std::optional<ConfigError>(const BrokerConfig& before, const BrokerConfig& after)>;
    /// Sets a check beyond the definitions of settings, for example whether key stores can be opened. Set it once, before a
    /// reactor runs.
    void set_objection(Objection objection) { objection_ = std::move(objection); }
    /// Why these settings cannot replace those in force. Called without locks before a client's change.
    [[nodiscard]] std::optional<ConfigError> objection_to(const BrokerConfig& after) const {
        return objection_ ? objection_(*get(), after) : std::nullopt;
    }

  private:
    Objection objection_;
    mutable Mutex mutex_{LockRank::current_config};
    std::shared_ptr<const BrokerConfig> config_ GUARDED_BY(mutex_);
};

}  // namespace partita::config
