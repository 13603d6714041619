#pragma once

#include <cstdint>

#include "broker/groups/classic_group.h"
#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "protocol/types.h"

namespace partita::groups {

/// Rebalances of classic groups, and the timeouts of their members. All of it is volatile except its end: this class seals a
/// group without members as empty, and the leader's SyncGroup seals a group with members.
class Rebalances {
  public:
    Rebalances(GroupTable& table, const GroupEnvironment& environment) : table_(table), config_(environment.config) {}

    /// After a start every member gets a whole session.
    void loaded(ClassicGroup& group, Now now, Effects& effects);
    /// Handles a due timer of the group. It may destroy the timer, its member and its group.
    void timer_over(const ClassicTimer& timer, ClassicGroup& group, Now now, Effects& effects);
    /// Answers all waiting requests with the error.
    void fail_waiting(ClassicGroup& group, ErrorCode error, Effects& effects);

    /// Starts a rebalance. The generation stays the same until the join phase completes, so that members may still commit their
    /// work in it.
    void prepare_rebalance(ClassicGroup& group, Now now, Effects& effects);
    /// Completes a rebalance, unless it is an initial one, once all members have joined.
    void maybe_complete_join(ClassicGroup& group, Now now, Effects& effects);
    /// The member joined anew, which starts a rebalance, or may complete the current one.
    void rebalance_or_complete(ClassicGroup& group, Now now, Effects& effects);

    void restart_session(Member& member, Now now) {
        table_.timers().schedule(member.session_timer, now.monotonic + member.session_timeout_ms);
    }
    [[nodiscard]] static JoinResult current_generation(const ClassicGroup& group, const Member& member);
    // Answers the member's JoinGroup, if it waits for an answer.
    void answer_join(ClassicGroup& group, Member& member, JoinResult result, Effects& effects);
    void answer_sync(Member& member, SyncResult result, Effects& effects);
    /// Answers the member's waiting requests with `error` and removes the member.
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
