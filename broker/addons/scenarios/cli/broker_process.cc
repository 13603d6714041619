#include "broker/addons/scenarios/cli/broker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "broker/client/cluster.h"
#include "broker/client/settings.h"
#include "broker/client/tcp_network.h"
#include "broker/client/topics.h"
#include "protocol/try.h"

extern char** environ;

namespace partita::scenarios {
namespace {

constexpr std::int64_t kStartMs = 30'000;

/// Our environment without settings of brokers: a broker reads some from there.
std::vector<std::string> environment_of_broker() {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        if (!text.starts_with("KAFKA_") && !text.starts_with("PARTITA_")) {
            environment.emplace_back(text);
        }
    }
    return environment;
}

std::string text_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::expected<std::string, std::string> own_path() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) {
        return std::unexpected("cannot find the path of this program: " + error.message());
    }
    return path.string();
}

/// Returns the port when the file has it.
std::expected<std::string, std::string> await_port(Process& process, const std::string& directory, int interruption) {
    client::TcpNetwork network;
    const Instant begun = network.clock().now().monotonic;
    while (true) {
        // The broker puts the whole file in its place at once.
        if (std::string port = text_of_file(directory + "/port"); !port.empty()) {
            std::erase(port, '\n');
            return port;
        }
        if (const auto& ending = process.look()) {
            return std::unexpected("the broker ended " + ending->how + ":\n" + end_of_log(directory));
        }
        if (network.clock().now().monotonic - begun > kStartMs) {
            return std::unexpected("the broker is not ready after " + std::to_string(kStartMs / 1000) + " s:\n" +
                                   end_of_log(directory));
        }
        constexpr int kLookEveryMs = 5;
        pollfd waits[2] = {{process.descriptor(), POLLIN, 0}, {interruption, POLLIN, 0}};
        ::poll(waits, 2, kLookEveryMs);
        if ((waits[1].revents & POLLIN) != 0) {
            return std::unexpected("interrupted");
        }
    }
}

/// The broker's own word for where its HTTP side listens.
std::expected<std::string, std::string> http_of(const std::string& kafka) {
    auto settings = client::settings_of({{"bootstrap.servers", kafka}, {"client.id", "partita-scenario"}});
    if (!settings) {
        return std::unexpected(settings.error().message);
    }
    client::TcpNetwork network;
    client::Cluster cluster(network, std::move(*settings));
    const auto membership = cluster.membership("describeCluster");
    if (!membership) {
        return std::unexpected(membership.error().message);
    }
    const std::string id = std::to_string((*membership)->nodes.empty() ? -1 : (*membership)->nodes.front().id);
    const auto configs = client::describe_configs(cluster, client::ResourceType::broker, std::span(&id, 1));
    if (!configs) {
        return std::unexpected(configs.error().message);
    }
    for (const auto& [broker, entries] : *configs) {
        const auto found = std::ranges::find(entries, "partita.http.advertised", &client::ConfigEntry::name);
        if (found != entries.end() && found->value) {
            return *found->value;
        }
    }
    return std::unexpected("the broker does not say where its HTTP side listens");
}

}  // namespace

std::expected<std::unique_ptr<WorkDirectory>, std::string> WorkDirectory::make() {
    const char* const parent = std::getenv("TMPDIR");
    std::string path = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/partita-scenario-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
        return std::unexpected("cannot make the directory " + path + ": " + std::generic_category().message(errno));
    }
    return std::unique_ptr<WorkDirectory>(new WorkDirectory(std::move(path)));
}

WorkDirectory::~WorkDirectory() {
    if (!is_kept_) {
        // A file that cannot be removed is left; there is nobody to tell.
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
}

std::expected<BrokerProcess, std::string> start_broker(const BrokerWish& wish, const std::string& directory, int interruption) {
    PARTITA_TRY_ASSIGN(const auto program, own_path());
    const std::string log = directory + "/broker.log";
    const FileDescriptor output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!output.is_open()) {
        return std::unexpected("cannot write " + log + ": " + std::generic_category().message(errno));
    }
    std::vector<std::string> words{program,       "serve", "--test-bench", "--ephemeral",      "--port", "0",
                                   "--http-port", "0",     "--port-file",  directory + "/port"};
    if (!wish.from_snapshot.empty()) {
        words.insert(words.end(), {"--from-snapshot", wish.from_snapshot});
    }
    for (const auto& [name, value] : wish.configs) {
        words.insert(words.end(), {"--override", name + "=" + value});
    }
    PARTITA_TRY_ASSIGN(auto process, Process::start({.words = words,
                                                     .environment = environment_of_broker(),
                                                     .output = output.get(),
                                                     .errors = output.get(),
                                                     .signal_of_death = SIGTERM}));
    PARTITA_TRY_ASSIGN(const auto port, await_port(process, directory, interruption));
    BrokerProcess broker{.process = std::move(process), .kafka = "localhost:" + port, .http = {}};
    PARTITA_TRY_ASSIGN(broker.http, http_of(broker.kafka));
    return broker;
}

std::string end_of_log(const std::string& directory) {
    constexpr std::size_t kBytesMax = 2000;
    std::string text = text_of_file(directory + "/broker.log");
    if (text.size() > kBytesMax) {
        text.erase(0, text.find('\n', text.size() - kBytesMax) + 1);
    }
    return text;
}

}  // namespace partita::scenarios
