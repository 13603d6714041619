#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"
#include "broker/insight/readers/skip_table.h"

/// What groups do in new partitions where they have no committed offset: H20 and H21. Pure; one caller at a time.
///
/// Three requests make a reset: OffsetFetch names the group and answers that it has no offset, ListOffsets answers an
/// offset, and a Fetch begins there. The first comes over another connection than the other two, which do not name the
/// group; `ReaderOwners` ties them together.
namespace partita::insight {

class AutoResets {
  public:
    static constexpr std::size_t kAsksMax = 4096;
    static constexpr std::size_t kListingsMax = 4096;
    static constexpr std::size_t kStartsMax = 4096;
    /// Places for starts that skip nothing. A start without a place counts as a beginning of every group that it can be of, so
    /// that none is told to have skipped what it may have read.
    static constexpr std::size_t kPlainStartsMax = kStartsMax / 2;
    static constexpr std::size_t kSkipsMax = 4096;
    /// Places, each a group and a partition, of which it is kept where the group began. When there are more, nothing is told of
    /// the skips of those that have no place: they may have begun earlier.
    static constexpr std::size_t kBeginningsMax = 4096;
    /// Places of which it is kept where the group began last. When there are more, the delivery to those that have no place is
    /// undecided.
    static constexpr std::size_t kLastStartsMax = 4096;
    /// Connections that went back behind a skip since the last look. A further one may be anybody's, so that nobody is told
    /// any more to have skipped what it reads.
    static constexpr std::size_t kReturnsMax = 4096;
    /// Groups that asked where to begin. When there are more, H21 is not told any more.
    static constexpr std::size_t kResettingMax = 4096;
    /// A client that was told that its group has no offset begins to read within this time, or does not begin because
    /// of that answer.
    static constexpr std::int64_t kBeginMs = 60'000;
    /// A start is tied to a group by elimination, or to several groups, only after kJudgeMs, so that other connections
    /// that could be the member's had time to show. While evidence may still change, the decision waits for up to
    /// kEvidenceMs.
    static constexpr std::int64_t kJudgeMs = 2'000;
    static constexpr std::int64_t kEvidenceMs = 10'000;
    /// A client that asked for offsets, got none, and has not read the partition for this long is not going to.
    static constexpr std::int64_t kNoneCrashMs = 10'000;
    /// Members of a group that come, find no offset and leave this many times look as if they had to leave.
    static constexpr int kCrashesMin = 2;

    /// OffsetFetch answered `committed` for a partition that an expansion added; kNoOffset when the group has none.
    /// `is_member`: whoever asked speaks for a member, and is not just looking.
    void on_offset_fetch(std::string_view group, ConnectionId speaker, bool is_member, const ClientIdentity& client,
                         PartitionIndex partition, Offset committed, TimestampMs now);
    /// The topic grew, adding the partitions from `first_partition` on; `readers` are the groups that read it then.
    void on_growth(std::int32_t first_partition, const std::set<std::string>& readers);
    /// A member of the group leaves; `speaker` is the connection over which it spoke for itself.
    void on_leave(std::string_view group, ConnectionId speaker, const ClientIdentity& client);
    /// ListOffsets answered `answered`, or kNoOffset when no record is that young. `timestamp` is the one in the
    /// request: -1 for the latest offset, -2 for the earliest, or a time.
    void on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// `is_first`: the connection had not fetched the partition before.
    void on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from, bool is_first,
                  TimestampMs now);
    void on_commit(const std::string& group, PartitionIndex partition, Offset offset);

    /// Ties what was noted to groups, as far as possible by now.
    void settle(const ReaderFacts& facts, GroupIndex& groups, ReaderOwners& owners, TimestampMs now);
    /// H20: OffsetFetch answered "none", ListOffsets answered o > 0, and the client fetched from o on. So the group
    /// never read the o records before it, less those that retention had removed. Exact when one group is proven to
    /// have skipped them; when it may have been one of several groups, a finding of severity warn says so. Ends when a
    /// member of the group goes back, or when the records are gone.
    void find_skips(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings) const;
    /// H21: members of a group found no offset, again and again, and left without asking where to begin.
    void find_crashes(const std::string& topic, LookTime& time, std::vector<Finding>& findings) const;

    /// Whether a group that committed for the first time in a new partition, and beyond a record, was given that.
    enum class Delivery : std::uint8_t {
        /// Nothing says otherwise.
        given,
        /// It began behind the record, if maybe not the first time: who read it then, if anybody did, committed nothing.
        skipped,
        /// It, or somebody else, did; who that was is not known yet, or never will be.
        undecided,
    };
    [[nodiscard]] Delivery delivery_of(const std::string& group, PartitionIndex partition, Offset offset) const;

    [[nodiscard]] bool is_undecided() const {
        return !returns_.empty() || std::ranges::any_of(starts_, [](const Start& start) { return !start.is_ambiguous; });
    }
    void forget_group(const std::string& group);
    void add_groups_told(std::set<std::string>& groups) const;

  private:
    /// A client that asked for a group's offset and got none.
    struct Ask {
        TimestampMs asked = kNoTimestamp;
        /// The connection that asked last.
        ConnectionId speaker;
        bool is_member = false;
        /// The client left, or a look since then found neither it nor anybody with the partition in the group.
        bool is_gone = false;
        /// How often the client was found gone.
        int crashes = 0;

        void goes() {
            crashes += is_gone ? 0 : 1;
            is_gone = true;
        }
    };
    using AskKey = std::tuple<ClientIdentity, PartitionIndex, std::string>;
    /// An offset that ListOffsets answered to such a client.
    struct Listing {
        Offset offset;
        ResetWay way = ResetWay::latest;
    };
    static constexpr std::size_t kListingsPerClientMax = 8;
    /// A connection began to read a partition while groups of its client had no offset.
    struct Start {
        ConnectionId connection;
        ClientIdentity client;
        PartitionIndex partition;
        Offset from;
        ResetWay way = ResetWay::latest;
        /// ListOffsets had told the client this offset, so what lies before it is skipped. False: it is only known that
        /// reading began there.
        bool skips = false;
        TimestampMs time;
        /// Groups of this client that have no offset there and did not commit behind `from`.
        std::vector<std::string> groups;
        /// Those of them that came after the growth, as far as that was looked at: they skip nothing (H20).
        std::vector<std::string> newcomers;
        /// The reader belongs to one of `groups` or to none, and no more evidence is to come.
        bool is_ambiguous = false;
    };
    /// A connection reads what somebody skipped, or seems to skip.
    struct Return {
        ConnectionId connection;
        PartitionIndex partition;
        Offset from;
        TimestampMs time;
    };

    /// Another connection seems to skip what this one reads from there.
    [[nodiscard]] bool is_behind_a_start(ConnectionId connection, PartitionIndex partition, Offset from) const;
    void settle_starts(const ReaderFacts& facts, ReaderOwners& owners, TimestampMs now);
    /// False when the start is still open.
    [[nodiscard]] bool settle_start(Start& start, const ReaderFacts& facts, ReaderOwners& owners, TimestampMs now);
    void settle_start_of(const std::string& group, const Start& start);
    /// Somebody who may be the same went back behind the start soon after it, and who that is will be known soon.
    [[nodiscard]] bool may_have_gone_back(const Start& start, ReaderOwners& owners, TimestampMs now) const;
    /// The group, or one of several that it is among, began there.
    void note_beginning(const std::string& group, PartitionIndex partition, Offset from);
    void note_last_start(const std::string& group, PartitionIndex partition, Offset from);
    /// Whether the group may have begun at `from`, or before.
    [[nodiscard]] bool may_have_begun_at(const std::string& group, PartitionIndex partition, Offset from) const;
    /// Somebody, and it will not be known who, reads the partition from there.
    void forget_behind(PartitionIndex partition, Offset from);
    /// A member of the group asked where to begin.
    void note_resetting(const std::string& group);
    /// A member of the group reads, or will read, from `offset`.
    void group_goes_to(const std::string& group, PartitionIndex partition, Offset offset);
    [[nodiscard]] bool settle_return(const Return& back, ReaderOwners& owners, TimestampMs now);
    void settle_asks(GroupIndex& groups, TimestampMs now);
    void note_grown_groups(const ReaderFacts& facts);
    [[nodiscard]] bool read_before(const std::string& group, PartitionIndex partition) const;
    void find_ambiguous_skips(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings) const;

    std::map<AskKey, Ask> asks_;
    /// The newest answers for each client and partition.
    std::map<std::pair<ClientIdentity, PartitionIndex>, std::vector<Listing>> listings_;
    std::vector<Start> starts_;
    /// The lowest offset that a group committed in a partition since the last look.
    std::map<std::pair<PartitionIndex, std::string>, Offset> commits_;
    std::vector<Return> returns_;
    SkipTable skips_{kSkipsMax};
    /// The lowest offset at which the group is known to have begun: only what lies before it was certainly skipped.
    std::map<std::pair<PartitionIndex, std::string>, Offset> lowest_;
    /// One had no place in `lowest_`.
    bool is_beginning_lost_ = false;
    /// The highest offset at which the group is known to have begun, also when it came after the growth.
    std::map<std::pair<PartitionIndex, std::string>, Offset> last_starts_;
    /// One had no place in `last_starts_`.
    bool is_last_start_lost_ = false;
    /// Groups of which a member may have asked where to begin: their policy is not "none".
    std::set<std::string> resetting_;
    /// One had no place in `resetting_`.
    bool is_resetting_lost_ = false;

    static constexpr std::size_t kGrowthsMax = 16;
    static constexpr std::size_t kGrownGroupsMax = 65'536;
    /// For each growth, by the first partition that it added: the groups that read the topic then. For a further one,
    /// the oldest is forgotten.
    std::map<std::int32_t, std::set<std::string>> grown_;
};

}  // namespace partita::insight
