#pragma once

#include <cstdint>

#include "broker/groups/classic_group.h"
#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "protocol/types.h"

namespace partita::groups {

/// What happens to classic groups between two generations, and what time does to their members. All of it is volatile but its
/// end: a group that has nobody left is sealed as empty here, one with members is sealed by the leader's SyncGroup.
class Rebalances {
  public:
    Rebalances(GroupTable& table, const GroupEnvironment& environment) : table_(table), config_(environment.config) {}

    /// After a start everybody has a whole session.
    void loaded(ClassicGroup& group, Now now, Effects& effects);
    /// A timer of the group was due. It may be gone when this returns, with its member and its group.
    void timer_over(const ClassicTimer& timer, ClassicGroup& group, Now now, Effects& effects);
    /// Answers everybody who waits with the error.
    void fail_waiting(ClassicGroup& group, ErrorCode error, Effects& effects);

    /// The generation stays what it was until the join phase completes, so that members may still commit what they did in it.
    void prepare_rebalance(ClassicGroup& group, Now now, Effects& effects);
    /// Completes a rebalance that is not an initial one once everybody joined.
    void maybe_complete_join(ClassicGroup& group, Now now, Effects& effects);
    /// The member joined anew, which begins a rebalance, or may complete the one that is under way.
    void rebalance_or_complete(ClassicGroup& group, Now now, Effects& effects);

    void restart_session(Member& member, Now now) {
        table_.timers().schedule(member.session_timer, now.monotonic + member.session_timeout_ms);
    }
    [[nodiscard]] static JoinResult current_generation(const ClassicGroup& group, const Member& member);
    // Who does not wait gets no answer.
    void answer_join(ClassicGroup& group, Member& member, JoinResult result, Effects& effects);
    void answer_sync(Member& member, SyncResult result, Effects& effects);
    /// Answers what the member waits for with `error` and removes it.
    void remove_member(ClassicGroup& group, Member& member, ErrorCode error, Effects& effects);

  private:
    void complete_join(ClassicGroup& group, Now now, Effects& effects);
    /// How long the first rebalance of a group waits for more members.
    [[nodiscard]] std::int32_t initial_delay_ms() const;
    void reset_assignments(ClassicGroup& group, ErrorCode error, Now now, Effects& effects);
    void initial_delay_over(ClassicGroup& group, Now now, Effects& effects);
    void sync_overdue(ClassicGroup& group, Now now, Effects& effects);
    void session_over(ClassicGroup& group, Member& member, Now now, Effects& effects);
    void pending_member_over(ClassicGroup& group, std::string_view member_id, Now now, Effects& effects);

    GroupTable& table_;
    const GroupConfig& config_;
};

}  // namespace partita::groups
