// `partita scenario FILE`: plays a scenario against the user's own application. Exit code 0: it passed; 1: the application failed
// it; 2: the file or the line is wrong; 3: it could not be played.

#include "broker/addons/scenarios/cli/scenario_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "broker/addons/scenarios/cli/library.h"
#include "broker/addons/scenarios/cli/player.h"
#include "broker/addons/scenarios/core/report.h"
#include "broker/addons/scenarios/core/scenario.h"
#include "broker/cli/text_file.h"
#include "broker/tools/interruption.h"
#include "protocol/edit_distance.h"

namespace partita::scenarios {
namespace {

using cli::Command;
using cli::CommandLine;
using cli::kExitUsage;
using cli::kHelp;
using cli::refuse;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

/// Returns false, with a message, if the file cannot be written.
bool write_file(const std::string& path, const std::string& text) {
    const auto written = cli::write_text_file(path, text);
    if (!written) {
        std::fprintf(stderr, "partita: %s\n", written.error().c_str());
    }
    return written.has_value();
}

int exit_code_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return kExitPassed;
        case Outcome::failed:
            return kExitFailed;
        case Outcome::broken:
        case Outcome::skipped:
            return kExitBroken;
    }
    return kExitBroken;
}

/// `where`: for messages. `directory`: of the file, in which relative paths begin.
int play_text(const CommandLine& line, const std::string& where, const std::string& directory, std::string_view text) {
    auto scenario = read_scenario(text);
    if (!scenario) {
        return refuse(where + ": " + scenario.error().text());
    }
    if (scenario->application.command.empty() && !line.has("against")) {
        return refuse(where + " names no command of its application; use --against COMMAND");
    }
    std::string& snapshot = scenario->broker.from_snapshot;
    if (!snapshot.empty()) {
        snapshot = (std::filesystem::path(directory) / snapshot).string();
    }
    const tools::Interruption interruption;
    int exit_code = kExitBroken;
    const auto print = [](const std::string& lines) {
        std::fputs(lines.c_str(), stdout);
        std::fflush(stdout);
    };
    const auto played =
        play(*scenario,
             {.command = line.value("against"),
              .shows_output = line.has("verbose"),
              .keeps_directory = line.has("keep"),
              .tell = print,
              .interruption = interruption.descriptor()},
             [&](const Run& run) {
                 print(end_text(*scenario, run));
                 exit_code = exit_code_of(run.outcome());
                 const bool is_junit_written = !line.has("junit") || write_file(line.value("junit"), junit_xml(*scenario, run));
                 const bool is_svg_written = !line.has("svg") || write_file(line.value("svg"), timeline_svg(*scenario, run));
                 if (!is_junit_written || !is_svg_written) {
                     exit_code = kExitBroken;
                 }
             });
    if (!played) {
        std::fprintf(stderr, "partita: %s: %s\n", where.c_str(), played.error().c_str());
        return kExitBroken;
    }
    return exit_code;
}

const LibraryScenario* find_in_library(std::string_view name) {
    const auto all = library();
    const auto found = std::ranges::find(all, name, &LibraryScenario::name);
    return found == all.end() ? nullptr : &*found;
}

int refuse_name(const std::string& name) {
    std::vector<std::string_view> names;
    for (const LibraryScenario& one : library()) {
        names.push_back(one.name);
    }
    const auto near = nearest(name, names);
    return refuse("there is no scenario " + name + (near ? "; did you mean " + std::string(*near) + "?" : "") +
                  " (`partita scenario list` lists all)");
}

int run_of_library(const CommandLine& line) {
    const std::string name = line.value("NAME");
    const LibraryScenario* const found = find_in_library(name);
    return found == nullptr ? refuse_name(name) : play_text(line, name, ".", found->text);
}

int run_list(const CommandLine& line) {
    std::string text;
    for (const LibraryScenario& one : library()) {
        const auto scenario = read_scenario(one.text);
        if (!scenario) {
            return refuse(std::string(one.name) + ": " + scenario.error().text());
        }
        std::string hazards;
        for (const std::string& hazard : scenario->hazards) {
            hazards += (hazards.empty() ? "" : " ") + hazard;
        }
        constexpr std::size_t kNameColumns = 26;
        constexpr std::size_t kHazardColumns = 10;
        std::string row(one.name);
        row.resize(std::max(row.size() + 2, kNameColumns), ' ');
        hazards.resize(std::max(hazards.size() + 2, kHazardColumns), ' ');
        text += row + hazards + scenario->name + "\n";
    }
    static_cast<void>(line);  // It has no options but --help.
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitPassed : kExitBroken;
}

int run_show(const CommandLine& line) {
    const std::string name = line.value("NAME");
    const LibraryScenario* const found = find_in_library(name);
    if (found == nullptr) {
        return refuse_name(name);
    }
    std::fwrite(found->text.data(), 1, found->text.size(), stdout);
    return std::fflush(stdout) == 0 ? kExitPassed : kExitBroken;
}

constexpr tools::Option kOnlyHelp[] = {kHelp};
constexpr tools::Option kName[] = {
    {.name = "NAME",
     .argument = "",
     .help = "the name of the scenario, as `partita scenario list` prints it",
     .is_required = true},
};

}  // namespace

int run_file(const CommandLine& line) {
    const std::string path = line.value("FILE");
    const auto text = cli::read_text_file(path, kFileBytesMax);
    if (!text) {
        return refuse(text.error());
    }
    return play_text(line, path, std::filesystem::path(path).parent_path().string(), *text);
}

constinit const tools::Option kPlayOptions[6] = {
    {.name = "against",
     .argument = "command",
     .help = "play against this application: a line for the shell, in place of the command in the file"},
    {.name = "junit", .argument = "file", .help = "write the steps into this file, as JUnit XML"},
    {.name = "svg", .argument = "file", .help = "draw the timeline into this file, as SVG"},
    {.name = "verbose", .argument = "", .help = "show the output of the application on standard error"},
    {.name = "keep", .argument = "", .help = "keep the directory with the broker's log, and print its path"},
    kHelp,
};
constinit const tools::Option kPlayedFile[1] = {
    {.name = "FILE", .argument = "", .help = "the file with the scenario", .is_required = true},
};
constinit const Command kScenarioActions[3] = {
    {.name = "list", .summary = "list the scenarios that come along", .options = kOnlyHelp, .run = run_list},
    {.name = "run",
     .summary = "play a scenario that comes along (exit code 0 passed, 1 failed, 3 not playable)",
     .options = kPlayOptions,
     .positionals = kName,
     .run = run_of_library},
    {.name = "show",
     .summary = "print a scenario that comes along, to begin with",
     .options = kOnlyHelp,
     .positionals = kName,
     .run = run_show},
};

}  // namespace partita::scenarios
