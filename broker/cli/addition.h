#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/cli/command.h"
#include "broker/config/broker_config.h"
#include "broker/serve.h"

namespace partita::cli {

/// The settings that options of an addon stand for on a line of `serve`.
class ServeOptionsOfAddon {
  public:
    virtual ~ServeOptionsOfAddon() = default;
    /// What the options on the line say, as overrides ("KEY=VALUE").
    [[nodiscard]] virtual std::vector<std::string> overrides() const = 0;
    /// The security protocol of the listener that `--port` asks for. Empty for Kafka's default, PLAINTEXT. `inputs`: where
    /// settings come from, without the options of any addon. It is for others to say what is wrong with them.
    [[nodiscard]] virtual std::string_view protocol_of_port(const config::ConfigInputs& inputs) const = 0;

    /// What settings lack that are otherwise complete.
    struct Completion {
        std::vector<std::string> overrides;
        Greeting greeting;
    };
    /// Unset when they lack nothing.
    [[nodiscard]] virtual std::optional<Completion> complete(const config::BrokerConfig& config) const = 0;
};

/// What an addon brings to the command line. Each addon that has something here defines one constant of this type,
/// `partita::NAME::kCommandAddition` in broker/addons/NAME/cli/addition.cc; the build makes the list of them.
struct Addition {
    std::span<const Command> commands = {};
    std::span<const tools::Option> serve_options = {};
    /// What these options say on a line.
    std::shared_ptr<ServeOptionsOfAddon> (*make_serve_options)(const CommandLine& line) = nullptr;
};

/// Those of this build; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::cli
