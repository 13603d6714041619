#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/expansion/identity.h"
#include "protocol/types.h"

/// Whose fetches these are. Fetch names no group; what ties a connection that fetches to a member of a group, and what keeps it from
/// being one, is evidence of several kinds. Pure functions.
namespace partita::expansion {

/// A member follows its assignment within this time: what it fetches for longer without holding it, it does not fetch as that member.
inline constexpr std::int64_t kHandoverMs = 10'000;

/// A partition that a connection fetches, or that a member holds: since when, and when that was seen last.
struct PartitionSpan {
    PartitionIndex partition;
    TimestampMs first = kNoTimestamp;
    TimestampMs last = kNoTimestamp;
};

/// A connection that fetches the topic, or did until it was closed.
struct ReadingConnection {
    ConnectionFacts client;
    /// Of the topic. A partition that its session forgot does not go on, and keeps the time at which it was asked for last.
    std::vector<PartitionSpan> fetched;
    bool is_open = true;
};

/// A member of a group that reads the topic.
struct GroupMember {
    std::string group;
    std::string member_id;
    std::string client_id;
    /// As the broker names it in group descriptions: "/127.0.0.1".
    std::string client_host;
    /// Of the topic, what it holds and lately held.
    std::vector<PartitionSpan> held;
    /// The connection over which the member speaks to its coordinator, when that is open and known. Java, librdkafka and franz-go have
    /// another one for fetches, of the same process; kafkajs and sarama may use the same one.
    std::optional<ConnectionFacts> coordinator;
    /// Before that nothing was seen of it, and of one that left, after that; kNoTimestamp when that is not known, or not so.
    TimestampMs came = kNoTimestamp;
    TimestampMs left = kNoTimestamp;
};

/// What ties a connection to the one member that it can be.
enum class AttributionBasis : std::uint8_t {
    none,
    /// It is the only member that the connection can be, and the connection is the only one that can be the member.
    elimination,
    /// That, and one process has the connections of both.
    process,
    /// The member speaks to its coordinator over the same connection.
    connection,
};

struct Attribution {
    enum class Kind : std::uint8_t {
        /// Every member is excluded: it reads in no group, or in none that is known here.
        no_group,
        /// It is the one member in `candidates`.
        member,
        /// It is one of `candidates`, or in no group.
        one_of,
    };
    Kind kind = Kind::no_group;
    AttributionBasis basis = AttributionBasis::none;
    /// Indices of the members that are not excluded, ascending.
    std::vector<std::size_t> candidates;
};

/// Why the connection cannot be the member's.
enum class Exclusion : std::uint8_t {
    /// It may be.
    none,
    other_client_id,
    other_host,
    /// Name or version of the client's software.
    other_software,
    other_process,
    /// It fetches what the member does not hold.
    other_partitions,
    /// It began when the member had left, or ended before the member came.
    other_time,
};
/// The last of these alone.
[[nodiscard]] bool is_of_another_time(const ReadingConnection& reader, const GroupMember& member);
[[nodiscard]] Exclusion exclusion_of(const ReadingConnection& reader, const GroupMember& member);

/// Whose connection `readers[subject]` is. `readers` are all open connections that fetch the topic, `members` all members of groups that
/// read it: with some of them left out, it may be said of a member that it is the only one.
[[nodiscard]] Attribution attribute(std::size_t subject, std::span<const ReadingConnection> readers, std::span<const GroupMember> members);

/// "group a", "one of group a, group b, or a reader in no group", "a reader in no group"; at most eight groups are named.
[[nodiscard]] std::string to_string(const Attribution& attribution, std::span<const GroupMember> members);
/// What would tell the candidates apart, as advice: empty when they are.
[[nodiscard]] std::string what_would_tell(const Attribution& attribution);

}  // namespace partita::expansion
