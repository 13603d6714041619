#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/current_config.h"
#include "broker/config/listeners.h"
#include "broker/tls/server_context.h"
#include "schedule/executor.h"

namespace partita::net {

/// Why some listener of TLS could not go on with the settings `after`, in Kafka's words. Null when nothing of what it is made of
/// differs from `before`, or all can be used. Reads the stores; the caller holds no lock.
[[nodiscard]] std::optional<config::ConfigError> objection_to_tls(const config::BrokerConfig& before,
                                                                  const config::BrokerConfig& after);

/// Has listeners take their TLS settings and stores anew when these have changed: by kafka-configs, or a file on disk. A worker
/// looks each second; without listeners of TLS there is none. Settings that cannot be used are refused before
/// (`objection_to_tls`); a file that cannot be used is told in the log, once for each change, and the listener goes on with what
/// it had: a file may be half written.
///
/// Connections that are open stay as they are; sessions from before are not resumed.
class TlsReload {
  public:
    static constexpr std::int64_t kLookMs = 1'000;

    /// Called on the worker's thread.
    using Take = std::function<void(const std::string& listener, std::shared_ptr<const tls::ServerContext> context)>;

    /// `config` outlives this. The listeners have what holds at this moment.
    TlsReload(const Schedule& schedule, const config::CurrentConfig& config, Take take);
    void watch(const config::Endpoint& listener);
    /// After the last `watch`.
    void start();

    /// What a context is made of: values of configs, and what tells whether a file is another one.
    using State = std::map<std::string, std::string, std::less<>>;
    /// Another one than before means that the listener needs another context.
    [[nodiscard]] static State state_of(const config::BrokerConfig& config, const config::Endpoint& listener);

  private:
    struct Watched {
        config::Endpoint listener;
        State state;
    };

    [[nodiscard]] Instant look();

    const Schedule schedule_;
    const config::CurrentConfig& config_;
    const Take take_;
    std::vector<Watched> watched_;
    // The last: it ends before what it uses.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::net
