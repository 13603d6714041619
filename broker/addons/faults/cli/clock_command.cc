// `partita clock advance`, `freeze`, `resume`, `set` and `show`: the clock of a running broker with a test bench. Uses /v1/clock
// of the broker's HTTP side.

#include "broker/addons/faults/cli/clock_command.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "broker/cli/http_client.h"
#include "broker/cli/json_answer.h"
#include "broker/config/utc_time.h"
#include "protocol/printable.h"

namespace partita::faults {
namespace {

using cli::ask_http;
using cli::Command;
using cli::CommandLine;
using cli::HttpMethod;
using cli::HttpPlace;
using cli::json_of;
using cli::kAnswerOptions;
using cli::print_text;
using cli::read_guarded;
using cli::refuse;
using cli::tell_http;
using nlohmann::ordered_json;

constexpr const char* kClockPath = "/v1/clock";
/// The broker waits no longer than a minute for what falls due.
constexpr std::chrono::milliseconds kMoveTimeout{75'000};

/// "250ms", "45s", "15m", "2h", "7d"; null for anything else.
std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, text.data() + text.size());
    const std::int64_t unit_ms = unit == "ms"  ? 1
                                 : unit == "s" ? 1'000
                                 : unit == "m" ? 60'000
                                 : unit == "h" ? 3'600'000
                                 : unit == "d" ? 86'400'000
                                               : 0;
    if (error != std::errc() || value < 0 || unit_ms == 0 || value > config::kLastTime.value / unit_ms) {
        return std::nullopt;
    }
    return value * unit_ms;
}

/// "2026-11-30T23:00:05.120Z, 3600.000 s ahead of the machine, frozen".
std::string readable_time(const ordered_json& answer) {
    std::string text = answer.at("time").get<std::string>();
    if (const std::int64_t ahead_ms = answer.at("ahead_ms").get<std::int64_t>(); ahead_ms != 0) {
        const std::int64_t distance_ms = ahead_ms < 0 ? -ahead_ms : ahead_ms;
        const std::string fraction = std::to_string(1'000 + distance_ms % 1'000).substr(1);
        text += ", " + std::to_string(distance_ms / 1'000) + "." + fraction + " s " + (ahead_ms < 0 ? "behind" : "ahead of") +
                " the machine";
    }
    return text + (answer.at("frozen").get<bool>() ? ", frozen" : "");
}

/// "  2026-11-30T23:00:45.000Z groups: a member is gone group=billing cause=session_expired".
std::string readable_deed(const ordered_json& deed) {
    std::string text = "  " + config::utc_time_text(TimestampMs{deed.at("time_ms").get<std::int64_t>()}) + " " +
                       deed.at("area").get<std::string>() + ": " + deed.at("message").get<std::string>();
    if (deed.contains("fields")) {
        for (const auto& [name, value] : deed.at("fields").items()) {
            text += " " + name + "=" + value.get<std::string>();
        }
    }
    return text;
}

int show(const CommandLine& line) {
    const HttpPlace http = http_place_of(line);
    const auto answer = json_of(http, ask_http(http, HttpMethod::get, kClockPath));
    if (!answer) {
        return answer.error();
    }
    return read_guarded(http,
                        [&] { return print_text(line.has("json") ? answer->dump() + "\n" : readable_time(*answer) + "\n"); });
}

int move(const CommandLine& line, const ordered_json& wish) {
    const HttpPlace http = http_place_of(line);
    const auto answer = json_of(http, tell_http(http, HttpMethod::post, kClockPath, wish.dump(), kMoveTimeout));
    if (!answer) {
        return answer.error();
    }
    return read_guarded(http, [&] {
        if (line.has("json")) {
            return print_text(answer->dump() + "\n");
        }
        std::string text = readable_time(*answer) + "\n";
        for (const ordered_json& deed : answer->at("done")) {
            text += printable(readable_deed(deed)) + "\n";
        }
        if (const auto left_out = answer->at("done_left_out").get<std::int64_t>(); left_out > 0) {
            text += "  and " + std::to_string(left_out) + " more\n";
        }
        for (const ordered_json& name : answer->at("unfinished")) {
            text += "  not finished: " + printable(name.get<std::string>()) + "\n";
        }
        return print_text(text);
    });
}

int advance(const CommandLine& line) { return move(line, {{"advance_ms", *parse_duration_ms(line.value("DURATION"))}}); }

int set(const CommandLine& line) { return move(line, {{"set", line.value("TIME")}}); }

int freeze(const CommandLine& line) { return move(line, {{"freeze", true}}); }

int resume(const CommandLine& line) { return move(line, {{"freeze", false}}); }

constexpr tools::Check kDuration{[](std::string_view text) { return parse_duration_ms(text).has_value(); },
                                 "a time such as 250ms, 45s, 15m, 2h or 7d"};
constexpr tools::Check kTime{[](std::string_view text) { return config::parse_utc_time(std::string(text)).has_value(); },
                             "a UTC time such as 2026-12-24T18:00:00Z or 2026-12-24"};

constexpr tools::Option kDurations[] = {
    {.name = "DURATION", .argument = "", .help = "how far: 250ms, 45s, 15m, 2h, 7d", .is_required = true, .check = kDuration},
};
constexpr tools::Option kTimes[] = {
    {.name = "TIME", .argument = "", .help = "a UTC time, such as 2026-12-24T18:00:00Z", .is_required = true, .check = kTime},
};

}  // namespace

constinit const Command kClockActions[5] = {
    {.name = "advance",
     .summary = "set the clock forward, and print what fell due",
     .purpose = "Set the clock forward, and print what fell due. The command ends when all of that is done.",
     .options = kAnswerOptions,
     .positionals = kDurations,
     .run = advance},
    {.name = "freeze",
     .summary = "let the clock stand still",
     .purpose =
         "Let the clock stand still, until partita clock resume. Nothing falls due meanwhile, unless partita clock advance "
         "moves the clock.",
     .options = kAnswerOptions,
     .run = freeze},
    {.name = "resume", .summary = "let the clock run on", .options = kAnswerOptions, .run = resume},
    {.name = "set",
     .summary = "set the clock to a time, and print what fell due",
     .purpose =
         "Set the clock to a time. If that is later, what falls due until then happens. If it is earlier, nothing falls due.",
     .options = kAnswerOptions,
     .positionals = kTimes,
     .run = set},
    {.name = "show", .summary = "print the time of the broker", .options = kAnswerOptions, .run = show},
};

}  // namespace partita::faults
