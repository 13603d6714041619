// `partita plan TOPIC --to M`: what growing the topic would do, before anybody does it. Asks a running Partita, or with
// --bootstrap any Kafka. Exit code 0: safe, or with --fail-on block nothing worse than a warning; 3: findings, or no verdict;
// 2: usage; 1: something broke.

#include "broker/cli/plan_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "broker/cli/terminal.h"
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
    std::string fail_on = "warn";
    std::string picture = "auto";
    std::string svg;
};

/// Whether a script may go on. Without a verdict it may not, whatever it tolerates.
bool may_go_on(std::string_view verdict, std::string_view fail_on) {
    return verdict == "safe" || (verdict == "findings" && fail_on == "block");
}

/// "90s", "15m", "2h", "7d" ago; "2026-11-21" or "2026-11-21T10:00:00" (UTC); milliseconds since 1970.
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
    for (const char* format : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"}) {
        std::tm parts{};
        const char* stopped = ::strptime(text.c_str(), format, &parts);
        if (stopped != nullptr && *stopped == '\0') {
            return static_cast<std::int64_t>(::timegm(&parts)) * 1000;
        }
    }
    return std::nullopt;
}

std::int64_t now_ms() { return real_schedule().clock.now().wall.value; }

/// A bar on standard error, for people: only on a terminal.
class ProgressBar {
  public:
    explicit ProgressBar(bool quiet) : is_shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(std::int64_t done, std::int64_t total) {
        const auto now = real_schedule().clock.now().monotonic;
        constexpr std::int64_t kEveryMs = 100;
        if (!is_shown_ || done < 0 || done > total || total == 0 || now - last_ < kEveryMs) {
            return;
        }
        last_ = now;
        constexpr int kWidth = 40;
        const double share = static_cast<double>(done) / static_cast<double>(total);
        const int filled = static_cast<int>(kWidth * share);
        std::string bar(static_cast<std::size_t>(filled), '#');
        bar.resize(kWidth, '.');
        std::fprintf(stderr, "\r[%s] %3d %%  %lld of %lld records ", bar.c_str(), static_cast<int>(100 * share),
                     static_cast<long long>(done), static_cast<long long>(total));
        std::fflush(stderr);
        is_drawn_ = true;
    }
    void clear() {
        if (is_drawn_) {
            std::fprintf(stderr, "\r\033[K");
        }
        is_drawn_ = false;
    }

  private:
    const bool is_shown_;
    bool is_drawn_ = false;
    Instant last_{};
};

std::string picture_of(const nlohmann::ordered_json& plan, const std::string& when) {
    const Terminal terminal = terminal_of(STDOUT_FILENO);
    if (when == "never" || (when == "auto" && !terminal.is_terminal)) {
        return {};
    }
    return insight::plan_drawing(
        plan, {.columns = terminal.columns, .has_unicode = terminal.has_unicode, .has_colour = terminal.has_colour});
}

/// Empty when the plan is not what a broker of this version says.
std::string text_of_plan(const nlohmann::ordered_json& plan, const std::string& picture_when) {
    try {
        return insight::plan_text(plan, picture_of(plan, picture_when));
    } catch (const nlohmann::ordered_json::exception&) {
        return {};
    }
}

/// False, and told, when it cannot be written.
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

/// A list of keys is all of them up to a bound of memory; who pastes it into a script has to know when it is not.
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
            return refuse("--since is " + options.since + "; say 2h, 7d, 2026-11-21T10:00:00 (UTC) or milliseconds since 1970");
        }
    }
    if (!wish.partitioner.empty() && !partitioners::find_partitioner(wish.partitioner)) {
        std::string near;
        for (const std::string_view name : partitioners::similar_partitioners(wish.partitioner)) {
            near += (near.empty() ? "; did you mean " : ", ") + std::string(name);
        }
        return refuse("no partitioner is called " + wish.partitioner + (near.empty() ? ";" : near + "?") +
                      " `partita partitioner --list` names all");
    }
    ProgressBar bar(options.quiet);
    std::int64_t listed = 0;
    const PlanListener listener{.progress = [&](std::int64_t done, std::int64_t total) { bar.show(done, total); },
                                .keys =
                                    [&](std::string_view lines) {
                                        bar.clear();
                                        listed += std::ranges::count(lines, '\n');
                                        return print(lines);
                                    }};
    const auto answer = wish.bootstrap.empty() ? plan_over_http(wish, listener) : plan_over_kafka(wish, listener);
    bar.clear();
    if (!answer) {
        std::fprintf(stderr, "partita: %s\n", answer.error().message.c_str());
        return answer.error().exit_code;
    }
    const auto json = nlohmann::ordered_json::parse(*answer, nullptr, false);
    // Whoever answered need not be a Partita, and an exit code of 0 lets a script go on.
    const bool is_plan = json.is_object() && !text_member(json, "verdict").empty() && !text_member(json, "topic").empty();
    const std::string text = is_plan ? text_of_plan(json, options.picture) : std::string();
    if (text.empty()) {
        std::fprintf(stderr, "partita: what answered is no plan\n");
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

}  // namespace

void add_plan_command(CLI::App& application, Action& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        application.add_subcommand("plan", "what adding partitions to a topic would do (exit code 0 safe, 3 findings)");
    command->add_option("TOPIC", options->plan.topic, "the topic")->required();
    command->add_option("--to", options->plan.to, "the new partition count")->required();
    add_http_options(*command, options->plan.http);
    command->add_option("--bootstrap", options->plan.bootstrap,
                        "the Kafka address of a Partita, or of any cluster, which is read then: HOST:PORT[,HOST:PORT...]");
    command->add_option("-X", options->plan.client_settings, "with --bootstrap: a librdkafka setting, KEY=VALUE")->take_all();
    command->add_option("--records", options->plan.records, "read only the newest so many records")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
    command->add_option("--since", options->since, "read only what is newer: 2h, 7d, 2026-11-21T10:00:00 (UTC)");
    command->add_option("--partitioner", options->plan.partitioner,
                        "how producers place keys, instead of finding it in the data");
    command->add_flag("--keys", options->plan.lists_keys,
                      "print every distinct key with its old and new partition, tab separated");
    command->add_flag("--hash-keys", options->plan.hashes_keys, "show hashes instead of keys");
    command->add_flag("--json", options->json, "print the plan as JSON");
    command->add_option("--picture", options->picture, "draw where the keys go: auto (default: on a terminal), always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    command->add_option("--svg", options->svg, "also write the picture into this file, as the console draws it");
    command->add_flag("--quiet", options->quiet, "no progress bar");
    command->add_option("--fail-on", options->fail_on, "the mildest finding for exit code 3: warn (default) or block")
        ->check(CLI::IsMember({"warn", "block"}));
    command->add_flag("--over-kafka", options->plan.reads_over_kafka,
                      "with --bootstrap: read a Partita through the Kafka protocol alone, as any other cluster");
    command->callback([options, &chosen] { chosen = [options] { return plan(*options); }; });
}

}  // namespace partita::cli
