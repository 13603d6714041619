#pragma once

#include <cstdio>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/network.h"
#include "broker/tools/options.h"
#include "broker/tools/web_service.h"

/// Kafka's command line tools, written anew: the same options, the same text on the same stream, the same exit codes, against any
/// cluster. Each is a row of `all_tools` and a file of its own, NAME_tool.cc. What differs from Kafka's is in docs/commands.md.
namespace partita::tools {

/// What a tool has of the process.
struct Surroundings {
    client::Network& network;
    std::FILE* in;
    std::FILE* out;
    std::FILE* errors;
    /// Called as Kafka's tool is, by a link: where the two would differ, Kafka's way counts.
    bool is_kafkas_name = false;
    /// Who is asked when the line names no brokers. Empty: it has to.
    std::string bootstrap = {};
    /// How services of the web are asked. The error is for people.
    std::expected<WebAnswer, std::string> (*ask_web)(const WebService& service, const WebRequest& request) = nullptr;

    void print(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), out); }
    /// One line on the error stream.
    void complain(const std::string& line) const { std::fprintf(errors, "%s\n", line.c_str()); }
    /// A line on the error stream as Kafka's tools log it.
    void warn(const std::string& text, std::string_view logger) const { log("WARN", text, logger); }
    void log(std::string_view level, const std::string& text, std::string_view logger) const;
};

/// Why a tool ends before it is done.
struct Ending {
    enum class Kind {
        usage,    ///< The line makes no sense: the message, then the help.
        refused,  ///< Nothing was tried: the message alone.
        failed,   ///< Something went wrong: in the tool's own words around the message.
    };
    Kind kind{};
    std::string message;
};

template <class T>
using Outcome = std::expected<T, Ending>;

[[nodiscard]] std::unexpected<Ending> usage(std::string message);
[[nodiscard]] std::unexpected<Ending> refused(std::string message);
[[nodiscard]] std::unexpected<Ending> failed(std::string message);
[[nodiscard]] std::unexpected<Ending> failed(client::Failure failure);
/// As Java prints a failure that another thread had: "org.apache.kafka.common.errors.GroupIdNotFoundException: ..."
[[nodiscard]] std::string java_text(const client::Failure& failure);

struct Tool {
    /// `partita NAME`.
    std::string_view name;
    /// What a link that points to the program is called, without ".sh". Empty when Kafka has no such tool.
    std::string_view kafka_name;
    /// What it does, for a list of commands: a line that begins small and has no full stop.
    std::string_view summary;
    /// What people read first when they ask for help.
    std::string_view purpose;
    /// The same when they give nothing; empty: `purpose`.
    std::string_view short_purpose = {};
    std::span<const Option> options;
    std::span<const Rule> rules;
    /// What stands before the message of a failure, and where it goes.
    std::string_view failure_prefix = {};
    bool fails_on_stdout = false;
    /// Gives the exit code.
    Outcome<int> (*run)(const Options& options, const Surroundings& surroundings) = nullptr;
    /// What stands before the message of an option that cannot be read.
    std::string_view refusal_prefix = {};
    /// Without any option it says so and does nothing.
    bool needs_options = true;
    /// What may stand beside options, with blanks between: "list describe".
    std::string_view words = {};
};

/// Every tool, by name.
[[nodiscard]] std::span<const Tool* const> all_tools();

/// The tool of a command ("topics"), or null.
[[nodiscard]] const Tool* tool_of_command(std::string_view name);
/// The tool that a program of this path stands for: ".../kafka-topics.sh". Null for others.
[[nodiscard]] const Tool* tool_of_program(std::string_view path);

/// Reads the line, does what it says, and returns the exit code: 0 done, 1 anything else.
[[nodiscard]] int run_tool(const Tool& tool, std::span<const std::string> words, const Surroundings& surroundings);

// What tools share.

/// Settings of the client from the file that `config_option` names, where there is one, and the address of `--bootstrap-server`.
[[nodiscard]] Outcome<std::map<std::string, std::string>> read_properties(const std::string& path);
[[nodiscard]] Outcome<std::map<std::string, std::string>> client_properties(const Options& options,
                                                                            std::string_view client_id = "adminclient-1");
[[nodiscard]] Outcome<client::Cluster> open_cluster(const Options& options, const Surroundings& surroundings,
                                                    std::string_view client_id = "adminclient-1");
[[nodiscard]] Outcome<client::Cluster> open_cluster(std::map<std::string, std::string> properties,
                                                    const Surroundings& surroundings);
/// The text of a file, of 64 MiB at most.
[[nodiscard]] Outcome<std::string> read_file(const std::string& path);

inline constexpr Option kBootstrapServer{"bootstrap-server", "HOST:PORT,...",
                                         "ask these brokers first (`partita COMMAND`: $PARTITA_BOOTSTRAP, or localhost:9092)"};
inline constexpr Option kCommandConfig{"command-config", "file", "read settings of the client from this file"};
inline constexpr Option kHelp{"help", "", "print this"};
inline constexpr Option kVersion{"version", "", "print the version of Kafka whose tools these are"};

}  // namespace partita::tools
