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

/// Why a request is refused.
struct [[nodiscard]] Refusal {
    ErrorCode error = ErrorCode::none;
    std::string message;
};

/// The steps in which consumer groups change, whichever protocol their members speak. Each makes records of what differs.
class ConsumerSteps {
  public:
    ConsumerSteps(GroupTable& table, const GroupEnvironment& environment) : table_(table), environment_(environment) {}

    // Members

    /// The place that the same static member had before goes over to `member_id`.
    const ConsumerMember& take_place(std::string_view member_id, const ConsumerMember& previous, const ConsumerGroup& group,
                                     Effects& effects);
    /// Persists what the member says of itself, when that has changed; a member that is not there joins by it, and may make
    /// the group. True when its topic names changed.
    bool update_subscription(std::string_view group_id, std::string_view member_id, MemberSubscription subscription,
                             Effects& effects);
    void remove_member(const ConsumerGroup& group, std::string_view member_id, Effects& effects);
    void restart_session(const ConsumerGroup& group, const ConsumerMember& member, Now now);
    /// After a start everybody has a whole session, and a whole rebalance timeout for what it has to give up.
    void loaded(const ConsumerGroup& group, Now now);

    // Assignment

    /// Lifts the group epoch when `bump` is set, or when the metadata of the group's topics has changed.
    void update_group_epoch(const ConsumerGroup& group, bool bump, Effects& effects);
    /// Asks the assignor, if the group epoch was lifted since and the last answer is old enough.
    void update_target_assignment(const ConsumerGroup& group, Now now, Effects& effects);
    /// Leads the member one step towards its target. `owned`: what the member says that it has.
    void lead_on(const ConsumerGroup& group, const ConsumerMember& member, bool subscription_changed,
                 const std::optional<std::span<const assignors::TopicPartitions>>& owned, Now now, Effects& effects);
    /// The hash of the topics that the group subscribes to, as they are now.
    [[nodiscard]] std::int64_t compute_metadata_hash(const ConsumerGroup& group);

    // Expressions

    struct RegexUpdate {
        bool changed = false;
        /// The new expression's topics are known, so the group can be assigned anew at once.
        bool is_resolved = false;
        /// The topics of all the group's expressions shall be resolved, after the reply.
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
    /// Hashes of topics that groups are subscribed to, for this version of the cluster.
    TextMap<std::int64_t> topic_hashes_;
    std::int64_t topic_hashes_version_ = -1;
};

}  // namespace partita::groups
