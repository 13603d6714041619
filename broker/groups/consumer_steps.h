#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/assignors/assignment.h"
#include "broker/groups/cluster_view.h"
#include "broker/groups/consumer_group.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "protocol/error_code.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

namespace partita::groups {

/// The reason for refusing a request.
struct [[nodiscard]] Refusal {
    ErrorCode error = ErrorCode::none;
    std::string message;
};

/// The steps by which consumer groups change, for members of both protocols. Each step creates records of the differences.
class ConsumerSteps {
  public:
    ConsumerSteps(GroupTable& table, const GroupEnvironment& environment) : table_(table), environment_(environment) {}

    // Members

    /// Transfers a static member's place to `member_id`.
    const ConsumerMember& take_place(std::string_view member_id, const ConsumerMember& previous, const ConsumerGroup& group,
                                     Effects& effects);
    /// Persists the member's subscription if it has changed. An unknown member joins by this, and may create the group. Returns
    /// true if the member's topic names changed.
    bool update_subscription(std::string_view group_id, std::string_view member_id, MemberSubscription subscription,
                             Effects& effects);
    void remove_member(const ConsumerGroup& group, std::string_view member_id, Effects& effects);
    void restart_session(const ConsumerGroup& group, const ConsumerMember& member, Now now);
    /// After a start every member gets a whole session, and a whole rebalance timeout for the partitions that it has to give up.
    void loaded(const ConsumerGroup& group, Now now);

    // Assignment

    /// Raises the group epoch if `bump` is set, or if the metadata of the group's topics has changed.
    void update_group_epoch(const ConsumerGroup& group, bool bump, Effects& effects);
    /// Asks the assignor if the group epoch has risen since the last answer, and that answer is old enough.
    void update_target_assignment(const ConsumerGroup& group, Now now, Effects& effects);
    /// Moves the member one step towards its target. `owned`: the partitions that the member reports.
    void lead_on(const ConsumerGroup& group, const ConsumerMember& member, bool subscription_changed,
                 const std::optional<std::span<const assignors::TopicPartitions>>& owned, Now now, Effects& effects);
    /// The hash of the group's subscribed topics in their present state.
    [[nodiscard]] std::int64_t compute_metadata_hash(const ConsumerGroup& group);

    // Expressions

    struct RegexUpdate {
        bool changed = false;
        /// The new expression's topics are known, so the group can get a new assignment at once.
        bool is_resolved = false;
        /// The coordinator has to resolve all the group's expressions after the reply.
        bool resolve = false;
    };
    [[nodiscard]] static std::optional<Refusal> refuse_regex(std::string_view before, std::string_view after,
                                                             const ConsumerGroup* group);
    [[nodiscard]] RegexUpdate update_regex(const ConsumerGroup& group, const std::string& before, const std::string& after,
                                           Now now, Effects& effects);
    void resolve_group_regexes(const ConsumerGroup& group, const TopicFilter* may_describe, Now now, Effects& effects);
    void forget_unused_regex(const ConsumerGroup& group, const std::string& regex, Effects& effects);

  private:
    void compute_target_assignment(const ConsumerGroup& group, Now now, Effects& effects);

    GroupTable& table_;
    const GroupEnvironment& environment_;
    /// Hashes of subscribed topics, for this version of the cluster.
    TextMap<std::int64_t> topic_hashes_;
    std::int64_t topic_hashes_version_ = -1;
};

}  // namespace partita::groups
