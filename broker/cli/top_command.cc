// `partita top`: shows the activity of a running broker, redrawn every few seconds. Without a terminal it prints one snapshot,
// with --json a line for each sample. It uses the JSON API of the broker's HTTP side, like the console, and only while it runs.

#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "broker/cli/screen.h"
#include "broker/cli/terminal.h"
#include "broker/cli/top_data.h"
#include "broker/cli/top_screen.h"
#include "protocol/percent_encoding.h"
#include "protocol/try.h"
#include "schedule/executor.h"

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

/// The command ignores keys while it waits for an answer.
constexpr std::chrono::milliseconds kStepTimeout{2'000};
constexpr double kIntervalMinSeconds = 0.1;
constexpr double kIntervalMaxSeconds = 3'600;

struct TopArguments {
    HttpPlace http;
    double interval_seconds = 0;
    bool is_once = false;
    bool as_json = false;

    [[nodiscard]] std::int64_t interval_ms() const { return std::llround(interval_seconds * 1000); }
};

std::int64_t now_ms() { return real_schedule().clock.now().monotonic.value; }

/// The answer to one question. A deleted group is not a failure: it has no answer.
std::expected<ordered_json, HttpFailure> ask(const HttpPlace& http, const std::string& target) {
    PARTITA_TRY_ASSIGN(const auto answer, ask_http(http, HttpMethod::get, target, kStepTimeout));
    constexpr int kNotFound = 404;
    if (answer.status == kNotFound && target.starts_with("/v1/groups/")) {
        return ordered_json();
    }
    if (!answer.is_good()) {
        return std::unexpected(
            HttpFailure{false, "the broker at " + http.address + " does not answer " + target + ": " + answer.error()});
    }
    return ordered_json::parse(answer.body, nullptr, false);
}

std::expected<TopSample, HttpFailure> look(const HttpPlace& http) {
    TopSample sample;
    struct Question {
        const char* target;
        bool (*take)(const ordered_json&, TopSample&);
    };
    for (const Question& question : {Question{"/v1/broker", take_broker},
                                     {"/v1/topics?internal=0", take_topics},
                                     {"/v1/groups", take_groups},
                                     {"/v1/findings", take_findings},
                                     {"/v1/connections?limit=100", take_connections}}) {
        PARTITA_TRY_ASSIGN(const auto answer, ask(http, question.target));
        if (!question.take(answer, sample)) {
            return std::unexpected(HttpFailure{false, "the program at " + http.address + " is not a Partita of this version"});
        }
    }
    for (std::size_t i = 0; i < std::min(sample.groups.size(), kTopGroupsAskedMax); ++i) {
        PARTITA_TRY_ASSIGN(const auto answer, ask(http, "/v1/groups/" + percent_encoded(sample.groups[i].name)));
        // A group deleted meanwhile stays without numbers.
        (void)take_group(answer, sample.groups[i]);
    }
    return sample;
}

/// Waits for the next sample. Returns false if the output's reader has gone.
bool is_still_read(std::int64_t milliseconds) {
    ::pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
    return ::poll(&output, 1, static_cast<int>(milliseconds)) == 0;
}

bool print(const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

std::string rhythm_of(const TopArguments& arguments) {
    char text[32];
    std::snprintf(text, sizeof text, "every %g s", arguments.interval_seconds);
    return text;
}

/// Takes samples one interval apart, so that each has rates: one for `--once`, else until the user ends it.
int print_looks(const TopArguments& arguments) {
    auto earlier = look(arguments.http);
    if (!earlier) {
        return report(earlier.error());
    }
    while (is_still_read(arguments.interval_ms())) {
        auto now = look(arguments.http);
        if (!now) {
            return report(now.error());
        }
        TopView view{.now = &*now, .earlier = &*earlier};
        view.rhythm = "over " + rhythm_of(arguments).substr(std::string_view("every ").size());
        const bool is_printed = print(arguments.as_json ? top_json(*now, &*earlier) + "\n"
                                                        : top_snapshot(view, terminal_of(STDOUT_FILENO).has_unicode));
        if (!is_printed) {
            return arguments.is_once || !arguments.as_json ? kExitBroken : kExitDone;
        }
        if (arguments.is_once || !arguments.as_json) {
            return kExitDone;
        }
        earlier = std::move(now);
    }
    return kExitDone;
}

/// The section that a key selects; null if it ends the view.
std::optional<TopSection> section_of(char key, TopSection shown) {
    switch (key) {
        case 'q':
        case 'Q':
            return std::nullopt;
        case '0':
            return TopSection::all;
        case '1':
            return TopSection::topics;
        case '2':
            return TopSection::groups;
        case '3':
            return TopSection::findings;
        case '4':
            return TopSection::clients;
        default:
            return shown;
    }
}

/// Two samples; the second one is shown.
class Looks {
  public:
    explicit Looks(const HttpPlace& http) : http_(http) {}

    void look_again() {
        auto found = look(http_);
        problem_ = found ? std::string() : found.error().message;
        if (!found) {
            return;
        }
        earlier_ = std::move(now_);
        now_ = std::move(*found);
    }
    [[nodiscard]] TopView view(TopSection section, const std::string& rhythm) const {
        return {.now = now_ ? &*now_ : nullptr,
                .earlier = earlier_ ? &*earlier_ : nullptr,
                .section = section,
                .problem = problem_,
                .rhythm = rhythm};
    }

  private:
    const HttpPlace& http_;
    std::optional<TopSample> now_;
    std::optional<TopSample> earlier_;
    std::string problem_;
};

int draw_looks(const TopArguments& arguments) {
    // With a wrong address, show the error before switching the screen.
    if (const auto first = look(arguments.http); !first) {
        return report(first.error());
    }
    Looks looks(arguments.http);
    Screen screen;
    TopSection section = TopSection::all;
    std::int64_t next_ms = now_ms();
    while (true) {
        if (now_ms() >= next_ms) {
            looks.look_again();
            next_ms = now_ms() + arguments.interval_ms();
        }
        if (!screen.draw(top_screen(looks.view(section, rhythm_of(arguments)), terminal_of(STDOUT_FILENO)))) {
            return kExitDone;
        }
        const Screen::Event event = screen.wait(std::max<std::int64_t>(0, next_ms - now_ms()));
        switch (event.kind) {
            case Screen::Event::Kind::ended:
                return kExitDone;
            case Screen::Event::Kind::key: {
                const auto wanted = section_of(event.key, section);
                if (!wanted) {
                    return kExitDone;
                }
                section = *wanted;
                break;
            }
            case Screen::Event::Kind::nothing:
            case Screen::Event::Kind::resized:
                break;
        }
    }
}

/// Null if the text is not an interval.
std::optional<double> seconds_of(std::string_view text) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool is_good = error == std::errc() && end == text.data() + text.size() && seconds >= kIntervalMinSeconds &&
                         seconds <= kIntervalMaxSeconds;
    return is_good ? std::optional(seconds) : std::nullopt;
}

constexpr tools::Option kTopOptions[] = {
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    {.name = "interval",
     .argument = "number",
     .help = "refresh at this interval, in seconds",
     .default_value = "2",
     .check = {[](std::string_view text) { return seconds_of(text).has_value(); }, "a number of seconds from 0.1 to 3600"}},
    {.name = "once", .argument = "", .help = "print one snapshot after one interval (rates need two samples)"},
    {.name = "json", .argument = "", .help = "print a line of JSON at each refresh"},
    kHelp,
};

int run_top(const CommandLine& line) {
    const TopArguments arguments{.http = http_place_of(line),
                                 .interval_seconds = *seconds_of(line.value("interval")),
                                 .is_once = line.has("once"),
                                 .as_json = line.has("json")};
    const bool is_drawn = !arguments.is_once && !arguments.as_json && terminal_of(STDOUT_FILENO).can_redraw;
    return is_drawn ? draw_looks(arguments) : print_looks(arguments);
}

}  // namespace

constinit const Command kTopCommand{.name = "top",
                                    .summary = "show topics, groups, findings and clients of a running broker, refreshed",
                                    .options = kTopOptions,
                                    .run = run_top};

}  // namespace partita::cli
