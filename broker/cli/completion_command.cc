// `partita completion SHELL` prints a shell's completion script, `partita complete` answers that script, and `partita manual
// COMMAND` prints a manual page. All three use the tables of the commands.

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "broker/cli/command.h"
#include "broker/cli/completion.h"
#include "broker/cli/http_client.h"
#include "broker/cli/manual.h"
#include "broker/cli/tool_commands.h"
#include "broker/client/groups.h"
#include "broker/client/tcp_network.h"
#include "broker/client/topics.h"
#include "broker/tools/tool.h"

namespace partita::cli {
namespace {

/// A person is waiting while typing.
constexpr const char* kAnswerTimeoutMs = "1000";
constexpr const char* kConnectTimeoutMs = "500";

std::optional<Shell> shell_of(std::string_view name) {
    return name == "bash"   ? std::optional(Shell::bash)
           : name == "zsh"  ? std::optional(Shell::zsh)
           : name == "fish" ? std::optional(Shell::fish)
                            : std::nullopt;
}

/// Names over HTTP, for the commands with --http.
std::vector<std::string> names_over_http(NameKind kind, const std::string& http) {
    const bool is_topic = kind == NameKind::topic;
    const auto answer =
        ask_http(http, HttpMethod::get, is_topic ? "/v1/topics?internal=0" : "/v1/groups", std::chrono::milliseconds(1000));
    std::vector<std::string> names;
    if (!answer || !answer->is_good()) {
        return names;
    }
    const auto json = nlohmann::ordered_json::parse(answer->body, nullptr, false);
    if (!json.is_object()) {
        return names;
    }
    for (const auto& one : json.value(is_topic ? "topics" : "groups", nlohmann::ordered_json::array())) {
        if (one.is_object()) {
            names.push_back(one.value(is_topic ? "topic" : "group", ""));
        }
    }
    return names;
}

/// If the broker does not answer or refuses, offer nothing: an error message would disturb the typing.
std::vector<std::string> known_names(NameKind kind, const WhomToAsk& whom) {
    if (!whom.http.empty()) {
        return names_over_http(kind, whom.http);
    }
    std::map<std::string, std::string> properties;
    if (!whom.properties_file.empty()) {
        auto read = tools::read_properties(whom.properties_file);
        if (!read) {
            return {};
        }
        properties = std::move(*read);
    }
    properties["bootstrap.servers"] = whom.bootstrap.empty() ? usual_bootstrap() : whom.bootstrap;
    properties["client.id"] = "partita-completion";
    for (const char* timeout : {"default.api.timeout.ms", "request.timeout.ms"}) {
        properties[timeout] = kAnswerTimeoutMs;
    }
    properties["socket.connection.setup.timeout.ms"] = kConnectTimeoutMs;
    const auto settings = client::settings_of(properties);
    if (!settings) {
        return {};
    }
    client::TcpNetwork network;
    client::Cluster cluster(network, *settings);
    std::vector<std::string> names;
    if (kind == NameKind::topic) {
        const auto topics = client::list_topics(cluster);
        if (!topics) {
            return {};
        }
        for (const auto& topic : *topics) {
            names.push_back(topic.name);
        }
    } else {
        const auto groups = client::list_all_groups(cluster);
        if (!groups) {
            return {};
        }
        for (const auto& group : *groups) {
            names.push_back(group.id);
        }
    }
    return names;
}

void answer(Shell shell, std::vector<std::string> words) {
    std::size_t not_counted = 0;
    if (shell == Shell::bash) {
        JoinedWords joined = joined_at_breaks(words);
        words = std::move(joined.words);
        not_counted = joined.last_word_begins_at;
    }
    const Completion found = complete(program(), std::move(words), known_names);
    for (const Candidate& one : found.candidates) {
        std::printf("%s\t%s\n", one.word.substr(std::min(not_counted, one.word.size())).c_str(), one.help.c_str());
    }
    if (found.takes_files) {
        std::printf(":files\n");
    }
}

int run_completion_command(const CommandLine& line) {
    std::fputs(completion_script(*shell_of(line.value("SHELL")), program()).c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

int run_manual(const CommandLine& line) {
    const std::string name = line.value("COMMAND");
    if (name.empty()) {
        for (const Command& command : program().subcommands) {
            std::printf("%s %s\n", std::string(command.name).c_str(), std::string(command.kafka_name).c_str());
        }
        return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
    }
    const Command* command = name == program().name ? &program() : find_command(program(), name);
    if (command == nullptr) {
        return refuse("unknown command " + name + "; `partita --help` lists them");
    }
    std::fputs(manual_page(*command, PARTITA_VERSION).c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

constexpr tools::Option kCompletionPositionals[] = {
    {.name = "SHELL", .argument = "", .help = "bash, zsh or fish", .choices = "bash zsh fish", .is_required = true},
};
constexpr tools::Option kManualPositionals[] = {
    {.name = "COMMAND",
     .argument = "",
     .help = "the command, or partita; without one: list all commands, each with the name of its Kafka tool"},
};
constexpr tools::Option kShellHelp[] = {kHelp};

}  // namespace

std::optional<int> run_completion(int argument_count, char** argument_values) {
    const std::span<char*> words(argument_values, static_cast<std::size_t>(std::max(argument_count, 0)));
    // partita complete SHELL -- WORD...
    constexpr std::size_t kBeforeWords = 4;
    if (words.size() < kBeforeWords || std::string_view(words[1]) != "complete" || std::string_view(words[3]) != "--") {
        return std::nullopt;
    }
    const auto shell = shell_of(words[2]);
    if (!shell) {
        return refuse(std::string("no completion for the shell ") + words[2]);
    }
    answer(*shell, {words.begin() + kBeforeWords, words.end()});
    return kExitDone;
}

constinit const Command kCompletionCommand{.name = "completion",
                                           .summary = "print the completion script of a shell",
                                           .options = kShellHelp,
                                           .positionals = kCompletionPositionals,
                                           .run = run_completion_command};
constinit const Command kManualCommand{.name = "manual",
                                       .summary = "print the manual page of a command, for man -l -",
                                       .options = kShellHelp,
                                       .positionals = kManualPositionals,
                                       .run = run_manual};

}  // namespace partita::cli
