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

/// How a group with members changes its kind (KIP-848): to a consumer group when the first member comes that speaks its protocol,
/// and back when the last of them goes. Its offsets stay.
class GroupMigration {
  public:
    GroupMigration(GroupTable& table, const GroupEnvironment& environment, Rebalances& rebalances, ConsumerSteps& steps)
        : table_(table), environment_(environment), rebalances_(rebalances), steps_(steps) {}

    /// Why a group of another kind cannot become a consumer group.
    [[nodiscard]] std::optional<Refusal> refuse_upgrade(const Group& group) const;
    /// The classic group ends, and references to its kind are void. Its members are those of a consumer group of that name, which
    /// does not exist yet if there are none.
    void upgrade(Group& group, Now now, Effects& effects);
    /// Without these members, all others speak the classic protocol and the group may become a classic one.
    [[nodiscard]] bool can_downgrade(const ConsumerGroup& group, std::span<const ConsumerMember* const> without) const;
    /// The consumer group ends, and references to it are void. The others go on in a classic group, which rebalances if asked to.
    void downgrade(const ConsumerGroup& group, std::span<const ConsumerMember* const> without, bool rebalance, Now now,
                   Effects& effects);

  private:
    GroupTable& table_;
    const GroupEnvironment& environment_;
    Rebalances& rebalances_;
    ConsumerSteps& steps_;
};

}  // namespace partita::groups
