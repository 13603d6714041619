#include "broker/tools/tool.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <system_error>

#include "broker/config/properties.h"
#include "broker/tools/text.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr std::string_view kKafkaVersion = "4.3.1";
constexpr std::size_t kFileBytesMax = 64 * 1024 * 1024;
constexpr int kExitFailed = 1;

int show_usage(const Tool& tool, const std::string& message, const Surroundings& surroundings) {
    if (!tool.usage_summary.empty()) {
        surroundings.complain(std::string(tool.usage_summary) + std::string(tool.kafka_name) + ": error: " + message);
        return kExitFailed;
    }
    surroundings.complain(message);
    surroundings.complain(help_of(tool.options));
    return kExitFailed;
}

/// Kafka's tools exit with an error after --help, and print it on the error stream.
int show_help(const Tool& tool, const Surroundings& surroundings) {
    if (surroundings.is_kafkas_name && tool.usage_summary.empty()) {
        return show_usage(tool, std::string(tool.purpose), surroundings);
    }
    const std::string_view head = surroundings.is_kafkas_name ? tool.usage_summary : std::string_view();
    surroundings.print(std::string(head) + std::string(tool.purpose) + "\n" + help_of(tool.options));
    return surroundings.is_kafkas_name ? kExitFailed : 0;
}

int end(const Tool& tool, const Ending& ending, const Surroundings& surroundings) {
    switch (ending.kind) {
        case Ending::Kind::usage:
            if (surroundings.is_kafkas_name) {
                return show_usage(tool, ending.message, surroundings);
            }
            // Sixty lines of options would hide the message.
            surroundings.complain(ending.message + "\n`partita " + std::string(tool.name) + " --help` lists the options.");
            return kExitFailed;
        case Ending::Kind::refused:
            surroundings.complain(std::string(tool.refusal_prefix) + ending.message);
            return kExitFailed;
        case Ending::Kind::failed:
            break;
    }
    const std::string text = std::string(tool.failure_prefix) + ending.message;
    if (tool.fails_on_stdout) {
        surroundings.print(text + "\n");
    } else {
        surroundings.complain(text);
    }
    return tool.exit_code_of_failure;
}

Outcome<void> check_repeated(const Tool& tool, Options& options) {
    if (tool.repeated == Repeated::last_counts) {
        options.keep_last();
    }
    const std::string_view name = options.repeated();
    if (name.empty() || tool.repeated == Repeated::tool_checks) {
        return {};
    }
    std::string message = repeated_text(name);
    const auto refused_ones = split(tool.refused_if_repeated, ' ');
    const bool is_refused = tool.repeated == Repeated::refused || std::ranges::find(refused_ones, name) != refused_ones.end();
    return is_refused ? refused(std::move(message)) : failed(std::move(message));
}

}  // namespace

void Surroundings::log(std::string_view level, const std::string& text, std::string_view logger) const {
    const std::int64_t now_ms = network.clock().now().wall.value;
    const std::time_t seconds = now_ms / 1000;
    std::tm parts{};
    char date[32] = {};
    ::localtime_r(&seconds, &parts);
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
    std::fprintf(errors, "[%s,%03d] %s %s (%s)\n", date, static_cast<int>(now_ms % 1000), std::string(level).c_str(),
                 text.c_str(), std::string(logger).c_str());
}

std::unexpected<Ending> usage(std::string message) { return std::unexpected(Ending{Ending::Kind::usage, std::move(message)}); }
std::unexpected<Ending> refused(std::string message) {
    return std::unexpected(Ending{Ending::Kind::refused, std::move(message)});
}
std::unexpected<Ending> failed(std::string message) { return std::unexpected(Ending{Ending::Kind::failed, std::move(message)}); }
std::unexpected<Ending> failed(client::Failure failure) { return failed(std::move(failure.message)); }

std::string repeated_text(std::string_view option) {
    return "Found multiple arguments for option " + std::string(option) + ", but you asked for only one";
}

std::string java_text(const client::Failure& failure) {
    return "org.apache.kafka.common.errors." + client::exception_name(failure) + ": " + failure.message;
}

const Tool* tool_of_command(std::string_view name) {
    const auto tools = all_tools();
    const auto found = std::ranges::find(tools, name, [](const Tool* tool) { return tool->name; });
    return found == tools.end() ? nullptr : *found;
}

const Tool* tool_of_program(std::string_view path) {
    std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.ends_with(".sh")) {
        name.remove_suffix(3);
    }
    const auto tools = all_tools();
    const auto found = std::ranges::find(tools, name, [](const Tool* tool) { return tool->kafka_name; });
    return name.empty() || found == tools.end() ? nullptr : *found;
}

int run_tool(const Tool& tool, std::span<const std::string> words, const Surroundings& surroundings) {
    if (words.empty() && !tool.usage_summary.empty()) {
        show_help(tool, surroundings);
        return 0;
    }
    std::vector<std::string> line(words.begin(), words.end());
    if (tool.read_line != nullptr) {
        auto read = tool.read_line(words);
        if (!read) {
            return end(tool, {Ending::Kind::usage, std::move(read.error())}, surroundings);
        }
        line = std::move(*read);
    }
    if (words.empty() && tool.needs_options) {
        return show_usage(tool, std::string(tool.short_purpose.empty() ? tool.purpose : tool.short_purpose), surroundings);
    }
    auto options = Options::parse(tool.options, line);
    if (!options) {
        const int code = end(tool, {Ending::Kind::refused, options.error().message}, surroundings);
        if (!options.error().suggestion.empty()) {
            surroundings.complain(options.error().suggestion);
        }
        return code;
    }
    if (options->has("help")) {
        return show_help(tool, surroundings);
    }
    if (options->has("version")) {
        surroundings.print(std::string(kKafkaVersion) + "\n");
        return 0;
    }
    if (!surroundings.bootstrap.empty() && !options->has("bootstrap-controller")) {
        options->give(kBootstrapServer.name, surroundings.bootstrap);
    }
    if (const auto broken = options->check(tool.rules)) {
        return end(tool, {broken->is_refusal ? Ending::Kind::refused : Ending::Kind::usage, broken->message}, surroundings);
    }
    if (tool.check != nullptr) {
        if (const auto checked = tool.check(*options); !checked) {
            return end(tool, checked.error(), surroundings);
        }
    }
    if (const auto single = check_repeated(tool, *options); !single) {
        return end(tool, single.error(), surroundings);
    }
    const auto outcome = tool.run(*options, surroundings);
    const int code = outcome ? *outcome : end(tool, outcome.error(), surroundings);
    if (std::fflush(surroundings.out) != 0 && code == 0) {
        surroundings.complain("cannot write the answer: " + std::generic_category().message(errno));
        return kExitFailed;
    }
    return code;
}

Outcome<void> check_former_names(const Options& options, const Surroundings& surroundings, std::span<const FormerName> names,
                                 const FormerNameWords& words) {
    for (const auto& [former, now] : names) {
        if (options.is_written(former) && options.is_written(now)) {
            return usage("Options --" + std::string(words.now_first ? now : former) + " and --" +
                         std::string(words.now_first ? former : now) + " cannot be specified together.");
        }
    }
    for (const auto& [former, now] : names) {
        if (options.is_written(former) && surroundings.is_kafkas_name) {
            surroundings.print(std::string(words.warning) + std::string(former) +
                               " is deprecated and will be removed in a future version. Use --" + std::string(now) +
                               " instead.\n");
        }
    }
    return {};
}

Outcome<std::string> read_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) {
        return refused(path + " (" + std::generic_category().message(errno) + ")");
    }
    std::string text;
    char piece[16 * 1024];
    while (const std::size_t got = std::fread(piece, 1, sizeof piece, file.get())) {
        text.append(piece, got);
        if (text.size() > kFileBytesMax) {
            return refused(path + " (larger than 64 MiB)");
        }
    }
    if (std::ferror(file.get()) != 0) {
        return refused(path + " (" + std::generic_category().message(errno) + ")");
    }
    return text;
}

Outcome<std::map<std::string, std::string>> read_properties(const std::string& path) {
    PARTITA_TRY_ASSIGN(auto text, read_file(path));
    auto properties = config::parse_properties(text);
    if (!properties) {
        return refused(path + ": " + properties.error().message);
    }
    return std::map<std::string, std::string>(properties->begin(), properties->end());
}

Outcome<client::Cluster> open_cluster(std::map<std::string, std::string> properties, const Surroundings& surroundings) {
    auto settings = client::settings_of(properties);
    if (!settings) {
        return refused(std::move(settings.error().message));
    }
    std::FILE* errors = surroundings.errors;
    settings->tell = [errors](const std::string& line) { std::fprintf(errors, "partita: %s; trying again\n", line.c_str()); };
    return client::Cluster(surroundings.network, std::move(*settings));
}

Outcome<std::map<std::string, std::string>> client_properties(const Options& options, std::string_view client_id) {
    std::map<std::string, std::string> properties;
    if (const auto path = options.find("command-config")) {
        PARTITA_TRY_ASSIGN(properties, read_properties(*path));
    }
    properties["bootstrap.servers"] = options.value("bootstrap-server");
    properties.try_emplace("client.id", client_id);
    return properties;
}

Outcome<client::Cluster> open_cluster(const Options& options, const Surroundings& surroundings, std::string_view client_id) {
    PARTITA_TRY_ASSIGN(auto properties, client_properties(options, client_id));
    return open_cluster(std::move(properties), surroundings);
}

}  // namespace partita::tools
