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

/// Finds members that keep reading partitions that others took over. A fetch names no group, so this is a conclusion: from the
/// connection of a fetch to the client behind it, and from the client to the member. Pure; one caller at a time.
///
/// A conclusion must never be wrong, so in doubt this class stays silent. It says nothing about a client that could be another
/// one, or about one that is a member again. It also ignores a single fetch, which may have been under way during the takeover.
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
    /// The offsets of the first and of the last of them.
    Offset from;
    Offset to;
    TimestampMs first = kNoTimestamp;
    TimestampMs last = kNoTimestamp;
};

/// Notes the fetches of watched places only.
class ReadNotes {
  public:
    /// Most pairs of a connection and a place between two calls of `take`; further ones are not noted.
    static constexpr std::size_t kReadsMax = 256;

    void watch(std::span<const ReadPlace> places);
    void note(const ReadPlace& place, insight::ConnectionId connection, Offset from, TimestampMs now);
    [[nodiscard]] std::vector<SeenRead> take();

    /// A set of places in one word. A place outside the set is not watched; a place in the set may be.
    [[nodiscard]] std::uint64_t mask() const { return mask_; }
    [[nodiscard]] static std::uint64_t mask_of(const ReadPlace& place);

  private:
    std::set<ReadPlace> watched_;
    std::uint64_t mask_ = 0;
    std::vector<SeenRead> reads_;
};

/// A member that was dropped or replaced without saying that it leaves, and one of its partitions that another member has since.
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
    /// When the owner got the partition.
    TimestampMs since = kNoTimestamp;
    /// The connection over which the member spoke to its coordinator, as last seen open. Null: it was never seen open since the
    /// member became a suspect.
    std::optional<insight::ConnectionFacts> speaker;
    /// The number of its fetches since then.
    std::uint64_t fetches = 0;
    /// The time of the takeover, or of its last read.
    TimestampMs last_sign = kNoTimestamp;
    /// A history confirmed in this round that the suspicion still holds.
    bool is_confirmed = false;
};

/// The facts about connections at this moment.
struct Witnesses {
    /// All open connections with the suspect's client id that are known; see `kPeersMax`.
    std::span<const insight::SpeakingConnection> peers;
    /// False: there are connections that nothing is known of.
    bool are_complete = true;
    /// The connection over which the partition's owner speaks to the coordinator.
    std::optional<insight::ConnectionFacts> owner;
    /// True for a member of a group now.
    std::function<bool(const insight::SpokenFor&)> is_member;
};

/// True if the fetches are certainly the suspect's.
[[nodiscard]] bool is_surely_of(const SeenRead& read, const Suspect& suspect, const Witnesses& witnesses);

class FencedReaders {
  public:
    /// Most suspects at a time. Further ones are not followed.
    static constexpr std::size_t kSuspectsMax = 64;
    /// A suspicion lasts at most this long after the takeover, or after the suspect's last read.
    static constexpr std::int64_t kSpellMs = insight::GroupHistory::kLateSpellMs;
    /// With more connections of one client id, this class says nothing.
    static constexpr std::size_t kPeersMax = 64;
    /// The client may have sent the first fetch before the takeover. A client that sends another one has had the answer to the
    /// first.
    static constexpr std::uint64_t kFetchesMin = 2;

    /// A round goes once through all histories: the caller calls `look` with each, between these two calls.
    void begin_round();
    void look(std::string_view group, const insight::GroupHistory& history, TimestampMs now);
    void end_round(TimestampMs now);

    [[nodiscard]] std::vector<Suspect>& suspects() { return suspects_; }
    [[nodiscard]] bool has_suspects() const { return !suspects_.empty(); }
    /// The places of all suspects whose connection to the coordinator is known.
    [[nodiscard]] std::vector<ReadPlace> places() const;

    /// Counts the fetches, which are certainly the suspect's. Returns the reading for its history; null while there are too few
    /// fetches.
    [[nodiscard]] static std::optional<insight::LateReading> count(Suspect& suspect, const SeenRead& read);

  private:
    void confirm(Suspect& suspect, const insight::GroupHistory& history);

    std::vector<Suspect> suspects_;
};

}  // namespace partita::insight
