#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/findings/record_count.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "protocol/types.h"

/// Hazards of groups that follow from the partitions and the commits of their members, independent of their requests. Pure. The
/// work is linear in the partitions that groups have committed and hold.
namespace partita::insight {

class OrderWatch;

/// The lowest offset that the connections of a group asked for in a partition since the last growth, as far as that is known: by
/// group and partition.
using FirstReads = std::map<std::string, std::map<PartitionIndex, Offset>, std::less<>>;

/// The records from before the last growth that a group has yet to read.
struct UnreadOfGrowth {
    const GroupFacts* group = nullptr;
    /// Where the group goes on, by old partition.
    std::vector<Offset> positions;
    RecordCount records;
    std::int64_t partitions = 0;
    /// It holds a partition that the growth added, or has committed in one.
    bool reads_new = false;
};

/// The groups with something from before the last growth to read. In a partition without a commit a group goes on where it was
/// first seen to read. Otherwise it goes on at the log start if it is one of `readers`, the groups that read the topic at the
/// growth; where another group begins is not known yet. Without `readers`, the groups with a commit are those.
[[nodiscard]] std::vector<UnreadOfGrowth> unread_of_growth(const ReaderFacts& facts, const FirstReads& first_reads,
                                                           const std::optional<std::set<std::string>>& readers);

/// H03, live: a group has records from before the last growth to read whose keys moved. Begins with the growth, and ends when the
/// group has committed beyond them.
void find_backlogs(const std::string& topic, const ReaderFacts& facts, const std::vector<UnreadOfGrowth>& unread,
                   const OrderWatch& order, std::vector<Finding>& findings);

/// H04 of producers that have switched or are gone: the records that these producers placed by the old count lie in the wrong
/// partitions. That is harm, which ends when the records are gone. Until a group has read such a record, it may get newer ones of
/// the same key first, so the finding names the groups that commit there and have not passed these records.
void find_stale_leftovers(const std::string& topic, const ReaderFacts& facts, LookTime& time, std::vector<Finding>& findings);

/// H30: an offset that the expansion gave to a group still stands. Ends when the group has committed over all such offsets, or
/// when the broker has taken them back.
void find_seeds(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings);

/// H22: a group has members with partitions of the topic, and none of them has a new partition that holds records. Remembers
/// which groups had all of them, because partitions change hands in every rebalance. One caller at a time.
class BlindGroups {
  public:
    /// A group has this long to take new partitions before it is called blind: two heartbeats of a KIP-848 group. The time begins
    /// with the growth, and again when a look first shows it without partitions that it had.
    static constexpr std::int64_t kBlindMs = 10'000;

    void find(const std::string& topic, const ReaderFacts& facts, LookTime& time, std::vector<Finding>& findings);

  private:
    /// A group that had every new partition at a look.
    struct Complete {
        /// The topic's count at that look.
        std::int32_t count = 0;
        /// Since when looks show the group without some of those; kNoTimestamp if it has them.
        TimestampMs lost = kNoTimestamp;
    };
    /// Notes what the group has now. Returns its entry; null if it never had all new partitions.
    const Complete* note(const std::string& group, const std::vector<bool>& held, std::int32_t first_new, TimestampMs now);

    std::map<std::string, Complete, std::less<>> complete_;
};

}  // namespace partita::insight
