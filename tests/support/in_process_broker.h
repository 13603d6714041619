#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "broker/assembly/broker.h"
#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/kafka/kafka_front.h"
#include "broker/logs/placement.h"
#include "broker/logs/turns.h"
#include "broker/net/server.h"
#include "schedule/executor.h"
#include "storage/file_system.h"

namespace partita::test {

/// A whole broker within the test program, with its Kafka listener on a free loopback port. A test can make the file system below
/// it fail.
class InProcessBroker {
  public:
    struct Options {
        std::string data_directory;
        FileSystem* file_system = nullptr;
        MetadataStoreOptions metadata_store;
        std::vector<std::string> overrides;
        std::string listeners = "PLAINTEXT://127.0.0.1:0";
        net::reactor_choice::Limits placement = {};
        const access::Rules* access_rules = nullptr;
        /// The client asks the first one.
        logs::NodePlan* nodes = nullptr;
        /// Serves the requests of clients.
        kafka::RequestServer* requests = &kafka::local_handlers();
        /// Replaces the system's clock when set.
        Clock* clock = nullptr;
        /// Replaces the system's threads when set.
        Executor* executor = nullptr;

        [[nodiscard]] Schedule schedule() const {
            const Schedule real = real_schedule();
            return {clock == nullptr ? real.clock : *clock, executor == nullptr ? real.executor : *executor};
        }
    };

    /// Null when the broker does not start; standard error has the reason.
    [[nodiscard]] static std::unique_ptr<InProcessBroker> start(const Options& options);
    /// Like a kill: what was not written by then is not written any more.
    ~InProcessBroker();
    InProcessBroker(const InProcessBroker&) = delete;
    InProcessBroker& operator=(const InProcessBroker&) = delete;

    /// The clean stop. False when the data directory could not be closed cleanly.
    [[nodiscard]] bool stop();
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] assembly::Broker& broker() { return *broker_; }
    [[nodiscard]] const runtime::Services& services() { return broker_->services(); }
    [[nodiscard]] insight::ReaderObserver& reader_observer() { return broker_->reader_observer(); }

  private:
    static constexpr std::size_t kReactors = 2;

    explicit InProcessBroker(std::unique_ptr<assembly::Broker> broker);
    [[nodiscard]] bool run(const Options& options);
    void end_threads();

    std::unique_ptr<assembly::Broker> broker_;
    std::unique_ptr<net::Server> server_;
    std::vector<std::thread> threads_;
    std::uint16_t port_ = 0;
};

inline InProcessBroker::InProcessBroker(std::unique_ptr<assembly::Broker> broker) : broker_(std::move(broker)) {}

inline std::unique_ptr<InProcessBroker> InProcessBroker::start(const Options& options) {
    config::ConfigInputs inputs;
    inputs.overrides = options.overrides;
    inputs.overrides.push_back("log.dirs=" + options.data_directory);
    inputs.overrides.push_back("listeners=" + options.listeners);
    auto loaded = config::load_broker_config(inputs);
    if (!loaded) {
        std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
        return nullptr;
    }
    auto opened =
        assembly::Broker::open({.config = std::make_shared<const config::BrokerConfig>(std::move(loaded->config)),
                                .reactor_count = kReactors,
                                .storage = {.file_system = options.file_system, .metadata_store = options.metadata_store},
                                .schedule = options.schedule(),
                                .access_rules = options.access_rules,
                                .nodes = options.nodes,
                                .watches_directory = false});
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().message.c_str());
        return nullptr;
    }
    std::unique_ptr<InProcessBroker> process(new InProcessBroker(std::move(*opened)));
    return process->run(options) ? std::move(process) : nullptr;
}

inline bool InProcessBroker::run(const Options& options) {
    server_ = std::make_unique<net::Server>(kafka::surroundings_of(services()), options.schedule(), options.placement);
    const auto listeners = server_->open(services().config->listeners.listeners,
                                         kafka::kafka_fronts(services(), *options.requests, options.schedule()), nullptr,
                                         {.id = options.nodes == nullptr ? kNoBroker : services().placement.own()});
    if (!listeners) {
        std::fprintf(stderr, "%s\n", listeners.error().c_str());
        return false;
    }
    port_ = listeners->front().port;
    server_->start();
    broker_->start();
    broker_->set_ready(true);
    for (const std::unique_ptr<runtime::Reactor>& reactor : services().turns.reactors()) {
        threads_.emplace_back([&reactor] { reactor->run(); });
    }
    return true;
}

inline void InProcessBroker::end_threads() {
    if (!threads_.empty()) {
        services().turns.first_reactor().post([this] { server_->stop_accepting(); });
        for (std::size_t index = 0; index < services().turns.reactors().size(); ++index) {
            services().turns.reactors()[index]->post([this, index] {
                server_->net_reactor(index).close_all();
                services().turns.reactors()[index]->stop();
            });
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
        threads_.clear();
    }
}

inline bool InProcessBroker::stop() {
    end_threads();
    return broker_->close();
}

inline InProcessBroker::~InProcessBroker() { end_threads(); }

}  // namespace partita::test
