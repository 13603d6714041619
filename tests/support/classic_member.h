#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocol/byte_buffer.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

/// Members of the classic protocol, by hand: what consumers state about themselves in JoinGroup and SyncGroup.
namespace partita::test {

class WireClient;

/// Topics, each with partitions.
using HeldPartitions = std::vector<std::pair<std::string, std::vector<std::int32_t>>>;

/// ConsumerProtocolSubscription, version 0.
inline std::string subscription_to(const std::vector<std::string>& topics) {
    ByteBuffer out;
    out.append_big_endian(std::int16_t{0});
    out.append_big_endian(static_cast<std::int32_t>(topics.size()));
    for (const std::string& topic : topics) {
        out.append_big_endian(static_cast<std::int16_t>(topic.size()));
        out.append(as_bytes(topic));
    }
    out.append_big_endian(std::int32_t{-1});
    return std::string(as_text(out.bytes()));
}

/// ConsumerProtocolAssignment, version 0.
inline std::string assignment_of(const HeldPartitions& held) {
    ByteBuffer out;
    out.append_big_endian(std::int16_t{0});
    out.append_big_endian(static_cast<std::int32_t>(held.size()));
    for (const auto& [topic, partitions] : held) {
        out.append_big_endian(static_cast<std::int16_t>(topic.size()));
        out.append(as_bytes(topic));
        out.append_big_endian(static_cast<std::int32_t>(partitions.size()));
        for (const std::int32_t partition : partitions) {
            out.append_big_endian(partition);
        }
    }
    out.append_big_endian(std::int32_t{-1});
    return std::string(as_text(out.bytes()));
}

/// A member as its commits name it.
struct JoinedMember {
    ErrorCode error = ErrorCode::network_exception;
    std::string member_id;
    std::int32_t generation_id = -1;
};

/// Makes the group's only member over this connection. The member subscribes to the topics, holds these partitions and has a
/// session of ten minutes; `assignor` is the protocol that it offers. Returns the error that the broker answered, or
/// `network_exception`. For a broker with `group.initial.rebalance.delay.ms=0`.
[[nodiscard]] ErrorCode join_alone(WireClient& wire, const std::string& group, const HeldPartitions& held,
                                   const std::string& assignor = "range");
/// The same, with the new member.
[[nodiscard]] JoinedMember join_as_member(WireClient& wire, const std::string& group, const HeldPartitions& held,
                                          const std::string& assignor = "range");
/// The member's commit of one partition.
[[nodiscard]] ErrorCode commit_as_member(WireClient& wire, const std::string& group, const JoinedMember& member,
                                         const std::string& topic, std::int32_t partition, std::int64_t offset);

}  // namespace partita::test
