#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "protocol/types.h"

/// Hazards of groups that follow from what their members hold and what they have committed, whatever requests they
/// send. Pure. The work is linear in the partitions that groups have committed and hold.
namespace partita::insight {

/// H03, live: a group reads a partition that an expansion added, and still has records from before that expansion to
/// read in the older partitions. Of several expansions, the newest one counts of whose partitions the group holds or
/// has committed one. Ends when the group has committed up to the cut in each older partition.
void find_backlogs(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings);

/// H04 of producers that have switched or are gone: what they placed by the old count is not read by every group. While a group
/// has such a record before it, it can be given newer ones of the same key first. Ends when every group that commits there is
/// beyond them, or when they are gone.
void find_stale_leftovers(const std::string& topic, const ReaderFacts& facts, LookTime& time, std::vector<Finding>& findings);

/// H30: an offset that the expansion gave to a group still stands. Ends when the group has committed over all such
/// offsets, or when they were taken back.
void find_seeds(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings);

/// H22: a group has members with partitions of the topic, and none of them has a new partition that holds records. Remembers
/// which groups had all of them, for partitions change hands in every rebalance. One caller at a time.
class BlindGroups {
  public:
    /// A group has so long to take new partitions before it is called blind: two heartbeats of a KIP-848 group. It begins with
    /// the growth, and again when it is first seen without partitions that it had.
    static constexpr std::int64_t kBlindMs = 10'000;

    void find(const std::string& topic, const ReaderFacts& facts, LookTime& time, std::vector<Finding>& findings);

  private:
    /// Of a group that had every new partition at a look.
    struct Complete {
        /// The topic's count at that look.
        std::int32_t count = 0;
        /// Since when it is seen without some of those; kNoTimestamp when it has them.
        TimestampMs lost = kNoTimestamp;
    };
    /// What follows for the group from what it has now. Null when it never had all.
    const Complete* note(const std::string& group, const std::vector<bool>& held, std::int32_t first_new, TimestampMs now);

    std::map<std::string, Complete, std::less<>> complete_;
};

}  // namespace partita::insight
