#include <cstdio>

#include "broker/groups/classic_group.h"

namespace partita::groups {
namespace {

void append_hex(std::string& out, Bytes bytes) {
    for (const std::byte byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
        out += digits;
    }
}

}  // namespace

std::string ClassicGroup::dump() const {
    if (!is(GroupState::empty) && !is(GroupState::stable)) {
        return " rebalancing\n";
    }
    std::string out = " type=" + protocol_type.value_or("") + " generation=" + std::to_string(generation);
    out += " protocol=" + protocol.value_or("-");
    out += " leader=" + (leader == nullptr ? std::string("-") : leader->id);
    // A group without a protocol type derives this time from its commits; no record says when it became Empty.
    out += " since=" + (protocol_type ? std::to_string(state_since.value) : std::string("-"));
    out += "\n";
    for (const auto& [order, member] : members_) {
        out += "  member " + member->id + " instance=" + member->instance_id.value_or("-") + " client=" + member->client_id +
               "@" + member->client_host + " session=" + std::to_string(member->session_timeout_ms) +
               " rebalance=" + std::to_string(member->rebalance_timeout_ms) + " metadata=";
        if (const OwnedBytes* metadata = member->metadata(protocol.value_or(""))) {
            append_hex(out, *metadata);
        }
        out += " assignment=";
        append_hex(out, member->assignment());
        out += "\n";
    }
    return out;
}

}  // namespace partita::groups
