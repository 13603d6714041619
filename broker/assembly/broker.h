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
#include "storage/data_change.h"

namespace partita::insight {
class ReaderObserver;
}

namespace partita::logs {
class NodePlan;
}

namespace partita::assembly {

/// A whole broker except its listeners: it makes the parts, starts them and stops them. It does nothing else, and no part knows
/// it. `Services` holds the parts that requests may use. The program, the tests and the simulation use the same class.
class Broker {
  public:
    struct Options {
        std::shared_ptr<const config::BrokerConfig> config;
        /// How many reactors will run.
        std::size_t reactor_count = 1;
        /// How many reactors may poll for events at once before they sleep (EventPolling).
        std::size_t polling_max = 0;
        Storage::Options storage = {};
        /// The clock, and the executor for work beside the reactors.
        Schedule schedule = real_schedule();
        /// The access rules; null allows everything. They outlive the broker.
        const access::Rules* access_rules = nullptr;
        /// The nodes that the broker presents itself as; null for the single node that `config` names. Outlives the broker.
        logs::NodePlan* nodes = nullptr;
        /// Ends this broker for a change of its data; empty if its owner does not do that.
        ChangeData change_data = {};
        /// True to end the process if the data directory is deleted (DirectoryWatch).
        bool watches_directory = true;
    };

    /// Opens the data directory, recovers it and loads the catalog and coordinators. Blocks on the disk.
    [[nodiscard]] static std::expected<std::unique_ptr<Broker>, runtime::StartError> open(const Options& options);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    [[nodiscard]] const runtime::Services& services() const;
    [[nodiscard]] Storage& storage();
    /// The observer of readers, for tests that make it look at a moment of their own.
    [[nodiscard]] insight::ReaderObserver& reader_observer();

    /// Lets the addons log what clients must know about them.
    void announce_addons() const;
    /// Sets the two configs by which DescribeConfigs shows the broker's places. `partita.http.advertised` becomes `http` ("off"
    /// without an HTTP side), unless it was configured. `partita.data.directory` becomes the data directory. Call this before a
    /// reactor runs.
    void announce_places(const std::string& http);
    /// Starts the workers beside the reactors. The listeners must be open; the reactors run after this returns.
    void start();
    /// Sets the answer of the readiness probe.
    void set_ready(bool ready) { is_ready_.store(ready, std::memory_order_release); }
    /// Answers all requests that wait in coordinators, and all waiting fetches. Call this on the first reactor's thread, at a
    /// stop.
    void answer_waiting_requests();
    /// Begins new segments where the active ones have `kLinkedBytes` or more, so that a snapshot links these instead of copying
    /// them. Call this before `close`.
    void begin_segments();
    static constexpr std::uint64_t kLinkedBytes = std::uint64_t{1} << 20;
    /// Writes everything out, closes the logs and leaves the clean mark. Call this after all reactors have stopped. False if that
    /// failed: the log says why, and the next start recovers.
    [[nodiscard]] bool close();

  private:
    struct Parts;
    struct Records;
    struct Upkeep;

    Broker(const Options& options, std::unique_ptr<Storage> storage);
    [[nodiscard]] std::expected<void, runtime::StartError> load(const Options& options);
    /// Ends all workers, but not the reactors: the caller owns them.
    void stop_workers();

    std::atomic<bool> is_ready_ = false;
    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::assembly
