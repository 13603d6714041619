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

/// Follows what groups do in new partitions where they have no committed offset: H20 and H21. Pure; one caller at a time.
///
/// Three requests make a reset. OffsetFetch names the group and answers that it has no offset, ListOffsets answers an offset, and
/// a Fetch begins there. The first comes over another connection than the other two, which do not name the group;
/// `ReaderOwners` ties them together.
namespace partita::insight {

class AutoResets {
  public:
    static constexpr std::size_t kAsksMax = 4096;
    static constexpr std::size_t kListingsMax = 4096;
    static constexpr std::size_t kStartsMax = 4096;
    /// Most starts that are kept although they skip nothing. A start without room counts as a beginning of every group to which
    /// it may belong. So no finding says that a group skipped records that it may have read.
    static constexpr std::size_t kPlainStartsMax = kStartsMax / 2;
    static constexpr std::size_t kSkipsMax = 4096;
    /// Most pairs of a group and a partition whose beginning is kept. Pairs without room get no finding about skips, because they
    /// may have begun earlier.
    static constexpr std::size_t kBeginningsMax = 4096;
    /// Most pairs whose last beginning is kept. For pairs without room, the delivery is undecided.
    static constexpr std::size_t kLastStartsMax = 4096;
    /// Most connections that went back behind a skip since the last look. A further one may belong to any group, so no finding
    /// says any more that a group skipped what it reads.
    static constexpr std::size_t kReturnsMax = 4096;
    /// Most groups that asked where to begin. With more, H21 is not reported any more.
    static constexpr std::size_t kResettingMax = 4096;
    /// A client that learned that its group has no offset begins to read within this time. If it begins later, that answer is not
    /// the reason.
    static constexpr std::int64_t kBeginMs = 60'000;
    /// A start is tied to a group by elimination, or to several groups, only after kJudgeMs: other connections that could belong
    /// to the member then had time to show. While evidence may still change, the decision waits for up to kEvidenceMs.
    static constexpr std::int64_t kJudgeMs = 2'000;
    static constexpr std::int64_t kEvidenceMs = 10'000;
    /// A client that asked for offsets, got none, and has not read the partition for this long will not read it.
    static constexpr std::int64_t kNoneCrashMs = 10'000;
    /// Members that come, find no offset and leave this many times look as if they had to leave.
    static constexpr int kCrashesMin = 2;

    /// OffsetFetch answered `committed` for a partition that an expansion added; kNoOffset if the group has none. `is_member`:
    /// the client speaks for a member and is not just looking.
    void on_offset_fetch(std::string_view group, ConnectionId speaker, bool is_member, const ClientIdentity& client,
                         PartitionIndex partition, Offset committed, TimestampMs now);
    /// The topic grew by the partitions from `first_partition` on; `readers` are the groups that read it then.
    void on_growth(std::int32_t first_partition, const std::set<std::string>& readers);
    /// A member of the group leaves; `speaker` is the connection over which it spoke for itself.
    void on_leave(std::string_view group, ConnectionId speaker, const ClientIdentity& client);
    /// ListOffsets answered `answered`, or kNoOffset if no record is that young. `timestamp` is the one in the request: -1 for
    /// the latest offset, -2 for the earliest, or a time.
    void on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// `is_first`: the connection had not fetched the partition before.
    void on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from, bool is_first,
                  TimestampMs now);
    void on_commit(const std::string& group, PartitionIndex partition, Offset offset);

    /// Ties the noted requests to groups, as far as possible by now.
    void settle(const ReaderFacts& facts, GroupIndex& groups, ReaderOwners& owners, TimestampMs now);
    /// H20: OffsetFetch answered "none", ListOffsets answered o > 0, and the client fetched from o on. So the group never read
    /// the o records before it, less those that retention had removed. Exact if one group is proven to have skipped them. If it
    /// may have been one of several groups, a finding of severity warn says so. Ends when a member of the group goes back, or
    /// when the records are gone.
    void find_skips(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings) const;
    /// H21: members of a group repeatedly found no offset and left without asking where to begin.
    void find_crashes(const std::string& topic, LookTime& time, std::vector<Finding>& findings) const;

    /// Tells whether a group was given a record, if its first commit in a new partition lies beyond that record.
    enum class Delivery : std::uint8_t {
        /// No evidence to the contrary.
        given,
        /// The group began behind the record, though maybe not the first time. If a member read it then, that member committed
        /// nothing.
        skipped,
        /// Some client began behind it. It is not known yet, or never will be, whether that client belongs to the group.
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
        /// The client left. Or a look since then found neither the client nor another owner of the partition in the group.
        bool is_gone = false;
        /// How often a look found the client gone.
        int crashes = 0;
        /// When the visit began with which `crashes` came to kCrashesMin; later visits may follow at once.
        TimestampMs proven = kNoTimestamp;

        void goes() {
            crashes += is_gone ? 0 : 1;
            is_gone = true;
            if (crashes >= kCrashesMin && proven == kNoTimestamp) {
                proven = asked;
            }
        }
    };
    using AskKey = std::tuple<ClientIdentity, PartitionIndex, std::string>;
    /// An offset that ListOffsets answered to such a client.
    struct Listing {
        Offset offset;
        ResetWay way = ResetWay::latest;
    };
    static constexpr std::size_t kListingsPerClientMax = 8;
    /// A start: a connection began to read a partition while groups of its client had no offset.
    struct Start {
        ConnectionId connection;
        ClientIdentity client;
        PartitionIndex partition;
        Offset from;
        ResetWay way = ResetWay::latest;
        /// ListOffsets had told the client this offset, so it skipped the records before it. False: it is only known that reading
        /// began there.
        bool skips = false;
        TimestampMs time;
        /// Groups of this client that have no offset there and did not commit below `from`.
        std::vector<std::string> groups;
        /// Those groups that came after the growth, as far as a look has shown: they skip nothing (H20).
        std::vector<std::string> newcomers;
        /// The reader belongs to one of `groups` or to none, and no more evidence will come.
        bool is_ambiguous = false;
    };
    /// A return: a connection reads records that a group skipped, or seems to skip.
    struct Return {
        ConnectionId connection;
        PartitionIndex partition;
        Offset from;
        TimestampMs time;
    };

    /// True if another connection seems to skip what this one reads from there.
    [[nodiscard]] bool is_behind_a_start(ConnectionId connection, PartitionIndex partition, Offset from) const;
    void settle_starts(const ReaderFacts& facts, ReaderOwners& owners, TimestampMs now);
    /// False if the start is still open.
    [[nodiscard]] bool settle_start(Start& start, const ReaderFacts& facts, ReaderOwners& owners, TimestampMs now);
    void settle_start_of(const std::string& group, const Start& start);
    /// True if a client that may belong to the same group went back behind the start soon after it, and its group will be known
    /// soon.
    [[nodiscard]] bool may_have_gone_back(const Start& start, ReaderOwners& owners, TimestampMs now) const;
    /// Notes that the group, or one of several that include it, began there.
    void note_beginning(const std::string& group, PartitionIndex partition, Offset from);
    void note_last_start(const std::string& group, PartitionIndex partition, Offset from);
    /// True if the group may have begun at `from`, or before.
    [[nodiscard]] bool may_have_begun_at(const std::string& group, PartitionIndex partition, Offset from) const;
    /// Notes that a client reads the partition from there, and that its group will never be known.
    void forget_behind(PartitionIndex partition, Offset from);
    /// Notes that a member of the group asked where to begin.
    void note_resetting(const std::string& group);
    /// Notes that a member of the group reads, or will read, from `offset`.
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
    /// The lowest offset at which the group is known to have begun: only records before it were certainly skipped.
    std::map<std::pair<PartitionIndex, std::string>, Offset> lowest_;
    /// A pair had no room in `lowest_`.
    bool is_beginning_lost_ = false;
    /// The highest offset at which the group is known to have begun, even if it came after the growth.
    std::map<std::pair<PartitionIndex, std::string>, Offset> last_starts_;
    /// A pair had no room in `last_starts_`.
    bool is_last_start_lost_ = false;
    /// Groups of which a member may have asked where to begin: their policy is not "none".
    std::set<std::string> resetting_;
    /// A group had no room in `resetting_`.
    bool is_resetting_lost_ = false;

    static constexpr std::size_t kGrowthsMax = 16;
    static constexpr std::size_t kGrownGroupsMax = 65'536;
    /// For each growth, by the first partition that it added: the groups that read the topic then. A further growth replaces the
    /// oldest.
    std::map<std::int32_t, std::set<std::string>> grown_;
};

}  // namespace partita::insight
