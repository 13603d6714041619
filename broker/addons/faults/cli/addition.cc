// `partita serve --test-bench` with `--brokers` and `--racks`, `partita broker`, `partita clock`, `partita fault`, `partita
// reset` and `partita snapshot`.

#include "broker/cli/addition.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/faults/cli/broker_command.h"
#include "broker/addons/faults/cli/clock_command.h"
#include "broker/addons/faults/cli/fault_command.h"
#include "broker/addons/faults/cli/reset_command.h"
#include "broker/addons/faults/cli/snapshot_command.h"
#include "broker/addons/faults/config/fault_config.h"
#include "broker/cli/json_answer.h"

namespace partita::faults {
namespace {

constexpr std::string_view kTestBenchOption = "test-bench";
constexpr std::string_view kBrokersOption = "brokers";
constexpr std::string_view kRacksOption = "racks";

class ServeOptions final : public cli::ServeOptionsOfAddon {
  public:
    explicit ServeOptions(const cli::CommandLine& line) {
        if (line.has(kTestBenchOption)) {
            overrides_.push_back(std::string(kTestBenchConfig) + "=true");
        }
        if (line.has(kBrokersOption)) {
            overrides_.push_back(std::string(kBrokersConfig) + "=" + line.value(kBrokersOption));
        }
        if (line.has(kRacksOption)) {
            overrides_.push_back(std::string(kRacksConfig) + "=" + line.value(kRacksOption));
        }
    }

    [[nodiscard]] std::vector<std::string> overrides() const override { return overrides_; }
    [[nodiscard]] std::string_view protocol_of_port(const config::ConfigInputs& /*inputs*/) const override { return {}; }
    [[nodiscard]] std::optional<Completion> complete(const config::BrokerConfig& /*config*/) const override {
        return std::nullopt;
    }

  private:
    std::vector<std::string> overrides_;
};

constexpr tools::Option kOnlyHelp[] = {cli::kHelp};

constexpr cli::Command kCommands[] = {
    {.name = "broker",
     .summary = "kill, pause and isolate brokers of a process that is several",
     .purpose = "Kill, pause and isolate brokers of a process that is several: partita serve --test-bench --brokers 3. See "
                "docs/test-bench.md.",
     .options = kOnlyHelp,
     .subcommands = kBrokerActions},
    {.name = "clock",
     .summary = "move the clock of a running broker, if it has a test bench",
     .purpose = "Move the clock of a running broker: everything that falls due happens at once, in order of time. The broker "
                "needs a test bench: "
                "partita serve --test-bench. See docs/test-bench.md.",
     .options = kOnlyHelp,
     .subcommands = kClockActions},
    {.name = "fault",
     .summary = "make a running broker fail on purpose, if it has a test bench",
     .purpose = "Make a running broker fail at certain requests. The broker needs a test bench: partita serve --test-bench. See "
                "docs/test-bench.md.",
     .options = kOnlyHelp,
     .subcommands = kFaultActions},
    {.name = "reset",
     .summary = "remove everything from a running broker, if it has a test bench",
     .purpose =
         "Remove all topics, groups, transactions, quotas, ACLs, dynamic configs, findings and faults from a running broker, as "
         "if it had been started for the first time. The broker needs a test bench: partita serve --test-bench. See "
         "docs/test-bench.md.",
     .options = cli::kAnswerOptions,
     .run = run_reset},
    {.name = "snapshot",
     .summary = "keep everything that a running broker has, or go back to it, if it has a test bench",
     .purpose =
         "Keep everything that a running broker has under a name, and go back to it. The broker needs a test bench: partita "
         "serve --test-bench. See docs/test-bench.md.",
     .options = kOnlyHelp,
     .subcommands = kSnapshotActions},
};

constexpr tools::Option kServeOptions[] = {
    {.name = kBrokersOption,
     .argument = "number",
     .help = "show this process to clients as so many brokers over one log; needs --test-bench (docs/test-bench.md)"},
    {.name = kRacksOption, .argument = "names", .help = "give the brokers of --brokers these racks in turn: a,b,c"},
    {.name = kTestBenchOption,
     .argument = "",
     .help = "let people make this broker fail on purpose, and move its clock, over HTTP (docs/test-bench.md)"},
};

}  // namespace

extern const cli::Addition kCommandAddition;
constinit const cli::Addition kCommandAddition{
    .commands = kCommands,
    .serve_options = kServeOptions,
    .make_serve_options = [](const cli::CommandLine& line) -> std::shared_ptr<cli::ServeOptionsOfAddon> {
        return std::make_shared<ServeOptions>(line);
    }};

}  // namespace partita::faults
