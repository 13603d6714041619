#pragma once

#include <span>
#include <string_view>

namespace partita::scenarios {

/// A scenario that comes along: a file of broker/addons/scenarios/library.
struct LibraryScenario {
    /// The file's name without its end.
    std::string_view name;
    std::string_view text;
};

/// All of them, by name.
[[nodiscard]] std::span<const LibraryScenario> library();

}  // namespace partita::scenarios
