#pragma once

#include <cstdint>
#include <string_view>

namespace partita {

/// The types of groups in Apache Kafka 4.3.1. A broker may support only some of them; it has each type that it lists.
enum class GroupType : std::uint8_t {
    classic,   ///< Members join by JoinGroup and SyncGroup; also a group that only stores offsets.
    consumer,  ///< KIP-848.
    share,     ///< KIP-932.
    streams,   ///< KIP-1071.
};

/// The name of the type on the wire in ListGroups: "classic", in small letters. Clients compare it without regard to case.
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
