#include "broker/serve.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <fstream>
#include <thread>

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
#include "broker/net/server.h"
#include "broker/runtime/loop/turn_timer.h"
#include "broker/runtime/loop/usable_processors.h"
#include "broker/start_memory.h"
#include "schedule/executor.h"

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

/// Carries out the stop, step by step on the first reactor: refuse new connections, answer waiting requests, send the replies,
/// then end all loops.
class Shutdown {
  public:
    Shutdown(assembly::Broker& broker, net::Server& server, http::HttpServer& http)
        : broker_(broker),
          reactors_(broker.services().turns.reactors()),
          server_(server),
          http_(http),
          timer_(*reactors_.front()) {}

    void begin() {
        if (begun_) {
            return;
        }
        begun_ = true;
        broker_.set_ready(false);
        server_.stop_accepting();
        http_.stop();
        for (std::size_t index = 0; index < reactors_.size(); ++index) {
            reactors_[index]->post([this, index] { server_.net_reactor(index).begin_drain(); });
        }
        reactors_.front()->post([this] { broker_.answer_waiting_requests(); });
        reactors_.front()->refresh_now();
        deadline_ = reactors_.front()->machine_now() + kDrainTimeoutMs;
        poll();
    }

  private:
    void poll() {
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
        for (std::size_t index = 0; index < reactors_.size(); ++index) {
            reactors_[index]->post([this, index] {
                server_.net_reactor(index).close_all();
                reactors_[index]->stop();
            });
        }
    }

    assembly::Broker& broker_;
    const std::vector<std::unique_ptr<runtime::Reactor>>& reactors_;
    net::Server& server_;
    http::HttpServer& http_;
    runtime::TurnTimer timer_;
    Instant deadline_{};
    bool begun_ = false;
};

void announce(const config::BrokerConfig& config, const std::vector<net::BoundListener>& listeners, const std::string& http) {
    for (const net::BoundListener& listener : listeners) {
        const auto advertised = config::advertised_address(config.listeners, listener.name, listener.address, listener.port);
        log::info("net", "listening",
                  {{"listener", listener.name},
                   {"address", config::to_string(config::AdvertisedAddress{listener.address, listener.port})},
                   {"advertises", !advertised                                                 ? "nothing"
                                  : advertised->host == "0.0.0.0" || advertised->host == "::" ? "the address of each connection"
                                                                                              : config::to_string(*advertised)}});
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
    auto http_security = http::load_http_security(*options.config);
    if (!http_security && options.http_port != "off") {
        return refuse(http_security.error());
    }
    const std::size_t processors = runtime::usable_processors();
    auto opened = assembly::Broker::open({.config = options.config,
                                          .reactor_count = std::min(processors, kMostReactors),
                                          .polling_max = polling_max(*options.config, processors),
                                          .storage = {.ephemeral = options.ephemeral},
                                          .schedule = schedule});
    if (!opened) {
        return refuse(opened.error().message);
    }
    const std::unique_ptr<assembly::Broker> broker = std::move(*opened);
    const runtime::Services& services = broker->services();
    runtime::Reactor& first_reactor = services.turns.first_reactor();
    log::info("broker", "starting",
              {{"version", PARTITA_VERSION},
               {"node", services.placement.own().value},
               {"cluster", services.description.cluster_id},
               {"data_directory", services.description.log_directory},
               {"memory_only", options.ephemeral ? "yes" : "no"}});
    broker->announce_addons();
    net::Server server(kafka::surroundings_of(services), schedule);
    // The data is unchanged, so the next start need not recover.
    const auto refuse_cleanly = [&broker](const std::string& message) {
        // If the close fails, the next start recovers. The message says why this start failed.
        (void)broker->close();
        return refuse(message);
    };
    auto listeners =
        server.open(options.config->listeners.listeners, kafka::kafka_fronts(services, kafka::local_handlers(), schedule));
    if (!listeners) {
        return refuse_cleanly(listeners.error());
    }
    const bool has_tls = http_security && http_security->tls != nullptr;
    http::HttpServer http(services, server, schedule.executor, http_security ? std::move(*http_security) : http::HttpSecurity());
    const std::string kafka_address = client_address(*options.config, *listeners);
    const std::string http_address = http.open(options.http_port, kafka_address);
    broker->announce_places(advertised_http(http_address, kafka_address, has_tls));

    boost::asio::signal_set signals(first_reactor.context(), SIGTERM, SIGINT);
    Shutdown shutdown(*broker, server, http);
    signals.async_wait([&shutdown](const boost::system::error_code& error, int signal_number) {
        if (!error) {
            log::info("broker", "stopping", {{"signal", signal_number}});
            shutdown.begin();
        }
    });
    server.start();
    http.start();
    broker->start();
    broker->set_ready(true);
    announce(*services.config.get(), *listeners, http_address);
    if (!options.port_file.empty() && !listeners->empty() && !write_port_file(options.port_file, listeners->front().port)) {
        return refuse_cleanly("cannot write " + options.port_file + "; check its directory");
    }
    print_greeting(options, kafka_address);
    print_start_message(*options.config);

    runtime::TurnTimer started(first_reactor);
    first_reactor.refresh_now();
    started.start(first_reactor.machine_now() + kStartMemoryDelayMs, release_start_memory);

    run_reactors(services.turns.reactors());
    if (!options.port_file.empty()) {
        std::remove(options.port_file.c_str());
    }
    return broker->close() ? 0 : 1;
}

}  // namespace partita
