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

/// The error if a TLS listener cannot use the settings `after`, in Kafka's words. Null if its settings are the same as in
/// `before`, or if all are usable. Reads the stores, so the caller must hold no lock.
[[nodiscard]] std::optional<config::ConfigError> objection_to_tls(const config::BrokerConfig& before,
                                                                  const config::BrokerConfig& after);

/// Makes listeners reload their TLS settings and stores after a change, by kafka-configs or of a file on disk. A worker checks
/// each second; without TLS listeners there is no worker. `objection_to_tls` refuses unusable settings earlier. For an unusable
/// file, the worker logs each change once. The listener keeps its previous settings, because a file may be half written.
///
/// Open connections do not change; sessions from before a reload are not resumed.
class TlsReload {
  public:
    static constexpr std::int64_t kLookMs = 1'000;

    /// Called on the worker's thread.
    using Take = std::function<void(const std::string& listener, std::shared_ptr<const tls::ServerContext> context)>;

    /// `config` must outlive this object. The listeners must already have the present settings.
    TlsReload(const Schedule& schedule, const config::CurrentConfig& config, Take take);
    void watch(const config::Endpoint& listener);
    /// Call this after the last `watch`.
    void start();

    /// The inputs of a context: values of configs, and marks that change with a file.
    using State = std::map<std::string, std::string, std::less<>>;
    /// If the state differs from the previous one, the listener needs a new context.
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
    // Declared last, so that it ends before the members that it uses.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::net
