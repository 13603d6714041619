// `partita fault add`, `list`, `remove` and `release`: faults on purpose, of a running broker with a test bench. Uses /v1/faults
// of the broker's HTTP side.

#include "broker/addons/faults/cli/fault_command.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/cli/clock_text.h"
#include "broker/cli/http_client.h"
#include "broker/cli/json_answer.h"
#include "broker/cli/text_file.h"
#include "broker/yaml/yaml.h"
#include "protocol/percent_encoding.h"
#include "protocol/printable.h"

namespace partita::faults {
namespace {

using cli::ask_http;
using cli::Command;
using cli::CommandLine;
using cli::HttpMethod;
using cli::HttpPlace;
using cli::is_between;
using cli::json_of;
using cli::kAnswerAsJson;
using cli::kAnswerOptions;
using cli::kAnyMost;
using cli::kExitBroken;
using cli::kExitDone;
using cli::kHelp;
using cli::kHttp;
using cli::kHttpCa;
using cli::kHttpTokenFile;
using cli::print_text;
using cli::read_guarded;
using cli::refuse;
using cli::tell_http;
using nlohmann::ordered_json;

constexpr const char* kPath = "/v1/faults";
/// The broker takes no longer bodies.
constexpr std::size_t kFileBytesMax = 1024UL * 1024;

std::string path_of(const std::string& id) { return std::string(kPath) + "/" + percent_encoded(id); }

// `fault add` ----------------------------------------------------------------------------------------

enum class Kind { text, whole_number, share, flag, stale_metadata };

/// An option that becomes a member of the rule.
struct Member {
    std::string_view option;
    const char* part;
    const char* name;
    Kind kind = Kind::text;
};
constexpr Member kMembers[] = {
    {"api", "match", "api"},
    {"api-version", "match", "version", Kind::whole_number},
    {"client-id", "match", "client_id"},
    {"software", "match", "software"},
    {"principal", "match", "principal"},
    {"group", "match", "group"},
    {"topic", "match", "topic"},
    {"partition", "match", "partition", Kind::whole_number},
    {"listener", "match", "listener"},
    {"broker", "match", "broker", Kind::whole_number},
    {"nth", "when", "nth", Kind::whole_number},
    {"every", "when", "every", Kind::whole_number},
    {"times", "when", "times", Kind::whole_number},
    {"probability", "when", "probability", Kind::share},
    {"seed", "when", "seed", Kind::whole_number},
    {"after-ms", "when", "after_ms", Kind::whole_number},
    {"for-ms", "when", "for_ms", Kind::whole_number},
    {"after-fault", "when", "after_fault"},
    {"delay-ms", "do", "delay_ms", Kind::whole_number},
    {"hold", "do", "hold", Kind::flag},
    {"error", "do", "error"},
    {"takes-effect", "do", "takes_effect", Kind::flag},
    {"drop-request", "do", "drop_request", Kind::flag},
    {"drop-response", "do", "drop_response", Kind::flag},
    {"disconnect", "do", "disconnect", Kind::flag},
    {"throttle-ms", "do", "throttle_ms", Kind::whole_number},
    {"corrupt-records", "do", "corrupt_records", Kind::flag},
    {"truncate-records", "do", "truncate_records", Kind::flag},
    {"stale-metadata", "do", "stale_metadata", Kind::stale_metadata},
    {"log-start", "do", "log_start", Kind::whole_number},
    {"slow-bytes-per-s", "do", "slow_bytes_per_s", Kind::whole_number},
    {"reset-after-bytes", "do", "reset_after_bytes", Kind::whole_number},
    {"duplicate-response", "do", "duplicate_response", Kind::flag},
    {"disk-full", "do", "disk_full", Kind::flag},
    {"sync-fails", "do", "sync_fails", Kind::flag},
};

std::optional<double> parse_share(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_good = error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= 1;
    return is_good ? std::optional(value) : std::nullopt;
}

/// "partitions=2,shuffled" as JSON; null if it has another form.
std::optional<ordered_json> parse_stale_metadata(std::string_view text) {
    ordered_json stale = ordered_json::object();
    while (true) {
        const std::size_t end = text.find(',');
        const std::string_view part = text.substr(0, end);
        const std::size_t equals = part.find('=');
        const std::string name(part.substr(0, equals));
        if (name == "missing" || name == "shuffled") {
            if (equals != std::string_view::npos) {
                return std::nullopt;
            }
            stale[name] = true;
        } else if ((name == "partitions" || name == "leader") && equals != std::string_view::npos) {
            const std::string_view digits = part.substr(equals + 1);
            std::int32_t number = 0;
            const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
            if (error != std::errc() || stop != digits.data() + digits.size()) {
                return std::nullopt;
            }
            stale[name] = number;
        } else {
            return std::nullopt;
        }
        if (end == std::string_view::npos) {
            return stale;
        }
        text.remove_prefix(end + 1);
    }
}

ordered_json value_of(const CommandLine& line, const Member& member) {
    switch (member.kind) {
        case Kind::text:
            return line.value(member.option);
        case Kind::whole_number:
            return *line.integer(member.option);
        case Kind::share:
            return *parse_share(line.value(member.option));
        case Kind::flag:
            return true;
        case Kind::stale_metadata:
            return *parse_stale_metadata(line.value(member.option));
    }
    return nullptr;
}

/// The rule that the options describe.
ordered_json rule_of(const CommandLine& line) {
    ordered_json rule = ordered_json::object();
    if (line.has("id")) {
        rule["id"] = line.value("id");
    }
    for (const Member& member : kMembers) {
        if (line.has(member.option)) {
            rule[member.part][member.name] = value_of(line, member);
        }
    }
    return rule;
}

/// The members that the options give to a preset. The error is a sentence.
std::expected<ordered_json, std::string> preset_of(const CommandLine& line) {
    ordered_json preset = {{"preset", line.value("preset")}};
    for (const char* name : {"id", "topic", "group"}) {
        if (line.has(name)) {
            preset[name] = line.value(name);
        }
    }
    for (const Member& member : kMembers) {
        if (line.has(member.option) && !preset.contains(std::string(member.option))) {
            return std::unexpected("--" + std::string(member.option) +
                                   " does not go with --preset; --id, --topic and --group may");
        }
    }
    return preset;
}

int run_add(const CommandLine& line) {
    const ordered_json rule = rule_of(line);
    std::string body;
    if (line.has("preset")) {
        if (line.has("file")) {
            return refuse("--file does not go with --preset");
        }
        const auto preset = preset_of(line);
        if (!preset) {
            return refuse(preset.error());
        }
        body = preset->dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    } else if (line.has("file")) {
        if (!rule.empty()) {
            return refuse("--file does not go with options of a rule: the file describes whole rules");
        }
        const auto text = cli::read_text_file(line.value("file"), kFileBytesMax);
        if (!text) {
            return refuse(text.error());
        }
        const auto rules = yaml::parse(*text, {.bytes_max = kFileBytesMax});
        if (!rules) {
            return refuse(line.value("file") + ": " + rules.error().text());
        }
        body = rules->value().dump();
    } else if (!rule.contains("do")) {
        return refuse(
            "fault add needs --preset, --file, or an option that says what happens, such as --error, --delay-ms or "
            "--drop-response; "
            "see partita fault add --help");
    } else {
        body = rule.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    }
    const HttpPlace http = http_place_of(line);
    const auto answer = json_of(http, tell_http(http, HttpMethod::post, kPath, body));
    if (!answer) {
        return answer.error();
    }
    return read_guarded(http, [&] {
        std::string text;
        for (const ordered_json& id : answer->at("ids")) {
            text += printable(id.get<std::string>()) + "\n";
        }
        return print_text(line.has("json") ? answer->dump() + "\n" : text);
    });
}

constexpr tools::Check kFrom0{is_between<0, kAnyMost>, "a whole number from 0 on"};
constexpr tools::Check kFrom1{is_between<1, kAnyMost>, "a whole number from 1 on"};
constexpr tools::Check kShare{[](std::string_view text) { return parse_share(text).has_value(); }, "a number from 0 to 1"};
constexpr tools::Check kStale{[](std::string_view text) { return parse_stale_metadata(text).has_value(); },
                              "missing, or a list of partitions=COUNT, shuffled and leader=ID"};

constexpr tools::Option kAddOptions[] = {
    {.name = "file",
     .argument = "file",
     .help = "read a rule, or a list of rules, as YAML or JSON from this file; - for standard input"},
    {.name = "preset",
     .argument = "name",
     .help = "add the rules of this preset, such as rolling-restart (docs/test-bench.md); --topic and --group restrict them"},
    {.name = "id", .argument = "id", .help = "name the rule (default: the broker makes a name)"},
    // Which requests.
    {.name = "api", .argument = "name", .help = "match requests of this kind, such as Produce"},
    {.name = "api-version", .argument = "number", .help = "match requests of this version", .check = kFrom0},
    {.name = "client-id", .argument = "id", .help = "match requests of clients with this client id"},
    {.name = "software",
     .argument = "name",
     .help = "match requests of clients that give this software name, such as librdkafka"},
    {.name = "principal", .argument = "TYPE:NAME", .help = "match requests of this principal, such as User:alice"},
    {.name = "group", .argument = "name", .help = "match requests that name this group or transactional id"},
    {.name = "topic", .argument = "topic", .help = "match requests that name this topic"},
    {.name = "partition", .argument = "number", .help = "match requests that name this partition", .check = kFrom0},
    {.name = "listener", .argument = "name", .help = "match requests that come to this listener"},
    {.name = "broker", .argument = "ID", .help = "match requests that come to this one of several brokers", .check = kFrom0},
    // When.
    {.name = "nth", .argument = "count", .help = "act first at this one of these requests (default: 1)", .check = kFrom1},
    {.name = "every", .argument = "count", .help = "then act at every request of this count (default: 1)", .check = kFrom1},
    {.name = "times", .argument = "count", .help = "act at most so often; 0 for no limit (default: 0)", .check = kFrom0},
    {.name = "probability", .argument = "share", .help = "act with this probability, from 0 to 1 (default: 1)", .check = kShare},
    {.name = "seed", .argument = "number", .help = "repeat the random choices of this seed (default: 0)", .check = kFrom0},
    {.name = "after-ms", .argument = "time", .help = "act only after this time, in milliseconds", .check = kFrom0},
    {.name = "for-ms", .argument = "time", .help = "then act only for this time, in milliseconds; 0 for no end", .check = kFrom0},
    {.name = "after-fault", .argument = "id", .help = "act only after this rule has acted"},
    // And the deed.
    {.name = "delay-ms", .argument = "time", .help = "delay the request for this time, in milliseconds", .check = kFrom0},
    {.name = "hold", .argument = "", .help = "hold the request until partita fault release"},
    {.name = "error", .argument = "name", .help = "answer with this error, such as NOT_LEADER_OR_FOLLOWER, and do nothing else"},
    {.name = "takes-effect", .argument = "", .help = "with --error: serve the request, but answer with the error"},
    {.name = "drop-request", .argument = "", .help = "ignore the request, and never answer on its connection again"},
    {.name = "drop-response", .argument = "", .help = "serve the request, but never answer on its connection again"},
    {.name = "disconnect", .argument = "", .help = "close the connection instead of serving the request"},
    {.name = "throttle-ms",
     .argument = "time",
     .help = "tell the client to wait for this time, in milliseconds",
     .check = kFrom0},
    {.name = "corrupt-records", .argument = "", .help = "damage the first batch of records in the answer to a Fetch"},
    {.name = "truncate-records", .argument = "", .help = "end the answer to a Fetch in the middle of its last batch"},
    {.name = "stale-metadata",
     .argument = "what",
     .help = "answer Metadata with older content: missing, or a list of partitions=COUNT, shuffled and leader=ID",
     .check = kStale},
    {.name = "log-start",
     .argument = "offset",
     .help = "answer Fetch and ListOffsets as if the records before this offset were gone",
     .check = kFrom0},
    {.name = "slow-bytes-per-s", .argument = "count", .help = "send the answer at this rate", .check = kFrom1},
    {.name = "reset-after-bytes",
     .argument = "count",
     .help = "send so many bytes of the answer, and reset the connection",
     .check = kFrom0},
    {.name = "duplicate-response", .argument = "", .help = "send the answer twice"},
    {.name = "disk-full", .argument = "", .help = "fail writes to the broker's files, those of --topic and --partition if given"},
    {.name = "sync-fails",
     .argument = "",
     .help = "fail syncs of the broker's files, those of --topic and --partition if given; the broker then ends"},
    kAnswerAsJson,
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    kHelp,
};

// `fault list` ---------------------------------------------------------------------------------------

/// A value as people write it: texts without quotes.
std::string value_text(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// "api Produce, topic orders"; true flags by their names alone. `nothing` for an empty object.
std::string members_text(const ordered_json& object, std::string_view nothing) {
    std::string text;
    for (const auto& [name, value] : object.items()) {
        text += (text.empty() ? "" : ", ") + name + (value.is_boolean() ? "" : " " + value_text(value));
    }
    return text.empty() ? std::string(nothing) : text;
}

/// "f1: api Produce, topic orders; nth 3; error NOT_LEADER_OR_FOLLOWER; matched 7, acted 1, waiting 0".
std::string readable_fault(const ordered_json& fault) {
    const auto count = [&](const char* name) {
        return std::string(name) + " " + std::to_string(fault.at(name).get<std::int64_t>());
    };
    const ordered_json& action = fault.at("do");
    const bool is_about_files = action.contains("disk_full") || action.contains("sync_fails");
    return printable(fault.at("id").get<std::string>() + ": " +
                     members_text(fault.at("match"), is_about_files ? "every file" : "every request") + "; " +
                     members_text(fault.at("when"), "always") + "; " + members_text(action, "nothing") + "; " + count("matched") +
                     ", " + count("acted") + ", " + count("waiting")) +
           "\n";
}

/// "    2026-11-29 14:02:11 Produce v9 of app at 10.0.0.1:50412, correlation 17: acted".
std::string readable_note(const ordered_json& note) {
    const std::string what =
        note.contains("file")
            ? note.at("file").get<std::string>()
            : note.at("api").get<std::string>() + " v" + std::to_string(note.at("version").get<std::int64_t>()) + " of " +
                  note.at("client_id").get<std::string>() + " at " + note.at("client_address").get<std::string>() +
                  ", correlation " + std::to_string(note.at("correlation_id").get<std::int64_t>());
    return printable("    " + cli::date_and_time(note.at("time_ms").get<std::int64_t>()) + " " + what +
                     (note.at("acted").get<bool>() ? ": acted" : ": did not act")) +
           "\n";
}

int list_all(const CommandLine& line, const HttpPlace& http) {
    const auto answer = json_of(http, ask_http(http, HttpMethod::get, kPath));
    if (!answer) {
        return answer.error();
    }
    std::string text;
    for (const ordered_json& fault : answer->at("faults")) {
        text += readable_fault(fault);
    }
    return print_text(line.has("json") ? answer->dump() + "\n" : text.empty() ? "no faults\n" : text);
}

int list_one(const CommandLine& line, const HttpPlace& http) {
    const std::string path = path_of(line.value("ID"));
    auto fault = json_of(http, ask_http(http, HttpMethod::get, path));
    if (!fault) {
        return fault.error();
    }
    const auto notes = json_of(http, ask_http(http, HttpMethod::get, path + "/matches"));
    if (!notes) {
        return notes.error();
    }
    if (line.has("json")) {
        (*fault)["matches"] = notes->at("matches");
        return print_text(fault->dump() + "\n");
    }
    std::string text = readable_fault(*fault);
    for (const ordered_json& note : notes->at("matches")) {
        text += readable_note(note);
    }
    return print_text(text);
}

int run_list(const CommandLine& line) {
    const HttpPlace http = http_place_of(line);
    return read_guarded(http, [&] { return line.has("ID") ? list_one(line, http) : list_all(line, http); });
}

constexpr tools::Option kListPositionals[] = {
    {.name = "ID", .argument = "", .help = "list only this fault, with the last requests that matched it"},
};

// `fault remove` -------------------------------------------------------------------------------------

int run_remove(const CommandLine& line) {
    const std::vector<std::string> ids = line.values("ID");
    if (line.has("all") != ids.empty()) {
        return refuse("fault remove needs either an ID or --all");
    }
    const HttpPlace http = http_place_of(line);
    if (line.has("all")) {
        const auto answer = json_of(http, ask_http(http, HttpMethod::delete_, kPath));
        return answer ? kExitDone : answer.error();
    }
    int code = kExitDone;
    // An unknown one does not spare the others.
    for (const std::string& id : ids) {
        if (const auto answer = json_of(http, ask_http(http, HttpMethod::delete_, path_of(id))); !answer) {
            code = answer.error();
        }
    }
    return code;
}

constexpr tools::Option kRemovePositionals[] = {
    {.name = "ID", .argument = "", .help = "remove this fault", .may_repeat = true},
};
constexpr tools::Option kRemoveOptions[] = {
    {.name = "all", .argument = "", .help = "remove all faults"}, kHttp, kHttpTokenFile, kHttpCa, kHelp,
};

// `fault release` ------------------------------------------------------------------------------------

int run_release(const CommandLine& line) {
    const HttpPlace http = http_place_of(line);
    const auto answer = json_of(http, ask_http(http, HttpMethod::post, path_of(line.value("ID")) + "/release"));
    if (!answer) {
        return answer.error();
    }
    return read_guarded(http, [&] {
        const auto released = answer->at("released").get<std::int64_t>();
        return print_text(line.has("json")
                              ? answer->dump() + "\n"
                              : "released " + std::to_string(released) + (released == 1 ? " request" : " requests") + "\n");
    });
}

constexpr tools::Option kReleasePositionals[] = {
    {.name = "ID", .argument = "", .help = "let the requests go on that this fault holds", .is_required = true},
};

}  // namespace

// The command ----------------------------------------------------------------------------------------

constinit const Command kFaultActions[4] = {
    {.name = "add",
     .summary = "add a fault, and print its id",
     .purpose = "Add a fault, and print its id. Options say which requests it matches, when it acts and what it does; or --file "
                "has whole rules. Without an option that restricts it, it matches every request.",
     .options = kAddOptions,
     .run = run_add},
    {.name = "list",
     .summary = "list faults, and how often each one acted",
     .options = kAnswerOptions,
     .positionals = kListPositionals,
     .run = run_list},
    {.name = "release",
     .summary = "let the requests go on that a fault holds",
     .options = kAnswerOptions,
     .positionals = kReleasePositionals,
     .run = run_release},
    {.name = "remove",
     .summary = "remove a fault, or all of them",
     .purpose = "Remove a fault, or all of them. The requests that it delays or holds go on.",
     .options = kRemoveOptions,
     .positionals = kRemovePositionals,
     .run = run_remove},
};

}  // namespace partita::faults
