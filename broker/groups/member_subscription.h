#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/results.h"

namespace partita::groups {

/// Returns an owned copy of a text that a request or record only views.
[[nodiscard]] inline std::optional<std::string> owned_text(std::optional<std::string_view> text) {
    return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// A member's description of itself. Persisted as one record.
struct MemberSubscription {
    struct Protocol {
        std::string name;
        OwnedBytes metadata;

        friend bool operator==(const Protocol&, const Protocol&) = default;
    };
    /// How a classic member joined.
    struct Classic {
        std::int32_t session_timeout_ms = 0;
        /// In order of preference, at least one.
        std::vector<Protocol> protocols;

        friend bool operator==(const Classic&, const Classic&) = default;
    };

    std::optional<std::string> instance_id;
    std::optional<std::string> rack_id;
    std::string client_id;
    std::string client_host;
    std::int32_t rebalance_timeout_ms = -1;
    /// By name, existing or not. Ascending, without repetition.
    std::vector<std::string> topic_names;
    /// Empty if the member uses no expression.
    std::string topic_regex;
    std::optional<std::string> server_assignor;
    std::optional<Classic> classic;

    friend bool operator==(const MemberSubscription&, const MemberSubscription&) = default;
};

}  // namespace partita::groups
