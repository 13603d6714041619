#include "broker/serve.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "broker/assembly/addon.h"
#include "broker/assembly/broker.h"
#include "broker/config/broker_rules.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/core_dumps.h"
#include "broker/handlers/services.h"
#include "broker/http/http_server.h"
#include "broker/kafka/kafka_front.h"
#include "broker/logs/placement.h"
#include "broker/logs/turns.h"
#include "broker/net/held_sockets.h"
#include "broker/net/server.h"
#include "broker/runtime/loop/turn_timer.h"
#include "broker/runtime/loop/usable_processors.h"
#include "broker/start_memory.h"
#include "protocol/file_descriptor.h"
#include "protocol/try.h"
#include "schedule/executor.h"
#include "storage/data_change.h"
#include "storage/data_snapshots.h"

namespace partita {
namespace {

constexpr int kExitRefused = 2;
// How long clients have to take their last replies at a stop.
constexpr std::int64_t kDrainTimeoutMs = 2000;
constexpr std::int64_t kDrainPollMs = 5;
// After this time the client that waits for the broker has connected, and memory used only by the start is idle.
constexpr std::int64_t kStartMemoryDelayMs = 1000;

int refuse(const std::string& message) {
    std::fprintf(stderr, "partita: %s\n", message.c_str());
    return kExitRefused;
}

constexpr std::size_t kMostReactors = 16;

/// How many reactors may occupy a processor while they poll for events. Half of the processors stay free for the clients.
std::size_t polling_max(const config::BrokerConfig& config, std::size_t processors) {
    return config.polling_enable ? processors / 2 : 0;
}

bool write_port_file(const std::string& path, std::uint16_t port) {
    // Readers wait for the file to appear, so rename a complete file into place.
    const std::string temporary = path + ".tmp";
    {
        std::ofstream file(temporary, std::ios::trunc);
        file << port << "\n";
        if (!file.flush()) {
            return false;
        }
    }
    return std::rename(temporary.c_str(), path.c_str()) == 0;
}

/// A broker that ends for a change of its data leaves this to the next one.
struct Legacy {
    net::HeldSockets sockets;
    FileDescriptor http_listener;
    std::optional<assembly::EphemeralDirectory> ephemeral_directory;
};

/// Carries out the stop, step by step on the first reactor: refuse new connections, answer waiting requests, send the replies,
/// then end all loops. A stop for a change of the data keeps the sockets open instead.
class Shutdown {
  public:
    Shutdown(assembly::Broker& broker, net::Server& server, http::HttpServer& http)
        : broker_(broker),
          reactors_(broker.services().turns.reactors()),
          server_(server),
          http_(http),
          held_(reactors_.size()),
          timer_(*reactors_.front()) {}

    void begin() {
        if (change_) {
            change_->done(std::unexpected(broker_stops()));
            change_.reset();
        }
        if (begun_) {
            return;
        }
        begun_ = true;
        broker_.set_ready(false);
        server_.stop_accepting();
        http_.stop();
        drain();
    }
    /// No effect if a stop has begun; `change` is then told so.
    void begin(DataChange change) {
        if (begun_) {
            change.done(std::unexpected(broker_stops()));
            return;
        }
        begun_ = true;
        change_ = std::move(change);
        server_.pause_accepting();
        http_listener_.emplace(http_.stop_and_release());
        drain();
    }

    /// Null if the broker stops for good. Call this, and `leave`, when no reactor runs any more.
    [[nodiscard]] std::optional<DataChange>& change() { return change_; }
    [[nodiscard]] Legacy leave() {
        Legacy legacy{.sockets = {.listeners = server_.release_listeners(), .connections = {}},
                      .http_listener = std::move(*http_listener_),
                      .ephemeral_directory = std::move(broker_.storage().ephemeral_directory)};
        for (std::vector<net::HeldConnection>& held : held_) {
            std::ranges::move(held, std::back_inserter(legacy.sockets.connections));
        }
        return legacy;
    }

  private:
    static StorageError broker_stops() { return {StorageError::Kind::closed, 0, "the broker stops"}; }
    void drain() {
        for (std::size_t index = 0; index < reactors_.size(); ++index) {
            reactors_[index]->post([this, index] { server_.net_reactor(index).begin_drain(); });
        }
        reactors_.front()->refresh_now();
        deadline_ = reactors_.front()->machine_now() + kDrainTimeoutMs;
        poll();
    }
    void poll() {
        // Also those that a reactor took before it heard of the stop.
        broker_.answer_waiting_requests();
        // Ask each reactor on its own thread whether all replies are out.
        auto open_questions = std::make_shared<std::atomic<std::size_t>>(reactors_.size());
        auto all_answered = std::make_shared<std::atomic<bool>>(true);
        for (std::size_t index = 0; index < reactors_.size(); ++index) {
            reactors_[index]->post([this, index, open_questions, all_answered] {
                if (!server_.net_reactor(index).all_answered()) {
                    all_answered->store(false);
                }
                if (open_questions->fetch_sub(1) == 1) {
                    const bool done = all_answered->load();
                    reactors_.front()->post([this, done] { on_answers(done); });
                }
            });
        }
    }

    void on_answers(bool all_answered) {
        const Instant now = reactors_.front()->machine_now();
        if (!all_answered && now < deadline_) {
            timer_.start(now + kDrainPollMs, [this] { poll(); });
            return;
        }
        const bool keeps_sockets = change_.has_value();
        for (std::size_t index = 0; index < reactors_.size(); ++index) {
            reactors_[index]->post([this, index, keeps_sockets] {
                if (keeps_sockets) {
                    held_[index] = server_.net_reactor(index).release_all();
                } else {
                    server_.net_reactor(index).close_all();
                }
                reactors_[index]->stop();
            });
        }
    }

    assembly::Broker& broker_;
    const std::vector<std::unique_ptr<runtime::Reactor>>& reactors_;
    net::Server& server_;
    http::HttpServer& http_;
    /// By reactor.
    std::vector<std::vector<net::HeldConnection>> held_;
    std::optional<FileDescriptor> http_listener_;
    std::optional<DataChange> change_;
    runtime::TurnTimer timer_;
    Instant deadline_{};
    bool begun_ = false;
};

void announce(const config::BrokerConfig& config, const std::vector<net::BoundListener>& listeners, const std::string& http) {
    for (const net::BoundListener& listener : listeners) {
        auto advertised = config::advertised_address(config.listeners, listener.name, listener.address, listener.port);
        if (advertised) {
            advertised->port = listener.advertised_port;
        }
        const std::string address = config::to_string(config::AdvertisedAddress{listener.address, listener.port});
        const std::string advertises = !advertised ? "nothing"
                                       : advertised->host == "0.0.0.0" || advertised->host == "::"
                                           ? "the address of each connection"
                                           : config::to_string(*advertised);
        if (listener.node == kNoBroker) {
            log::info("net", "listening", {{"listener", listener.name}, {"address", address}, {"advertises", advertises}});
        } else {
            log::info(
                "net", "listening",
                {{"broker", listener.node.value}, {"listener", listener.name}, {"address", address}, {"advertises", advertises}});
        }
    }
    if (!http.empty()) {
        log::info("http", "listening", {{"address", http}});
    }
}

/// Prints a line for programs that recognize a ready broker by another broker's message.
void print_start_message(const config::BrokerConfig& config) {
    const std::string message = std::get<std::string>(config.value("partita.start.message"));
    if (!message.empty()) {
        std::puts(message.c_str());
        std::fflush(stdout);
    }
}

/// The address where clients connect: the first advertised listener. Empty if no listener exists.
std::string client_address(const config::BrokerConfig& config, const std::vector<net::BoundListener>& listeners) {
    if (listeners.empty()) {
        return {};
    }
    const net::BoundListener& first = listeners.front();
    const auto advertised = config::advertised_address(config.listeners, first.name, first.address, first.port);
    return config::to_string(advertised.value_or(config::AdvertisedAddress{first.address, first.port}));
}

/// Prints the greeting for the user who started the broker.
void print_greeting(const ServeOptions& options, const std::string& kafka_address) {
    const auto address = config::parse_host_and_port(kafka_address);
    if (!options.greeting || !address) {
        return;
    }
    std::fputs(options.greeting(address->host).c_str(), stdout);
    std::fflush(stdout);
}

/// The address where clients find the HTTP side, with https:// in front if TLS is on. If it listens on every interface, clients
/// use the host of Kafka's protocol.
std::string advertised_http(const std::string& bound, const std::string& kafka, bool has_tls) {
    if (bound.empty()) {
        return "off";
    }
    auto http = config::parse_host_and_port(bound);
    const auto clients = config::parse_host_and_port(kafka);
    if (http && clients && (http->host == "0.0.0.0" || http->host == "::")) {
        http->host = clients->host;
    }
    return (has_tls ? "https://" : "") + (http ? config::to_string(*http) : bound);
}

/// Runs the first reactor on this thread. Returns when all have ended.
void run_reactors(const std::vector<std::unique_ptr<runtime::Reactor>>& reactors) {
    std::vector<std::thread> threads;
    for (std::size_t index = 1; index < reactors.size(); ++index) {
        threads.emplace_back([&reactors, index] { reactors[index]->run(); });
    }
    reactors.front()->run();
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// Opens the listeners of every node.
std::expected<std::vector<net::BoundListener>, std::string> open_listeners(net::Server& server, const runtime::Services& services,
                                                                           const config::BrokerConfig& config,
                                                                           const Schedule& schedule, net::HeldSockets* held) {
    const net::FrontMaker fronts = kafka::kafka_fronts(services, kafka::local_handlers(), schedule);
    logs::NodePlan* const plan = services.placement.plan();
    PARTITA_TRY_ASSIGN(auto bound, server.open(config.listeners.listeners, fronts, held,
                                               {.id = plan == nullptr ? kNoBroker : services.placement.own()}));
    if (plan == nullptr) {
        return bound;
    }
    std::uint16_t step = 0;
    for (const BrokerId node : plan->further_nodes()) {
        PARTITA_TRY_ASSIGN(const auto further,
                           server.open(config.listeners.listeners, fronts, held, {.id = node, .port_step = ++step}));
        bound.insert(bound.end(), further.begin(), further.end());
    }
    std::vector<logs::NodeListener> listeners;
    for (const net::BoundListener& each : bound) {
        listeners.push_back({.node = each.node, .listener = each.name, .port = each.advertised_port});
    }
    plan->set_doors(std::move(listeners), &server);
    return bound;
}

/// Hands a wish for a change to the broker that runs.
class ChangeDesk {
  public:
    /// Any thread.
    [[nodiscard]] bool begin(DataChange change) {
        if (is_taken_.exchange(true)) {
            return false;
        }
        reactor_->post([shutdown = shutdown_, change = std::move(change)] { shutdown->begin(change); });
        return true;
    }
    /// Before the reactors of a broker run. `shutdown` lives as long as they do.
    void serve(runtime::Reactor& reactor, Shutdown& shutdown) {
        reactor_ = &reactor;
        shutdown_ = &shutdown;
        is_taken_ = false;
    }

  private:
    /// Also until the first broker runs.
    std::atomic<bool> is_taken_ = true;
    runtime::Reactor* reactor_ = nullptr;
    Shutdown* shutdown_ = nullptr;
};

/// The snapshot that the change was about. An error if nothing was changed.
StorageResult<DataSnapshots::Snapshot> carry_out(const DataChange& change, const std::string& directory) {
    DataSnapshots snapshots(directory);
    switch (change.kind) {
        case DataChange::Kind::take:
            return snapshots.take(change.name);
        case DataChange::Kind::restore: {
            PARTITA_TRY_ASSIGN(auto snapshot, snapshots.find(change.name));
            if (auto restored = snapshots.restore(change.name); !restored && !snapshots.is_unfinished()) {
                return std::unexpected(std::move(restored.error()));
            }
            // A restore that is not finished is completed before the next broker opens the directory, or that one does not start.
            return snapshot;
        }
    }
    return snapshots.find(change.name);
}

/// The end of a broker that ran: the exit code, or a change with what the broker left.
struct Ended {
    int code = 0;
    std::optional<DataChange> change;
    /// `change` was told its outcome.
    bool is_told = false;
    /// The data directory, if there is a change.
    std::string directory;
    /// The outcome of the change.
    StorageResult<DataSnapshots::Snapshot> snapshot = DataSnapshots::Snapshot();
    Legacy legacy;
};

std::expected<void, runtime::StartError> prepare(const std::string& directory, const std::string& from_snapshot) {
    DataSnapshots snapshots(directory);
    if (!from_snapshot.empty()) {
        if (auto begun = snapshots.begin_from(from_snapshot); !begun) {
            return std::unexpected(runtime::StartError{begun.error().message});
        }
    }
    if (auto finished = snapshots.finish(); !finished) {
        return std::unexpected(runtime::StartError{"cannot complete the restore of a snapshot, whose files are in " + directory +
                                                   "/" + std::string(DataSnapshots::kFolder) + ": " + finished.error().message});
    }
    return {};
}

void log_change(const Ended& ended) {
    const bool is_take = ended.change->kind == DataChange::Kind::take;
    if (ended.snapshot) {
        log::info("broker", is_take ? "the broker took a snapshot" : "the broker went back to a snapshot",
                  {{"name", ended.change->name}, {"bytes", ended.snapshot->size_bytes}});
    } else {
        log::error("broker",
                   is_take ? "the broker could not take a snapshot; the data are as before"
                           : "the broker could not go back to a snapshot; the data are as before",
                   {{"name", ended.change->name}, {"reason", ended.snapshot.error().message}});
    }
}

Ended refused(const std::string& message) { return {.code = refuse(message), .change = std::nullopt, .legacy = {}}; }

/// Keeps the handlers of SIGTERM and SIGINT between two brokers: while any set of Asio exists, no signal ends the process.
class KeptSignals {
  public:
    /// Call this while the first broker has its set.
    void keep() {
        if (!set_) {
            set_.emplace(idle_, SIGTERM, SIGINT);
            set_->async_wait([this](const boost::system::error_code& error, int) { has_come_ = has_come_ || !error; });
        }
    }
    /// True if a signal came that no broker has followed.
    [[nodiscard]] bool has_come() {
        idle_.restart();
        idle_.poll();
        return has_come_;
    }

  private:
    boost::asio::io_context idle_;
    std::optional<boost::asio::signal_set> set_;
    bool has_come_ = false;
};

/// Runs one broker. `before`: the end of the broker before it; null for the first one.
Ended run_broker(const ServeOptions& options, const Schedule& schedule, KeptSignals& kept_signals, ChangeDesk& desk,
                 Ended* before) {
    auto http_security = http::load_http_security(*options.config);
    if (!http_security && options.http_port != "off") {
        return refused(http_security.error());
    }
    const std::size_t processors = runtime::usable_processors();
    auto opened = assembly::Broker::open(
        {.config = options.config,
         .reactor_count = std::min(processors, kMostReactors),
         .polling_max = polling_max(*options.config, processors),
         .storage = {.ephemeral = options.ephemeral,
                     .kept = before ? &before->legacy.ephemeral_directory : nullptr,
                     .prepare =
                         [&](const std::string& directory) { return prepare(directory, before ? "" : options.from_snapshot); },
                     .file_system = assembly::file_system_of(*options.config)},
         .schedule = schedule,
         .change_data = [&desk](DataChange change) { return desk.begin(std::move(change)); }});
    if (!opened) {
        return refused(opened.error().message);
    }
    const std::unique_ptr<assembly::Broker> broker = std::move(*opened);
    const runtime::Services& services = broker->services();
    runtime::Reactor& first_reactor = services.turns.first_reactor();
    if (before == nullptr) {
        log::info("broker", "starting",
                  {{"version", PARTITA_VERSION},
                   {"node", services.placement.own().value},
                   {"cluster", services.description.cluster_id},
                   {"data_directory", services.description.log_directory},
                   {"memory_only", options.ephemeral ? "yes" : "no"}});
        broker->announce_addons();
    }
    net::Server server(kafka::surroundings_of(services), schedule);
    // The data is unchanged, so the next start need not recover.
    const auto refuse_cleanly = [&broker](const std::string& message) {
        // If the close fails, the next start recovers. The message says why this start failed.
        (void)broker->close();
        return refused(message);
    };
    auto listeners = open_listeners(server, services, *options.config, schedule, before ? &before->legacy.sockets : nullptr);
    if (!listeners) {
        return refuse_cleanly(listeners.error());
    }
    const bool has_tls = http_security && http_security->tls != nullptr;
    http::HttpServer http(services, server, schedule.executor, http_security ? std::move(*http_security) : http::HttpSecurity());
    const std::string kafka_address = client_address(*options.config, *listeners);
    const std::string http_address =
        http.open(options.http_port, kafka_address, before ? before->legacy.http_listener.release() : -1);
    broker->announce_places(advertised_http(http_address, kafka_address, has_tls));

    boost::asio::signal_set signals(first_reactor.context(), SIGTERM, SIGINT);
    Shutdown shutdown(*broker, server, http);
    signals.async_wait([&shutdown](const boost::system::error_code& error, int signal_number) {
        if (!error) {
            log::info("broker", "stopping", {{"signal", signal_number}});
            shutdown.begin();
        }
    });
    kept_signals.keep();
    if (before != nullptr && kept_signals.has_come()) {
        first_reactor.post([&shutdown] { shutdown.begin(); });
    }
    desk.serve(first_reactor, shutdown);
    server.start(before ? std::move(before->legacy.sockets.connections) : std::vector<net::HeldConnection>());
    http.start();
    broker->start();
    broker->set_ready(true);
    if (before != nullptr) {
        log_change(*before);
        before->change->done(before->snapshot);
        before->is_told = true;
    } else {
        announce(*services.config.get(), *listeners, http_address);
    }
    if (before == nullptr && !options.port_file.empty() && !listeners->empty() &&
        !write_port_file(options.port_file, listeners->front().port)) {
        return refuse_cleanly("cannot write " + options.port_file + "; check its directory");
    }
    if (before == nullptr) {
        print_greeting(options, kafka_address);
        print_start_message(*options.config);
    }
    const std::string directory = services.description.log_directory;
    std::jthread purge;
    if (std::filesystem::exists(directory + "/" + std::string(DataSnapshots::kFolder))) {
        purge = std::jthread([directory](const std::stop_token& stops) {
            DataSnapshots(directory).purge([&] { return stops.stop_requested(); });
        });
    }

    runtime::TurnTimer started(first_reactor);
    first_reactor.refresh_now();
    started.start(first_reactor.machine_now() + kStartMemoryDelayMs, release_start_memory);

    run_reactors(services.turns.reactors());
    if (logs::NodePlan* const plan = services.placement.plan()) {
        plan->set_doors({}, nullptr);
    }
    purge = {};
    if (!shutdown.change()) {
        return {.code = broker->close() ? 0 : 1, .change = std::nullopt, .legacy = {}};
    }
    Ended ended{.change = std::move(shutdown.change()), .legacy = shutdown.leave()};
    // A snapshot has everything. For a restore nothing of this is of use.
    bool is_closed = true;
    if (ended.change->kind == DataChange::Kind::take) {
        broker->begin_segments();
        is_closed = broker->close();
    }
    ended.directory = directory;
    if (!is_closed) {
        ended.snapshot = std::unexpected(
            StorageError{StorageError::Kind::io, 0, "the broker could not write everything out; its log says why"});
    }
    return ended;
}

}  // namespace

int serve(const ServeOptions& options) {
    // A write to a closed connection then returns an error instead of ending the process.
    ::signal(SIGPIPE, SIG_IGN);
    // Before the first secret is read.
    if (holds_secrets(*options.config) && !std::get<bool>(options.config->value("partita.core.dumps.enable")) &&
        !forbid_core_dumps()) {
        log::warning("broker", "cannot disable core dumps; a core dump would show passwords and keys");
    }
    const Schedule schedule = assembly::schedule_of(*options.config, real_schedule());
    KeptSignals kept_signals;
    ChangeDesk desk;
    auto ended = std::make_unique<Ended>(run_broker(options, schedule, kept_signals, desk, nullptr));
    while (ended->change) {
        // The broker is gone, and with it all that was open in the directory.
        if (ended->snapshot) {
            ended->snapshot = carry_out(*ended->change, ended->directory);
        }
        auto next = std::make_unique<Ended>(run_broker(options, schedule, kept_signals, desk, ended.get()));
        if (!ended->is_told) {
            ended->change->done(std::unexpected(
                StorageError{StorageError::Kind::closed, 0, "the broker could not start anew; its log says why"}));
        }
        ended = std::move(next);
    }
    if (!options.port_file.empty()) {
        std::remove(options.port_file.c_str());
    }
    return ended->code;
}

}  // namespace partita
