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

/// The settings behind an addon's options on a line of `serve`.
class ServeOptionsOfAddon {
  public:
    virtual ~ServeOptionsOfAddon() = default;
    /// The options on the line as overrides ("KEY=VALUE").
    [[nodiscard]] virtual std::vector<std::string> overrides() const = 0;
    /// The security protocol of the listener for `--port`. Empty for Kafka's default, PLAINTEXT. `inputs`: the sources of
    /// settings, without the options of any addon. Other code reports their errors.
    [[nodiscard]] virtual std::string_view protocol_of_port(const config::ConfigInputs& inputs) const = 0;

    /// Missing parts of otherwise complete settings.
    struct Completion {
        std::vector<std::string> overrides;
        Greeting greeting;
    };
    /// Unset if nothing is missing.
    [[nodiscard]] virtual std::optional<Completion> complete(const config::BrokerConfig& config) const = 0;
};

/// An addon's part of the command line. Each addon that has one defines one constant of this type,
/// `partita::NAME::kCommandAddition` in broker/addons/NAME/cli/addition.cc; the build collects them in a list.
struct Addition {
    std::span<const Command> commands = {};
    std::span<const tools::Option> serve_options = {};
    /// Reads these options from a line.
    std::shared_ptr<ServeOptionsOfAddon> (*make_serve_options)(const CommandLine& line) = nullptr;
};

/// The additions of this build; empty in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::cli
