// `partita snapshot list`, `remove`, `restore` and `take`: named copies of everything that a running broker with a test bench
// keeps. Uses /v1/snapshots of the broker's HTTP side.

#include "broker/addons/faults/cli/snapshot_command.h"

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "broker/cli/http_client.h"
#include "broker/cli/json_answer.h"
#include "broker/config/utc_time.h"
#include "protocol/printable.h"
#include "storage/data_snapshots.h"

namespace partita::faults {
namespace {

using cli::ask_http;
using cli::Command;
using cli::CommandLine;
using cli::HttpMethod;
using cli::HttpPlace;
using cli::kAnswerOptions;
using cli::print_text;
using nlohmann::ordered_json;

constexpr const char* kSnapshotsPath = "/v1/snapshots";
/// A snapshot waits for the disk.
constexpr std::chrono::milliseconds kChangeTimeout{120'000};

std::string snapshot_path(const CommandLine& line) { return std::string(kSnapshotsPath) + "/" + line.value("NAME"); }

/// "orders-filled: taken 2026-12-01T04:00:00.000Z, 12 files, 1048576 bytes".
std::string readable_snapshot(const ordered_json& snapshot) {
    return printable(snapshot.at("name").get<std::string>()) + ": taken " +
           config::utc_time_text(TimestampMs{snapshot.at("taken_ms").get<std::int64_t>()}) + ", " +
           std::to_string(snapshot.at("files").get<std::uint64_t>()) + " files, " +
           std::to_string(snapshot.at("size_bytes").get<std::uint64_t>()) + " bytes\n";
}

template <class Text>
int ask_snapshots(const CommandLine& line, HttpMethod method, const std::string& path, Text text) {
    const HttpPlace http = http_place_of(line);
    const auto answer = cli::json_of(http, ask_http(http, method, path, kChangeTimeout));
    if (!answer) {
        return answer.error();
    }
    return cli::read_guarded(http, [&] { return print_text(line.has("json") ? answer->dump() + "\n" : text(*answer)); });
}

int list_snapshots(const CommandLine& line) {
    return ask_snapshots(line, HttpMethod::get, kSnapshotsPath, [](const ordered_json& answer) {
        std::string text;
        for (const ordered_json& snapshot : answer.at("snapshots")) {
            text += readable_snapshot(snapshot);
        }
        return text.empty() ? std::string("there are no snapshots\n") : text;
    });
}

int remove_snapshot(const CommandLine& line) {
    return ask_snapshots(line, HttpMethod::delete_, snapshot_path(line), [](const ordered_json& answer) {
        return "removed " + printable(answer.at("removed").get<std::string>()) + "\n";
    });
}

int restore_snapshot(const CommandLine& line) {
    return ask_snapshots(line, HttpMethod::post, snapshot_path(line) + "/restore",
                         [](const ordered_json& answer) { return "restored " + readable_snapshot(answer.at("snapshot")); });
}

int take_snapshot(const CommandLine& line) {
    return ask_snapshots(line, HttpMethod::put, snapshot_path(line),
                         [](const ordered_json& answer) { return readable_snapshot(answer.at("snapshot")); });
}

constexpr tools::Check kSnapshotName{[](std::string_view text) { return DataSnapshots::is_name(text); },
                                     "1 to 64 letters, digits, '.', '_' or '-', with a letter or digit first"};
constexpr tools::Option kSnapshotNames[] = {
    {.name = "NAME", .argument = "", .help = "the name of the snapshot", .is_required = true, .check = kSnapshotName},
};

}  // namespace

constinit const Command kSnapshotActions[4] = {
    {.name = "list", .summary = "print the snapshots of a running broker", .options = kAnswerOptions, .run = list_snapshots},
    {.name = "remove",
     .summary = "remove a snapshot",
     .options = kAnswerOptions,
     .positionals = kSnapshotNames,
     .run = remove_snapshot},
    {.name = "restore",
     .summary = "make everything what it was when a snapshot was taken",
     .purpose =
         "Make everything what it was when a snapshot was taken. The broker begins anew in its process: clients see a broker "
         "that restarted.",
     .options = kAnswerOptions,
     .positionals = kSnapshotNames,
     .run = restore_snapshot},
    {.name = "take",
     .summary = "keep everything that a running broker has, under a name",
     .purpose =
         "Keep everything that a running broker has, under a name: topics, records, groups, offsets, transactions, configs, "
         "ACLs and findings. A snapshot of that name is replaced.",
     .options = kAnswerOptions,
     .positionals = kSnapshotNames,
     .run = take_snapshot},
};

}  // namespace partita::faults
