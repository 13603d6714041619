#pragma once

#include <atomic>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>

#include "broker/access/authorizer.h"
#include "broker/assembly/storage.h"
#include "broker/config/broker_config.h"
#include "broker/handlers/services.h"
#include "broker/runtime/loop/start_error.h"
#include "schedule/executor.h"

namespace partita::logs {
class NodePlan;
}

namespace partita::runtime {

/// A whole broker except its listeners: it makes the parts, starts them and stops them. It does nothing else, and no part knows
/// it. `Services` has what requests may use. The program, the tests and the simulation use the same class.
class Broker {
  public:
    struct Options {
        std::shared_ptr<const config::BrokerConfig> config;
        /// How many reactors will run.
        std::size_t reactor_count = 1;
        /// How many of them may poll for events at once before they sleep (EventPolling).
        std::size_t polling_max = 0;
        Storage::Options storage = {};
        /// Time, and where the work beside the reactors runs.
        Schedule schedule = real_schedule();
        /// Who may do what; null: everybody everything. Outlives the broker.
        const access::Rules* access_rules = nullptr;
        /// As which nodes the broker shows itself; null: as the one that `config` names. Outlives the broker.
        const logs::NodePlan* nodes = nullptr;
        /// True to end the process when somebody deletes the data directory (DirectoryWatch).
        bool watches_directory = true;
    };

    /// Opens the data directory, recovers it and loads the catalog and coordinators. Blocks on the disk.
    [[nodiscard]] static std::expected<std::unique_ptr<Broker>, StartError> open(const Options& options);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    [[nodiscard]] Services& services();
    [[nodiscard]] Storage& storage();

    /// Has the addons say in the log what clients have to know of them.
    void announce_addons() const;
    /// Makes DescribeConfigs show where this broker has its HTTP side (`http`, "off" when there is none) and its data, as
    /// `partita.http.advertised`, unless that was given, and `partita.data.directory`. Call it before a reactor runs.
    void announce_places(const std::string& http);
    /// Starts the workers beside the reactors, which run when this returned. Listeners are open.
    void start();
    /// Sets what the readiness probe answers.
    void set_ready(bool ready) { is_ready_.store(ready, std::memory_order_release); }
    /// Answers all requests that wait in coordinators, and all waiting fetches. Call it on the first reactor's thread, at a stop.
    void answer_waiting_requests();
    /// Writes everything out, closes the logs and leaves the clean mark. Call it after all reactors have stopped. False when that
    /// failed: the log says why, and the next start recovers.
    [[nodiscard]] bool close();

  private:
    struct Parts;
    struct Records;
    struct Upkeep;

    Broker(const Options& options, std::unique_ptr<Storage> storage);
    [[nodiscard]] std::expected<void, StartError> load(const Options& options);
    /// Ends all workers. The reactors are somebody else's.
    void stop_workers();

    std::atomic<bool> is_ready_ = false;
    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::runtime
