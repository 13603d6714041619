#include "broker/tools/reassign_line.h"

#include <algorithm>
#include <string>
#include <vector>

namespace partita::tools {
namespace {

constexpr Option kReassignOptions[] = {
    {kBootstrapServer.name, kBootstrapServer.argument, kBootstrapServer.help, {}, {}, true},
    {"bootstrap-controller", "HOST:PORT,...", "not served: ask a broker", {}, {}, true},
    kCommandConfig,
    kHelp,
    kVersion,
    {"generate", "", "print an assignment of topics to brokers, and change nothing"},
    {"execute", "", "start the moves of --reassignment-json-file"},
    {"verify", "", "show how the moves of --reassignment-json-file stand; if all are done, remove their throttles"},
    {"cancel", "", "cancel the moves of --reassignment-json-file that are under way"},
    {"list", "", "list all moves that are under way"},
    {"topics-to-move-json-file", "file", R"(with --generate: {"version": 1, "topics": [{"topic": "t"}]})"},
    {"broker-list", "id,...", "with --generate: place the topics on these brokers"},
    {"disable-rack-aware", "", "with --generate: ignore the racks of the brokers"},
    {"reassignment-json-file", "file",
     "read the moves from a file; log_dirs may be missing: "
     R"({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "/data"]}]})"},
    {"throttle", "rate", "with --execute: limit moves between brokers, in bytes per second; -1: no limit", "-1", {}, false, true},
    {"replica-alter-log-dirs-throttle",
     "rate",
     "with --execute: limit moves between directories of a broker, in bytes per second; -1: no limit",
     "-1",
     {},
     false,
     true},
    {"timeout", "ms", "wait this long for moves between directories to start, in ms", "10000", {}, false, true},
    {"additional", "", "with --execute: also start if moves are under way; changes their throttle"},
    {"preserve-throttles", "", "with --verify and --cancel: keep the throttles"},
    {"disallow-replication-factor-change", "", "with --execute: refuse to change the number of replicas"},
};

struct Action {
    std::string_view name;
    std::vector<std::string_view> required;
    std::vector<std::string_view> permitted;
};

/// In the order of Kafka's message.
std::vector<Action> actions(std::string_view address) {
    const std::string_view config = kCommandConfig.name;
    const std::string_view server = kBootstrapServer.name;
    return {{"generate", {"topics-to-move-json-file", "broker-list"}, {server, config, "disable-rack-aware"}},
            {"execute",
             {"reassignment-json-file"},
             {"additional", server, config, "throttle", "replica-alter-log-dirs-throttle", "timeout",
              "disallow-replication-factor-change"}},
            {"verify", {"reassignment-json-file"}, {server, config, "preserve-throttles"}},
            {"cancel", {"reassignment-json-file"}, {address, config, "preserve-throttles", "timeout"}},
            {"list", {}, {address, config}}};
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::span<const Option> reassign_options() { return kReassignOptions; }

Outcome<void> check_reassign_line(const Options& options) {
    constexpr std::string_view kController = "bootstrap-controller";
    const bool has_server = options.has(kBootstrapServer.name);
    auto chosen = actions(has_server ? kBootstrapServer.name : kController);
    std::erase_if(chosen, [&](const Action& action) { return !options.has(action.name); });
    if (chosen.size() != 1) {
        return usage("Command must include exactly one action: --generate, --execute, --verify, --cancel, --list");
    }
    if (has_server && options.has(kController)) {
        return usage("Please don't specify both --bootstrap-server and --bootstrap-controller");
    }
    if (!has_server && !options.has(kController)) {
        return usage("Please specify either --bootstrap-server or --bootstrap-controller");
    }
    const Action& action = chosen.front();
    for (const std::string_view name : action.required) {
        if (!options.has(name)) {
            return usage("Missing required argument \"[" + std::string(name) + "]\"");
        }
    }
    for (const std::string_view name : options.order()) {
        if (name != action.name && !contains(action.required, name) && !contains(action.permitted, name)) {
            return usage("Option \"[" + std::string(name) + "]\" can't be used with action \"[" + std::string(action.name) +
                         "]\"");
        }
    }
    return {};
}

}  // namespace partita::tools
