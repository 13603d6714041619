// `partita scenario`.

#include "broker/cli/addition.h"

#include "broker/addons/scenarios/cli/scenario_command.h"

namespace partita::scenarios {

extern const cli::Addition kCommandAddition;
constinit const cli::Addition kCommandAddition{.commands = {&kScenarioCommand, 1}};

}  // namespace partita::scenarios
