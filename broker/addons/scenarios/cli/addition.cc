// `partita scenario` and `partita check`.

#include "broker/cli/addition.h"

#include "broker/addons/scenarios/cli/check_command.h"
#include "broker/addons/scenarios/cli/scenario_command.h"

namespace partita::scenarios {
namespace {

constexpr cli::Command kCommands[] = {
    {.name = "check",
     .summary = "review changed partition counts as Markdown for a pull request (exit code 0 safe, 3 at risk or no verdict)",
     .purpose =
         "Read files that a review changes, find topics that would get more partitions, and print the plan of each as Markdown. "
         "See docs/check.md.",
     .options = kCheckOptions,
     .positionals = kCheckPositionals,
     .run = run_check},
    {.name = "scenario",
     .summary = "play a scenario with an application and a broker of its own (exit code 0 passed, 1 failed, 3 not playable)",
     .purpose =
         "Play a scenario: start a broker with a test bench, start an application, let topics grow and things fail, and check "
         "what the application received. See docs/scenarios.md.",
     .options = kPlayOptions,
     .positionals = kPlayedFile,
     .subcommands = kScenarioActions,
     .run = run_file},
};

}  // namespace

extern const cli::Addition kCommandAddition;
constinit const cli::Addition kCommandAddition{.commands = kCommands};

}  // namespace partita::scenarios
