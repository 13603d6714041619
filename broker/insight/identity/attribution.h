#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "protocol/types.h"

/// Decides which group member, if any, a fetching connection belongs to. A Fetch request names no group, so the answer
/// rests on evidence of several kinds, for and against each member. Pure functions.
namespace partita::insight {

/// A member follows its assignment within this time. If a connection fetches a partition for longer than this while the member
/// does not hold it, the connection does not fetch as that member.
inline constexpr std::int64_t kHandoverMs = 10'000;

/// A fetch over one connection may be served a little after a later request of the same client over another connection, such as
/// the one with which its member leaves.
inline constexpr std::int64_t kUnderWayMs = 10;

/// A partition that a connection fetches or that a member holds, with the time when that began and when it was last seen.
struct PartitionSpan {
    PartitionIndex partition;
    TimestampMs first = kNoTimestamp;
    TimestampMs last = kNoTimestamp;
};

/// A connection that fetches the topic, or fetched it until it was closed.
struct ReadingConnection {
    ConnectionFacts client;
    /// The partitions of the topic that the connection fetched. When its fetch session forgets a partition, `last` stays at the
    /// time of the last fetch.
    std::vector<PartitionSpan> fetched;
    bool is_open = true;
};

/// A member of a group that reads the topic.
struct GroupMember {
    std::string group;
    std::string member_id;
    std::string client_id;
    /// The host as the broker names it in group descriptions: "/127.0.0.1".
    std::string client_host;
    /// The partitions of the topic that the member holds or held lately.
    std::vector<PartitionSpan> held;
    /// The connection over which the member speaks to its coordinator; null if it is closed or unknown. Java, librdkafka and
    /// franz-go fetch over another connection of the same process. kafkajs and sarama may use this one.
    std::optional<ConnectionFacts> coordinator;
    /// The broker saw nothing of the member before `came`, and nothing after `left` if it left. kNoTimestamp if that is not
    /// known, or if it did not happen.
    TimestampMs came = kNoTimestamp;
    TimestampMs left = kNoTimestamp;
};

/// The evidence that ties a connection to the only member that it can belong to.
enum class AttributionBasis : std::uint8_t {
    none,
    /// The connection can belong to no other member, and no other connection can belong to the member.
    elimination,
    /// As `elimination`; in addition, one process owns both the fetching connection and the member's coordinator connection.
    process,
    /// The member speaks to its coordinator over the same connection.
    connection,
};

struct Attribution {
    enum class Kind : std::uint8_t {
        /// Every member is excluded: the connection reads in no group, or in a group that is not known here.
        no_group,
        /// The connection belongs to the one member in `candidates`.
        member,
        /// The connection belongs to one of `candidates`, or reads in no group.
        one_of,
    };
    Kind kind = Kind::no_group;
    AttributionBasis basis = AttributionBasis::none;
    /// Indices of the members that are not excluded, ascending.
    std::vector<std::size_t> candidates;
};

/// Why a connection cannot belong to a member.
enum class Exclusion : std::uint8_t {
    /// Not excluded: it may be the member's.
    none,
    other_client_id,
    other_host,
    /// The client software has another name or version.
    other_software,
    other_process,
    /// The connection fetches partitions that the member does not hold.
    other_partitions,
    /// The connection began `kUnderWayMs` after the member had left, or later, or it ended before the member came.
    other_time,
};
/// True if `Exclusion::other_time` is the only reason.
[[nodiscard]] bool is_of_another_time(const ReadingConnection& reader, const GroupMember& member);
[[nodiscard]] Exclusion exclusion_of(const ReadingConnection& reader, const GroupMember& member);

/// Decides to which member `readers[subject]` belongs. The caller passes all open connections that fetch the topic, and all
/// members of groups that read it. If some were missing, elimination could tie a connection to the wrong member.
[[nodiscard]] Attribution attribute(std::size_t subject, std::span<const ReadingConnection> readers,
                                    std::span<const GroupMember> members);

/// True if no more readers compete for the members `candidates` than there are of them: then each of the readers is one of the
/// members, though perhaps nobody knows which.
[[nodiscard]] bool are_enough(std::span<const std::size_t> candidates, std::span<const ReadingConnection> readers,
                              std::span<const GroupMember> members);

/// "group a", "one of group a, group b, or a reader in no group", "a reader in no group". It names at most eight groups.
[[nodiscard]] std::string to_string(const Attribution& attribution, std::span<const GroupMember> members);
/// Advice on how to tell the candidates apart; empty if there is nothing left to tell apart.
[[nodiscard]] std::string what_would_tell(const Attribution& attribution);

}  // namespace partita::insight
