#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/insight/identity/attribution.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "protocol/types.h"

/// The connections that fetch a topic, and the group members to which each may belong. Pure; one caller at a time.
namespace partita::insight {

/// A connection that fetched nothing for this long no longer counts as a reader.
inline constexpr std::int64_t kReaderSilentMs = 60'000;
/// A member is remembered for this long after it left, which is longer than kReaderSilentMs. So its last fetches do not seem to
/// come from a reader in no group.
inline constexpr std::int64_t kMemberMemoryMs = 2 * kReaderSilentMs;

/// The fetches of one connection in the topic.
struct Reading {
    struct Partition {
        /// The lowest offset fetched since the last growth; kNotRead before the first fetch.
        Offset earliest = kNotRead;
        TimestampMs first = kNoTimestamp;
        TimestampMs last = kNoTimestamp;
        /// After each earlier growth, the records from before it that were read: from the lowest offset up to the cut, one pair
        /// per growth, oldest first.
        std::vector<std::pair<Offset, Offset>> before_growths;
    };
    static constexpr Offset kNotRead{INT64_MAX};

    ClientIdentity client;
    std::map<PartitionIndex, Partition> partitions;
    TimestampMs last = kNoTimestamp;
    /// As last known; null if no source could tell.
    std::optional<ConnectionFacts> facts;
    bool is_open = true;
    /// Its member was determined while it was open.
    bool was_judged_open = false;
};

/// A client as the broker can tell it from others: by client id, address, principal and process.
struct ReadingClient {
    ClientIdentity identity;
    /// The authenticated principal; empty if the client did not have to authenticate.
    std::string principal;
    std::optional<ProcessIdentity> process;

    friend bool operator==(const ReadingClient&, const ReadingClient&) = default;
    friend bool operator<(const ReadingClient& one, const ReadingClient& other) { return one.order() < other.order(); }

  private:
    [[nodiscard]] std::tuple<const ClientIdentity&, const std::string&, std::int32_t, std::uint64_t> order() const {
        return {identity, principal, process ? process->pid : 0, process ? process->start_ticks : 0};
    }
};

class ReadingConnections {
  public:
    /// The largest number of connections remembered. Beyond it, the longest silent ones are forgotten.
    static constexpr std::size_t kReadingsMax = 4096;
    /// Earlier growths for which a connection's reading is remembered.
    static constexpr std::size_t kGrowthsMax = 16;

    /// True if the connection had not fetched the partition before.
    bool on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from, TimestampMs now);
    /// The topic grows; `previous` is the growth before this one, null if there was none.
    void on_growth(const EarlierExpansion* previous);
    /// Looks up the facts about the connections, and forgets those that are gone.
    void refresh(const ConnectionDirectory& directory, LookTime& time);
    /// The client behind a connection that fetched; null for any other connection.
    [[nodiscard]] std::optional<ReadingClient> client_of(ConnectionId connection) const;
    /// When the connection was opened; kNoTimestamp if that is not known.
    [[nodiscard]] TimestampMs born_of(ConnectionId connection) const;
    /// kNoTimestamp for a connection that did not fetch.
    [[nodiscard]] TimestampMs first_fetch_of(ConnectionId connection) const;
    [[nodiscard]] std::map<ConnectionId, Reading>& all() { return readings_; }
    [[nodiscard]] const std::map<ConnectionId, Reading>& all() const { return readings_; }

  private:
    /// Forgets an eighth of the connections, those that were silent for longest.
    void make_room();

    std::map<ConnectionId, Reading> readings_;
};

/// Remembers members of groups with their recent partitions, if some connection with their client id fetches. It also remembers
/// speakers: clients that asked or committed for a group of which they were never seen as a member.
class MemberHistory {
  public:
    /// With more members, or more speakers, than this, no further ones are remembered.
    static constexpr std::size_t kMembersMax = 16'384;
    static constexpr std::size_t kSpeakersMax = 4096;

    /// A client fetched or committed offsets of the group over this connection.
    void on_speaker(std::string_view group, ConnectionId connection, const ClientIdentity& client, PartitionIndex partition,
                    TimestampMs now);
    /// A member leaves with these partitions; it may have come since the last look. `born`: when the connection over which it
    /// spoke for itself was opened, or kNoTimestamp.
    void on_leave(std::string_view group, std::string_view member_id, TimestampMs born, const ClientIdentity& client,
                  std::span<const PartitionIndex> partitions, TimestampMs now);
    /// `client_ids`: the client ids of connections that fetch.
    void refresh(const ReaderFacts& facts, const std::set<std::string_view>& client_ids, LookTime& time);
    /// Groups that had several members at some time between the last two looks, or have them now.
    [[nodiscard]] const std::set<std::string, std::less<>>& groups_of_several() const { return groups_of_several_; }
    /// All members and speakers with that client id.
    [[nodiscard]] std::vector<GroupMember> members_of(const std::string& client_id, const ConnectionDirectory& directory,
                                                      TimestampMs now) const;

  private:
    struct Held {
        std::string client_host;
        /// A span ends at the last look that found the partition with the member, or, once it lost it, at the next look: it may
        /// have had the partition until then.
        std::map<PartitionIndex, PartitionSpan> held;
        /// The partitions that the last look found with it.
        std::vector<PartitionIndex> assigned;
        /// When the connection over which it speaks for itself was opened; kNoTimestamp if that is not known.
        TimestampMs born = kNoTimestamp;
        TimestampMs first = kNoTimestamp;
        TimestampMs last = kNoTimestamp;
        /// When it left, or the time of the first look that did not find it in its group; kNoTimestamp while it is a member.
        TimestampMs left = kNoTimestamp;
    };
    struct Speaker {
        ConnectionId connection;
        std::string client_host;
        std::map<PartitionIndex, PartitionSpan> asked;
        TimestampMs last = kNoTimestamp;
    };
    /// By client id, group and member id.
    using MemberKey = std::tuple<std::string, std::string, std::string>;
    std::map<MemberKey, Held> members_;
    std::set<std::string, std::less<>> groups_of_several_;
    /// The member holds these partitions now, and may have held those of the last look until now.
    static void note_held(Held& member, std::span<const PartitionIndex> held, TimestampMs now);
    void note_member(MemberKey key, const std::string& client_host, TimestampMs born, std::span<const PartitionIndex> held,
                     TimestampMs now);
    void count_members(const ReaderFacts& facts);
    /// The time of the last look.
    TimestampMs looked_ = kNoTimestamp;

    /// By client id, group and connection.
    using SpeakerKey = std::tuple<std::string, std::string, ConnectionId>;
    std::map<SpeakerKey, Speaker> speakers_;
};

/// The owner of a connection's fetches, as far as it is known at one moment.
struct ReaderOwner {
    Attribution::Kind kind = Attribution::Kind::no_group;
    AttributionBasis basis = AttributionBasis::none;
    /// The groups in which it may read, ascending: exactly one for `member`. Empty for `one_of` means any group.
    std::vector<std::string> groups;
    /// The reader is a member of the one group in `groups`, though it may not be known which.
    bool is_of_one_group = false;
    /// It was never seen as a member of these groups. It asked or committed for them, as a consumer with assign() does.
    bool is_by_request = false;
    /// When the last of the members that it may be left its group; kNoTimestamp if one of them has not left.
    TimestampMs left = kNoTimestamp;
    /// More may be known soon: the broker is still looking for a process.
    bool may_change = false;
};

/// Answers for one moment; each answer is worked out once.
class ReaderOwners {
  public:
    /// The largest number of pairs of readers and members of one client id (and process) that are compared. With more, they are
    /// not told apart.
    static constexpr std::size_t kPairsMax = 4096;

    ReaderOwners(ReadingConnections& readings, const MemberHistory& members, const ConnectionDirectory& directory,
                 TimestampMs now);
    /// The owner of a connection that fetched. Any other connection is unknown: it may belong to any member or to none.
    [[nodiscard]] const ReaderOwner& of(ConnectionId connection);
    /// True if the connection reads in no group, and if nothing can come to light that would change its client.
    [[nodiscard]] bool is_outside(ConnectionId connection);
    /// See ReadingConnections.
    [[nodiscard]] std::optional<ReadingClient> client_of(ConnectionId connection) const {
        return readings_.client_of(connection);
    }
    /// When the connection first fetched. Call this only for a connection that did.
    [[nodiscard]] TimestampMs first_fetch_of(ConnectionId connection) const { return readings_.first_fetch_of(connection); }
    [[nodiscard]] TimestampMs born_of(ConnectionId connection) const { return readings_.born_of(connection); }

  private:
    struct Crowd {
        std::vector<ConnectionId> ids;
        std::vector<ReadingConnection> readers;
        std::vector<bool> is_open;
        std::vector<GroupMember> members;
        /// By reader, once a caller asked: it is one of the members, though perhaps nobody knows which.
        std::optional<std::vector<bool>> are_members;
    };
    const Crowd& crowd_of(const std::string& client_id);
    /// The crowd of the connection's client id is known.
    [[nodiscard]] bool is_a_member(ConnectionId connection);
    [[nodiscard]] ReaderOwner work_out(ConnectionId connection, Reading& reading);

    ReadingConnections& readings_;
    const MemberHistory& members_;
    const ConnectionDirectory& directory_;
    TimestampMs now_;
    std::map<std::string, std::vector<ConnectionId>, std::less<>> by_client_id_;
    std::map<std::string, Crowd, std::less<>> crowds_;
    std::map<ConnectionId, ReaderOwner> known_;
};

}  // namespace partita::insight
