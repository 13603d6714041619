#pragma once

#include <cstdint>
#include <string_view>

#include "broker/groups/cluster_view.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/member_assignment.h"
#include "broker/insight/history/group_history.h"
#include "protocol/types.h"

namespace partita::groups {

/// Says who has what to a history. Topics that the cluster does not know, and partitions that they do not have, are left out:
/// leaders make assignments, and a log may hold records that no coordinator of ours has written.
class HistoryTeller {
  public:
    HistoryTeller(insight::GroupHistory& history, const ClusterView& cluster) : history_(history), cluster_(cluster) {}

    /// What the member was assigned in Kafka's consumer protocol.
    void tell_classic(std::string_view member_id, Bytes assignment, TimestampMs since, std::int32_t generation);
    void tell(std::string_view member_id, const OwnedAssignment& assignment, TimestampMs since);
    /// What the member had and has no more.
    void tell_release(std::string_view member_id, const OwnedAssignment& before, const MemberProgress& after, TimestampMs now);

  private:
    insight::GroupHistory& history_;
    const ClusterView& cluster_;
    Holdings holdings_;
};

}  // namespace partita::groups
