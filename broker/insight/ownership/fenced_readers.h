#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/history/group_history.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/identity/member_connections.h"
#include "protocol/types.h"

/// Who goes on reading what was taken from it. A fetch names no group, so that is a conclusion: from the connection by which it
/// comes to the client behind it, and from there to the member. Pure; one caller at a time.
///
/// It must never be wrong, and rather says nothing: about a client that another one could be, about one that is a member again,
/// and about a single fetch, which may have been under way when the partition went to another member.
namespace partita::insight {

/// A partition that can be read.
struct ReadPlace {
    TopicId topic_id;
    std::int32_t partition = 0;

    friend auto operator<=>(const ReadPlace&, const ReadPlace&) = default;
};

/// Fetches of one partition over one connection.
struct SeenRead {
    ReadPlace place;
    insight::ConnectionId connection;
    std::uint64_t fetches = 0;
    /// Of the first and of the last of them.
    Offset from;
    Offset to;
    TimestampMs first = kNoTimestamp;
    TimestampMs last = kNoTimestamp;
};

/// Notes the fetches of places that somebody suspects, and no others.
class ReadNotes {
  public:
    /// Pairs of a connection and a place between two `take`; what comes of others is not noted.
    static constexpr std::size_t kReadsMax = 256;

    void watch(std::span<const ReadPlace> places);
    void note(const ReadPlace& place, insight::ConnectionId connection, Offset from, TimestampMs now);
    [[nodiscard]] std::vector<SeenRead> take();

    /// A set of places in one word: a place that is not in it is not watched, one that is in it may be.
    [[nodiscard]] std::uint64_t mask() const { return mask_; }
    [[nodiscard]] static std::uint64_t mask_of(const ReadPlace& place);

  private:
    std::set<ReadPlace> watched_;
    std::uint64_t mask_ = 0;
    std::vector<SeenRead> reads_;
};

/// A member that was dropped, or whose place another one has, without having said that it leaves; and a partition of it that
/// another member has since.
struct Suspect {
    std::string group;
    std::string member_id;
    std::string client_id;
    std::string client_host;
    std::string topic;
    ReadPlace place;
    /// When it ceased to be a member.
    TimestampMs gone = kNoTimestamp;
    std::string owner_id;
    /// Since when the owner has the partition.
    TimestampMs since = kNoTimestamp;
    /// The connection over which it spoke to its coordinator, as last seen open. Empty: never since it is suspected.
    std::optional<insight::ConnectionFacts> speaker;
    /// Of its fetches since then.
    std::uint64_t fetches = 0;
    /// The takeover, or what it read last.
    TimestampMs last_sign = kNoTimestamp;
    /// A history said in this round that it is still so.
    bool is_confirmed = false;
};

/// What is known of connections at the moment.
struct Witnesses {
    /// All open connections of the suspect's client id that are known; see `kPeersMax`.
    std::span<const insight::SpeakingConnection> peers;
    /// False: there are connections of which nothing is known.
    bool are_complete = true;
    /// The connection over which the partition's owner speaks to the coordinator.
    std::optional<insight::ConnectionFacts> owner;
    /// True of one who is a member of a group now.
    std::function<bool(const insight::SpokenFor&)> is_member;
};

/// True when the fetches are surely the suspect's.
[[nodiscard]] bool is_surely_of(const SeenRead& read, const Suspect& suspect, const Witnesses& witnesses);

class FencedReaders {
  public:
    /// Partitions of members that are suspected at a time. Further ones are not.
    static constexpr std::size_t kSuspectsMax = 64;
    /// Nobody is suspected for longer than this after the takeover, or after what it read last.
    static constexpr std::int64_t kSpellMs = insight::GroupHistory::kLateSpellMs;
    /// With more connections of one client id nothing is said.
    static constexpr std::size_t kPeersMax = 64;
    /// The first fetch may have been sent before the partition was taken over; who sends another one has the answer to that.
    static constexpr std::uint64_t kFetchesMin = 2;

    /// A round goes once through all histories: between these two calls `look` is called with each.
    void begin_round();
    void look(std::string_view group, const insight::GroupHistory& history, TimestampMs now);
    void end_round(TimestampMs now);

    [[nodiscard]] std::vector<Suspect>& suspects() { return suspects_; }
    [[nodiscard]] bool has_suspects() const { return !suspects_.empty(); }
    /// The places of all suspects whose connection to the coordinator is known.
    [[nodiscard]] std::vector<ReadPlace> places() const;

    /// Counts the fetches, which are surely the suspect's. What its history is to be told; empty while there are too few of them.
    [[nodiscard]] static std::optional<insight::LateReading> count(Suspect& suspect, const SeenRead& read);

  private:
    void confirm(Suspect& suspect, const insight::GroupHistory& history);

    std::vector<Suspect> suspects_;
};

}  // namespace partita::insight
