#pragma once

#include <expected>
#include <functional>
#include <string>

#include "broker/addons/scenarios/core/run.h"
#include "broker/addons/scenarios/core/scenario.h"

namespace partita::scenarios {

struct PlayWish {
    /// Replaces the command of the scenario's application, unless it is empty.
    std::string command;
    /// Copy the application's output to standard error.
    bool shows_output = false;
    /// Leave the scenario's directory, with the broker's log, where it is.
    bool keeps_directory = false;
    /// Takes each line of the timeline when it happens.
    std::function<void(const std::string& text)> tell;
    /// Becomes readable when a person wants to stop.
    int interruption = -1;
};

/// Plays a scenario with a broker of its own. The error is a sentence: it could not begin.
[[nodiscard]] std::expected<void, std::string> play(const Scenario& scenario, const PlayWish& wish,
                                                    const std::function<void(const Run& run)>& finish);

}  // namespace partita::scenarios
