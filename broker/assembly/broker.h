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

namespace partita::runtime {

/// A whole broker but for its listeners: makes the parts, starts them and stops them. It does nothing else, and no part knows it;
/// what requests may use is handed out as `Services`. One for the program and one for the tests.
///
/// Locks of reactors are held for memory work and page-cache writes only. Their order: catalog, topic's expansion, group shard,
/// log; the upkeep thread holds the metadata store's before a group shard's.
class Broker {
  public:
    struct Options {
        std::shared_ptr<const config::BrokerConfig> config;
        /// One per reactor that will run.
        std::size_t reactor_count = 1;
        Storage::Options storage = {};
        /// Time, and where the work beside the reactors runs.
        Schedule schedule = real_schedule();
        /// Who may do what; null: everybody everything. Outlives the broker.
        const access::Rules* access_rules = nullptr;
        /// The process ends when somebody deletes the data directory.
        bool watches_directory = true;
    };

    /// Opens the data directory, recovers it and loads the catalog and coordinators. Blocks on the disk.
    [[nodiscard]] static std::expected<std::unique_ptr<Broker>, StartError> open(const Options& options);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    [[nodiscard]] Services& services();
    [[nodiscard]] Storage& storage();

    /// Where this broker has its HTTP side ("off" when there is none) and its data, for clients that ask for its settings:
    /// DescribeConfigs shows `partita.http.advertised`, unless that was given, and `partita.data.directory`. Said before a reactor runs.
    void announce_places(const std::string& http);
    /// Starts the workers beside the reactors, which run when this returned. Listeners are open.
    void start();
    /// What the readiness probe says.
    void set_ready(bool ready) { is_ready_.store(ready, std::memory_order_release); }
    /// Answers everything that waits in coordinators and fetches. On the first reactor's thread.
    void answer_waiting_requests();
    /// Writes everything out, closes the logs and leaves the clean mark. After all reactors stopped.
    [[nodiscard]] bool close();

  private:
    struct Parts;

    Broker(const Options& options, std::unique_ptr<Storage> storage);
    [[nodiscard]] std::expected<void, StartError> load(const Options& options);
    /// Of everything but the reactors.
    void stop_workers();

    std::atomic<bool> is_ready_ = false;
    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::runtime
