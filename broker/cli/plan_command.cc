// `partita plan TOPIC --to M`: predicts the effects of growing the topic. Asks a running Partita, or with --bootstrap any Kafka.
// Exit code 0: safe, or with --fail-on block nothing worse than a warning; 3: findings, or no verdict; 2: usage; 1: something
// broke.

#include "broker/cli/plan_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "broker/cli/progress_line.h"
#include "broker/cli/terminal.h"
#include "broker/config/utc_time.h"
#include "broker/insight/plan/plan_picture.h"
#include "broker/insight/plan/plan_text.h"
#include "broker/partitioners/clients.h"
#include "schedule/executor.h"

namespace partita::cli {
namespace {

constexpr int kExitFindings = 3;

struct Options {
    PlanArguments plan;
    std::string since;
    bool json = false;
    bool quiet = false;
    std::string fail_on;
    std::string picture;
    std::string svg;
};

/// Whether a script may go on. Without a verdict it may not, whatever it tolerates.
bool may_go_on(std::string_view verdict, std::string_view fail_on) {
    return verdict == "safe" || (verdict == "findings" && fail_on == "block");
}

/// Parses "90s", "15m", "2h", "7d" ago; "2026-11-21" or "2026-11-21T10:00:00" (UTC); milliseconds since 1970.
std::optional<std::int64_t> parse_since(const std::string& text, std::int64_t now_ms) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view rest(end, text.data() + text.size());
    if (error == std::errc() && value >= 0) {
        if (rest.empty()) {
            return value;
        }
        const std::int64_t unit_ms = rest == "s"   ? 1000
                                     : rest == "m" ? 60'000
                                     : rest == "h" ? 3'600'000
                                     : rest == "d" ? 86'400'000
                                                   : 0;
        if (unit_ms > 0 && value <= now_ms / unit_ms) {
            return now_ms - value * unit_ms;
        }
    }
    const auto time = config::parse_utc_time(text);
    return time ? std::optional(time->value) : std::nullopt;
}

std::int64_t now_ms() { return real_schedule().clock.now().wall.value; }

std::string picture_of(const nlohmann::ordered_json& plan, const std::string& when) {
    const Terminal terminal = terminal_of(STDOUT_FILENO);
    if (when == "never" || (when == "auto" && !terminal.is_terminal)) {
        return {};
    }
    return insight::plan_drawing(
        plan, {.columns = terminal.columns, .has_unicode = terminal.has_unicode, .has_colour = terminal.has_colour});
}

/// Empty if the plan does not have the form of this version's brokers.
std::string text_of_plan(const nlohmann::ordered_json& plan, const std::string& picture_when) {
    try {
        return insight::plan_text(plan, picture_of(plan, picture_when));
    } catch (const nlohmann::ordered_json::exception&) {
        return {};
    }
}

/// Returns false, with a message, if the file cannot be written.
bool write_svg(const std::string& path, const nlohmann::ordered_json& plan) {
    const std::string svg = insight::plan_svg(plan);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
    const bool is_written =
        file && std::fwrite(svg.data(), 1, svg.size(), file.get()) == svg.size() && std::fflush(file.get()) == 0;
    if (!is_written) {
        std::fprintf(stderr, "partita: cannot write %s: %s\n", path.c_str(), std::generic_category().message(errno).c_str());
    }
    return is_written;
}

bool print(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size(); }

/// The list of keys is complete up to a memory limit; warn users who paste it into a script if it is not.
void tell_unlisted_keys(const nlohmann::ordered_json& plan, std::int64_t listed) {
    const std::int64_t keys = plan["scanned"].value("keys", listed);
    if (listed >= keys) {
        return;
    }
    std::fprintf(stderr, "partita: %lld of about %lld distinct keys are listed, a uniform sample of them\n",
                 static_cast<long long>(listed), static_cast<long long>(keys));
}

int plan(Options& options) {
    PlanArguments& wish = options.plan;
    if (!options.since.empty()) {
        wish.since_ms = parse_since(options.since, now_ms());
        if (!wish.since_ms) {
            return refuse("--since is " + options.since + "; use 2h, 7d, 2026-11-21T10:00:00 (UTC) or milliseconds since 1970");
        }
    }
    if (!wish.partitioner.empty() && !partitioners::find_partitioner(wish.partitioner)) {
        std::string near;
        for (const std::string_view name : partitioners::similar_partitioners(wish.partitioner)) {
            near += (near.empty() ? "; did you mean " : ", ") + std::string(name);
        }
        return refuse("unknown partitioner " + wish.partitioner + (near.empty() ? ";" : near + "?") +
                      " `partita partitioner --list` lists all");
    }
    ProgressLine bar(!options.quiet);
    std::int64_t listed = 0;
    const PlanListener listener{.progress = [&](std::int64_t done, std::int64_t total) { show_share(bar, done, total); },
                                .trouble =
                                    [&](const std::string& line) {
                                        bar.clear();
                                        std::fprintf(stderr, "partita: %s\n", line.c_str());
                                    },
                                .keys =
                                    [&](std::string_view lines) {
                                        bar.clear();
                                        listed += std::ranges::count(lines, '\n');
                                        return print(lines);
                                    }};
    const auto answer = wish.kafka.bootstrap.empty() ? plan_over_http(wish, listener) : plan_over_kafka(wish, listener);
    bar.clear();
    if (!answer) {
        std::fprintf(stderr, "partita: %s\n", answer.error().message.c_str());
        return answer.error().exit_code;
    }
    const auto json = nlohmann::ordered_json::parse(*answer, nullptr, false);
    // The server may not be a Partita, and an exit code of 0 lets a script go on.
    const bool is_plan = json.is_object() && !text_member(json, "verdict").empty() && !text_member(json, "topic").empty();
    const std::string text = is_plan ? text_of_plan(json, options.picture) : std::string();
    if (text.empty()) {
        std::fprintf(stderr, "partita: the answer is not a plan\n");
        return kExitBroken;
    }
    if (!options.svg.empty() && !write_svg(options.svg, json)) {
        return kExitBroken;
    }
    const bool is_printed = wish.lists_keys || print(options.json ? json.dump(2) + "\n" : text);
    if (!is_printed || std::fflush(stdout) != 0) {
        std::fprintf(stderr, "partita: cannot write the answer\n");
        return kExitBroken;
    }
    if (wish.lists_keys) {
        tell_unlisted_keys(json, listed);
    }
    return may_go_on(text_member(json, "verdict"), options.fail_on) ? kExitDone : kExitFindings;
}

constexpr tools::Option kPlanPositionals[] = {
    {.name = "TOPIC", .argument = "", .help = "the topic", .is_required = true},
};
constexpr tools::Option kPlanOptions[] = {
    {.name = "to", .argument = "count", .help = "plan for this new partition count", .is_required = true, .check = kWholeNumber},
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    {.name = "bootstrap",
     .argument = "HOST:PORT,...",
     .help = "ask the Partita at this Kafka address, or read any other cluster"},
    kClientConfig,
    kClientProperty,
    {.name = "records",
     .argument = "count",
     .help = "read only this number of newest records",
     .check = {is_between<1, kAnyMost>, "a whole number from 1 on"}},
    {.name = "since", .argument = "time", .help = "read only records newer than this: 2h, 7d, 2026-11-21T10:00:00 (UTC)"},
    {.name = "partitioner", .argument = "name", .help = "assume this partitioner instead of detecting it in the data"},
    {.name = "keys", .argument = "", .help = "print every distinct key with its old and new partition, tab separated"},
    {.name = "hash-keys", .argument = "", .help = "show hashes instead of keys"},
    {.name = "json", .argument = "", .help = "print the plan as JSON"},
    {.name = "picture",
     .argument = "when",
     .help = "draw where the keys go: auto (on a terminal), always or never",
     .default_value = "auto",
     .choices = "auto always never"},
    {.name = "svg", .argument = "file", .help = "write the picture into this file, too (SVG)"},
    {.name = "quiet", .argument = "", .help = "draw no progress bar"},
    {.name = "fail-on",
     .argument = "severity",
     .help = "exit with 3 if a finding is at least this severe: warn or block",
     .default_value = "warn",
     .choices = "warn block"},
    {.name = "over-kafka",
     .argument = "",
     .help = "with --bootstrap: read a Partita through the Kafka protocol alone, as any other cluster"},
    kHelp,
};

int run_plan_command(const CommandLine& line) {
    Options options;
    options.plan = {.topic = line.value("TOPIC"),
                    .to = *line.integer("to"),
                    .http = http_place_of(line),
                    .kafka = kafka_place_of(line, "bootstrap"),
                    .reads_over_kafka = line.has("over-kafka"),
                    .data_directory = {},
                    .cluster_id = {},
                    .records = line.integer("records"),
                    .since_ms = std::nullopt,
                    .partitioner = line.value("partitioner"),
                    .lists_keys = line.has("keys"),
                    .hashes_keys = line.has("hash-keys")};
    options.since = line.value("since");
    options.json = line.has("json");
    options.quiet = line.has("quiet");
    options.fail_on = line.value("fail-on");
    options.picture = line.value("picture");
    options.svg = line.value("svg");
    return plan(options);
}

}  // namespace

constinit const Command kPlanCommand{
    .name = "plan",
    .summary = "predict the effects of adding partitions to a topic (exit code 0 safe, 3 at risk or no verdict)",
    .options = kPlanOptions,
    .positionals = kPlanPositionals,
    .run = run_plan_command};

}  // namespace partita::cli
