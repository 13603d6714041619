#pragma once

#include <cstdint>
#include <string_view>

#include "broker/groups/cluster_view.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/member_assignment.h"
#include "broker/insight/history/group_history.h"
#include "protocol/types.h"

namespace partita::groups {

/// Reports the holders of partitions to a history. Leaves out topics that the cluster does not know, and partitions that the
/// topics do not have: clients compute assignments, and another program may have written a log's records.
class HistoryTeller {
  public:
    HistoryTeller(insight::GroupHistory& history, const ClusterView& cluster) : history_(history), cluster_(cluster) {}

    /// The member's assignment in Kafka's consumer protocol.
    void tell_classic(std::string_view member_id, Bytes assignment, TimestampMs since, std::int32_t generation);
    void tell(std::string_view member_id, const OwnedAssignment& assignment, TimestampMs since);
    /// The partitions that the member has given up.
    void tell_release(std::string_view member_id, const OwnedAssignment& before, const MemberProgress& after, TimestampMs now);

  private:
    insight::GroupHistory& history_;
    const ClusterView& cluster_;
    Holdings holdings_;
};

}  // namespace partita::groups
