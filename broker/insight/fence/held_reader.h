#pragma once

#include <cstdint>
#include <string_view>

#include "broker/insight/findings/finding.h"
#include "broker/insight/identity/identity.h"

/// The finding about readers that a fence holds although they may be in no group. Pure.
namespace partita::insight {

/// A connection that a fence holds.
struct HeldReader {
    std::string_view topic;
    const ConnectionFacts& client;
    /// The text of `to_string(Attribution)`.
    std::string_view held_as;
    /// The number of partitions whose records the fence keeps from it, and the groups of which it may be a member.
    std::int64_t partitions = 0;
    std::int64_t groups = 0;
};

/// H52: nothing tells which of several groups the reader belongs to.
[[nodiscard]] Finding held_reader_finding(const HeldReader& held);

}  // namespace partita::insight
