#pragma once

#include <optional>
#include <span>

#include "broker/groups/consumer_steps.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/rebalances.h"
#include "protocol/types.h"

namespace partita::groups {

/// Changes the kind of a group with members (KIP-848): to a consumer group when its first member of that protocol joins, and back
/// when the last one goes. Offsets stay.
class GroupMigration {
  public:
    GroupMigration(GroupTable& table, const GroupEnvironment& environment, Rebalances& rebalances, ConsumerSteps& steps)
        : table_(table), environment_(environment), rebalances_(rebalances), steps_(steps) {}

    /// Why a group of another kind cannot become a consumer group.
    [[nodiscard]] std::optional<Refusal> refuse_upgrade(const Group& group) const;
    /// Ends the classic group and invalidates references to its kind. Its members move to a consumer group of the same name;
    /// without members that group does not exist yet.
    void upgrade(Group& group, Now now, Effects& effects);
    /// True if without these members all others use the classic protocol, and the group may become a classic one.
    [[nodiscard]] bool can_downgrade(const ConsumerGroup& group, std::span<const ConsumerMember* const> without) const;
    /// Ends the consumer group and invalidates references to it. The other members go on in a classic group, which rebalances if
    /// asked to.
    void downgrade(const ConsumerGroup& group, std::span<const ConsumerMember* const> without, bool rebalance, Now now,
                   Effects& effects);

  private:
    GroupTable& table_;
    const GroupEnvironment& environment_;
    Rebalances& rebalances_;
    ConsumerSteps& steps_;
};

}  // namespace partita::groups
