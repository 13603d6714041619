#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/topics/catalog_commands.h"
#include "protocol/arena.h"

namespace partita::handlers {

/// The text of a refusal as replies carry it, kept in the arena. Null on success.
[[nodiscard]] inline std::optional<std::string_view> message_of(const topics::CatalogError& error, Arena& arena) {
    if (!error.message) {
        return std::nullopt;
    }
    return arena.copy(*error.message);
}

/// What is said when a change of the catalog could not be written; nothing has changed then.
inline constexpr std::string_view kCatalogNotWritten =
    "The change could not be written to the broker's disk and was not made.";

}  // namespace partita::handlers
