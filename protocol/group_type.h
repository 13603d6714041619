#pragma once

#include <cstdint>
#include <string_view>

namespace partita {

/// The types of groups that Apache Kafka 4.3.1 has. A broker need not have groups of all of them: what it lists it has.
enum class GroupType : std::uint8_t {
    classic,   ///< Members join by JoinGroup and SyncGroup; also a group that only stores offsets.
    consumer,  ///< KIP-848.
    share,     ///< KIP-932.
    streams,   ///< KIP-1071.
};

/// As ListGroups names the type on the wire: "classic", in small letters. Clients compare it without regard to case.
[[nodiscard]] constexpr std::string_view to_string(GroupType type) {
    switch (type) {
        case GroupType::classic:
            return "classic";
        case GroupType::consumer:
            return "consumer";
        case GroupType::share:
            return "share";
        case GroupType::streams:
            return "streams";
    }
    return "";
}

}  // namespace partita
