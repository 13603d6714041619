#pragma once

#include <cstdint>
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

/// Kafka's command line tools, reimplemented: the same options, the same text on the same stream, the same exit codes, with any
/// cluster. Each is a row of `all_tools` and a file of its own, NAME_tool.cc. docs/commands.md lists the differences from Kafka's
/// tools.
namespace partita::tools {

/// The process as a tool sees it.
struct Surroundings {
    client::Network& network;
    std::FILE* in;
    std::FILE* out;
    std::FILE* errors;
    /// Called through a link with the name of Kafka's tool: where the two would differ, behave like Kafka's.
    bool is_kafkas_name = false;
    /// The brokers if the line names none. Empty: the line must name them.
    std::string bootstrap = {};
    /// Sends a request to a web service. The error is for people.
    std::expected<WebAnswer, std::string> (*ask_web)(const WebService& service, const WebRequest& request) = nullptr;

    void print(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), out); }
    /// One line on the error stream.
    void complain(const std::string& line) const { std::fprintf(errors, "%s\n", line.c_str()); }
    /// A line on the error stream in the form of the Kafka tools' log.
    void warn(const std::string& text, std::string_view logger) const { log("WARN", text, logger); }
    void log(std::string_view level, const std::string& text, std::string_view logger) const;
};

/// Why a tool ends early.
struct Ending {
    enum class Kind {
        usage,    ///< The line is invalid: print the message, then the help.
        refused,  ///< Nothing was tried: print only the message.
        failed,   ///< Something failed: print the message in the tool's own form.
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
/// Java's text of a failure from another thread: "org.apache.kafka.common.errors.GroupIdNotFoundException: ..."
[[nodiscard]] std::string java_text(const client::Failure& failure);

/// The effect of an option that is given twice and takes one argument.
enum class Repeated : std::uint8_t {
    refused,      ///< The line is refused before the tool does anything. (joptsimple, read outside the tool's own error handling)
    failed,       ///< The tool fails. (joptsimple, read inside)
    last_counts,  ///< argparse4j ignores all but the last.
    tool_checks,  ///< The tool looks itself (`Options::repeated`), behind what it prints first.
};

/// joptsimple's message about such an option.
[[nodiscard]] std::string repeated_text(std::string_view option);

struct Tool {
    /// `partita NAME`.
    std::string_view name;
    /// The name of a link to the program, without ".sh". Empty if Kafka has no such tool.
    std::string_view kafka_name;
    /// A summary for a list of commands: one line, in lower case and without a full stop.
    std::string_view summary;
    /// The first lines of the help.
    std::string_view purpose;
    /// The same for a line without options; empty: `purpose`.
    std::string_view short_purpose = {};
    std::span<const Option> options;
    std::span<const Rule> rules;
    /// The text before the message of a failure, and the stream of the message.
    std::string_view failure_prefix = {};
    bool fails_on_stdout = false;
    int exit_code_of_failure = 1;
    Repeated repeated = Repeated::refused;
    /// With `Repeated::failed`: options that are refused all the same, separated by blanks.
    std::string_view refused_if_repeated = {};
    /// Checks of the line that `rules` cannot express; they come before those of repetitions. May be null.
    Outcome<void> (*check)(const Options& options) = nullptr;
    /// Returns the exit code.
    Outcome<int> (*run)(const Options& options, const Surroundings& surroundings) = nullptr;
    /// The text before the message about an invalid option.
    std::string_view refusal_prefix = {};
    /// Without any option the tool only prints a message.
    bool needs_options = true;
    /// Rewrites a line for `Options::parse`, for a tool whose lines have another syntax; the error is that of a usage. May be
    /// null.
    std::expected<std::vector<std::string>, std::string> (*read_line)(std::span<const std::string> words) = nullptr;
    /// For a tool with argparse4j: the summary of its options, which comes before each message about the line and before the
    /// help. Under Kafka's name the help then goes to the output.
    std::string_view usage_summary = {};
    /// Words allowed beside options, separated by blanks: "list describe".
    std::string_view words = {};
};

/// Every tool, by name.
[[nodiscard]] std::span<const Tool* const> all_tools();

/// The tool of a command ("topics"), or null.
[[nodiscard]] const Tool* tool_of_command(std::string_view name);
/// The tool for a program with this path: ".../kafka-topics.sh". Null for other programs.
[[nodiscard]] const Tool* tool_of_program(std::string_view path);

/// Parses the line, runs the tool, and returns the exit code: 0 done, 1 anything else.
[[nodiscard]] int run_tool(const Tool& tool, std::span<const std::string> words, const Surroundings& surroundings);

// Shared by the tools

/// The client's settings from the file of `config_option`, if it is given, and the address of `--bootstrap-server`.
[[nodiscard]] Outcome<std::map<std::string, std::string>> read_properties(const std::string& path);
[[nodiscard]] Outcome<std::map<std::string, std::string>> client_properties(const Options& options,
                                                                            std::string_view client_id = "adminclient-1");
[[nodiscard]] Outcome<client::Cluster> open_cluster(const Options& options, const Surroundings& surroundings,
                                                    std::string_view client_id = "adminclient-1");
[[nodiscard]] Outcome<client::Cluster> open_cluster(std::map<std::string, std::string> properties,
                                                    const Surroundings& surroundings);
/// An option's name of earlier releases of Kafka, and today's.
struct FormerName {
    std::string_view former;
    std::string_view now;
};
/// Refuses a line that has an option under both names. Under Kafka's name of the tool, prints a warning for each former name.
/// `now_first` and `warning` are for the two wordings of Kafka's tools: "Options --A and --B cannot be specified together.",
/// "Warning: --" or "Option --".
struct FormerNameWords {
    bool now_first = false;
    std::string_view warning;
};
[[nodiscard]] Outcome<void> check_former_names(const Options& options, const Surroundings& surroundings,
                                               std::span<const FormerName> names, const FormerNameWords& words);
/// The text of a file, of 64 MiB at most.
[[nodiscard]] Outcome<std::string> read_file(const std::string& path);

inline constexpr Option kBootstrapServer{
    "bootstrap-server", "HOST:PORT,...",
    "ask these brokers first (default for `partita COMMAND`: $PARTITA_BOOTSTRAP, or localhost:9092)"};
inline constexpr Option kCommandConfig{"command-config", "file", "read settings of the client from this file"};
inline constexpr Option kHelp{"help", "", "print this help"};
inline constexpr Option kVersion{"version", "", "print the version of Kafka that these tools match"};

}  // namespace partita::tools
