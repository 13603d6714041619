#include <algorithm>
#include <limits>
#include <utility>

#include "broker/groups/limits.h"
#include "broker/groups/rebalances.h"
#include "broker/groups/replies.h"
#include "protocol/assert.h"

namespace partita::groups {

void Rebalances::loaded(ClassicGroup& group, Now now, Effects& effects) {
    for (const auto& [order, member] : group.members()) {
        restart_session(*member, now);
    }
    if (std::cmp_greater(group.size(), config_.max_size.value)) {
        // The limit was lowered. Rejoining decides which members stay, and lets all of them commit before.
        prepare_rebalance(group, now, effects);
    }
}

void Rebalances::timer_over(const ClassicTimer& timer, ClassicGroup& group, Now now, Effects& effects) {
    switch (timer.kind) {
        case ClassicTimerKind::session:
            session_over(group, *timer.member, now, effects);
            return;
        case ClassicTimerKind::pending_member:
            pending_member_over(group, timer.pending->id, now, effects);
            return;
        case ClassicTimerKind::initial_join:
            initial_delay_over(group, now, effects);
            return;
        case ClassicTimerKind::join:
            complete_join(group, now, effects);
            return;
        case ClassicTimerKind::sync:
            sync_overdue(group, now, effects);
            return;
    }
}

void Rebalances::fail_waiting(ClassicGroup& group, ErrorCode error, Effects& effects) {
    for (const auto& [order, member] : group.members()) {
        answer_join(group, *member, {.error = error, .member_id = member->id}, effects);
        answer_sync(*member, {.error = error}, effects);
    }
}

void Rebalances::rebalance_or_complete(ClassicGroup& group, Now now, Effects& effects) {
    if (group.is(GroupState::preparing_rebalance)) {
        maybe_complete_join(group, now, effects);
    } else {
        prepare_rebalance(group, now, effects);
    }
}

void Rebalances::prepare_rebalance(ClassicGroup& group, Now now, Effects& effects) {
    if (group.is(GroupState::completing_rebalance)) {
        reset_assignments(group, ErrorCode::rebalance_in_progress, now, effects);
    }
    for (const auto& [order, member] : group.members()) {
        member->owes_sync = false;
    }
    group.owed_syncs = 0;
    group.sync_timer.cancel();

    const bool is_initial = group.is(GroupState::empty);
    group.transition_to(GroupState::preparing_rebalance, now.wall);
    if (is_initial) {
        // The first member of a group is rarely its last: a short wait saves a rebalance for each other one.
        group.new_member_added = false;
        group.initial_delay_ms = initial_delay_ms();
        const bool is_asked_for = config_.initial_rebalance_delay_ms >= kShortestInitialDelayMs;
        const std::int32_t most_ms =
            is_asked_for ? group.rebalance_timeout_ms() : std::min(group.rebalance_timeout_ms(), kUnaskedInitialDelayMaxMs);
        group.initial_remaining_ms = std::max(most_ms - group.initial_delay_ms, 0);
        table_.timers().schedule(group.initial_join_timer, now.monotonic + group.initial_delay_ms);
    } else if (group.all_joined()) {
        complete_join(group, now, effects);
    } else {
        table_.timers().schedule(group.join_timer, now.monotonic + std::max(group.rebalance_timeout_ms(), 1));
    }
}

std::int32_t Rebalances::initial_delay_ms() const {
    return std::max<std::int32_t>(config_.initial_rebalance_delay_ms, kShortestInitialDelayMs);
}

void Rebalances::maybe_complete_join(ClassicGroup& group, Now now, Effects& effects) {
    if (group.is(GroupState::preparing_rebalance) && group.previous_state() != GroupState::empty && group.all_joined()) {
        complete_join(group, now, effects);
    }
}

void Rebalances::initial_delay_over(ClassicGroup& group, Now now, Effects& effects) {
    // During the wait that no setting asks for, also expect clients that were given an id (KIP-394) and are about to return with
    // it. Kafka does not wait for these; here they are the ones that start beside the first.
    const bool is_asked_for = config_.initial_rebalance_delay_ms >= kShortestInitialDelayMs;
    const bool more_come = group.new_member_added || (!is_asked_for && !group.pending.empty());
    if (!more_come || group.initial_remaining_ms == 0) {
        complete_join(group, now, effects);
        return;
    }
    group.new_member_added = false;
    const std::int32_t delay_ms = std::min(initial_delay_ms(), group.initial_remaining_ms);
    group.initial_remaining_ms = std::max(group.initial_remaining_ms - group.initial_delay_ms, 0);
    group.initial_delay_ms = delay_ms;
    table_.timers().schedule(group.initial_join_timer, now.monotonic + std::max(delay_ms, 1));
}

void Rebalances::complete_join(ClassicGroup& group, Now now, Effects& effects) {
    PARTITA_ASSERT(group.is(GroupState::preparing_rebalance), "only a rebalance can be completed");
    group.initial_join_timer.cancel();
    group.join_timer.cancel();

    // Dynamic members that did not return are removed. Static ones stay until their session ends: they may be restarting
    // (KIP-345).
    for (auto next = group.members().begin(); next != group.members().end();) {
        Member& member = *(next++)->second;
        if (!member.waiting_join && !member.is_static()) {
            table_.notes().note(group.group(), RebalanceCause::did_not_rejoin, names_of(member));
            remove_member(group, member, ErrorCode::unknown_member_id, effects);
        }
    }
    if (group.size() > 0 && !group.elect_joined_leader()) {
        // Only static members are left and none of them rejoined: their sessions decide.
        table_.timers().schedule(group.join_timer, now.monotonic + std::max(group.rebalance_timeout_ms(), kMinRebalanceRetryMs));
        return;
    }
    const std::int32_t next = group.generation == std::numeric_limits<std::int32_t>::max() ? 0 : group.generation + 1;
    if (group.size() == 0) {
        GroupMetadataRecord record = record_of(group, effects.arena);
        record.generation = {next};
        record.protocol.reset();
        record.current_state_timestamp = now.wall;
        table_.change(std::move(record), effects);
        return;
    }
    group.generation = next;
    group.protocol = group.select_protocol();
    group.update_topics();
    group.transition_to(GroupState::completing_rebalance, now.wall);
    effects.replies.reserve(effects.replies.size() + group.size());
    for (const auto& [order, member] : group.members()) {
        if (member->waiting_join) {
            answer_join(group, *member, current_generation(group, *member), effects);
        }
        restart_session(*member, now);
        member->is_new = false;
        member->owes_sync = true;
    }
    group.owed_syncs = static_cast<std::int32_t>(group.size());
    table_.timers().schedule(group.sync_timer, now.monotonic + std::max(group.rebalance_timeout_ms(), 1));
}

JoinResult Rebalances::current_generation(const ClassicGroup& group, const Member& member) {
    JoinResult result{.generation = {group.generation},
                      .protocol_type = group.protocol_type,
                      .protocol_name = group.protocol,
                      .leader = group.leader == nullptr ? std::string() : group.leader->id,
                      .member_id = member.id};
    if (group.leader == &member) {
        result.members.reserve(group.size());
        for (const auto& [order, other] : group.members()) {
            const OwnedBytes* metadata = group.protocol ? other->metadata(*group.protocol) : nullptr;
            result.members.push_back({other->id, other->instance_id, metadata ? *metadata : OwnedBytes()});
        }
    }
    return result;
}

void Rebalances::answer_join(ClassicGroup& group, Member& member, JoinResult result, Effects& effects) {
    if (member.waiting_join) {
        reply(effects, *std::exchange(member.waiting_join, std::nullopt), std::move(result));
        --group.waiting_joins;
    }
}

void Rebalances::answer_sync(Member& member, SyncResult result, Effects& effects) {
    if (member.waiting_sync) {
        reply(effects, *std::exchange(member.waiting_sync, std::nullopt), std::move(result));
    }
}

void Rebalances::remove_member(ClassicGroup& group, Member& member, ErrorCode error, Effects& effects) {
    // The empty id makes the client join anew, as if it never had one.
    answer_join(group, member, {.error = error}, effects);
    answer_sync(member, {.error = error}, effects);
    group.remove(member.id);
}

void Rebalances::reset_assignments(ClassicGroup& group, ErrorCode error, Now now, Effects& effects) {
    group.withdraw_assignments();
    for (const auto& [order, member] : group.members()) {
        if (member->waiting_sync) {
            answer_sync(*member, {.error = error}, effects);
            restart_session(*member, now);
        }
    }
}

/// Drop members that got a generation but did not ask for their assignment, after the rebalance timeout (KAFKA-12463). They would
/// keep their partitions without working on them, because their heartbeats may go on.
void Rebalances::sync_overdue(ClassicGroup& group, Now now, Effects& effects) {
    if (group.owed_syncs == 0) {
        return;
    }
    for (auto next = group.members().begin(); next != group.members().end();) {
        Member& member = *(next++)->second;
        if (member.owes_sync) {
            table_.notes().note(group.group(), RebalanceCause::did_not_sync, names_of(member));
            remove_member(group, member, ErrorCode::unknown_member_id, effects);
        }
    }
    prepare_rebalance(group, now, effects);
}

void Rebalances::session_over(ClassicGroup& group, Member& member, Now now, Effects& effects) {
    // A member that waits for an answer cannot send heartbeats; the answer restarts the session. A new member has only its first
    // JoinGroup and may have gone long ago (kNewMemberJoinTimeoutMs).
    if (!member.is_new && (member.waiting_join || member.waiting_sync)) {
        return;
    }
    table_.notes().note(group.group(), RebalanceCause::session_expired, names_of(member));
    remove_member(group, member, ErrorCode::unknown_member_id, effects);
    if (group.is(GroupState::stable) || group.is(GroupState::completing_rebalance)) {
        prepare_rebalance(group, now, effects);
    } else if (group.is(GroupState::preparing_rebalance) && group.all_joined()) {
        complete_join(group, now, effects);
    }
}

void Rebalances::pending_member_over(ClassicGroup& group, std::string_view member_id, Now now, Effects& effects) {
    group.remove(member_id);
    if (group.is(GroupState::preparing_rebalance) && group.all_joined()) {
        complete_join(group, now, effects);
    }
}

}  // namespace partita::groups
