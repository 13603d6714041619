#include <algorithm>
#include <cstdio>
#include <vector>

#include "broker/cli/addition.h"
#include "broker/cli/command.h"
#include "broker/cli/tool_commands.h"
#include "broker/tools/tool.h"

namespace partita::cli {
namespace {

constexpr tools::Option kProgramsVersion{.name = "version", .argument = "", .help = "print the version"};

std::vector<Command> all_commands() {
    std::vector<Command> commands{serve_command(), kDevSecurityCommand, kPartitionerCommand, kPlanCommand,
                                  kControlCommand, kFindingsCommand,    kWatchCommand,       kTopCommand,
                                  kSeedCommand,    kCompletionCommand,  kManualCommand};
    for (const Addition* addition : additions()) {
        commands.insert(commands.end(), addition->commands.begin(), addition->commands.end());
    }
    for (const tools::Tool* tool : tools::all_tools()) {
        commands.push_back({.name = tool->name,
                            .summary = tool->summary,
                            .purpose = tool->purpose,
                            .options = tool->options,
                            .tool = tool,
                            .kafka_name = tool->kafka_name,
                            .words = tool->words});
    }
    std::ranges::sort(commands, {}, &Command::name);
    return commands;
}

/// `partita` without a command serves, unless the line asks for the version.
int run_program(const CommandLine& line) {
    if (!line.has(kProgramsVersion.name)) {
        return serve_command().run(line);
    }
    std::puts("partita " PARTITA_VERSION);
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

}  // namespace

const Command& program() {
    static const std::vector<Command> kCommands = all_commands();
    static const std::vector<tools::Option> kOptions = [] {
        std::vector<tools::Option> options(serve_command().options.begin(), serve_command().options.end());
        options.push_back(kProgramsVersion);
        return options;
    }();
    static const Command kProgram{.name = "partita",
                                  .summary = "run a broker that speaks Apache Kafka's protocol, or one of the commands",
                                  .purpose = "Partita: the local Kafka. Without a command it runs the broker.",
                                  .options = kOptions,
                                  .subcommands = kCommands,
                                  .run = run_program};
    return kProgram;
}

int refuse(const std::string& message) {
    std::fprintf(stderr, "partita: %s\n", message.c_str());
    return kExitUsage;
}

}  // namespace partita::cli
