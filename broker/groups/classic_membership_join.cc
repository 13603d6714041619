#include <string>
#include <utility>

#include "broker/groups/classic_membership.h"
#include "broker/groups/limits.h"
#include "broker/groups/replies.h"
#include "protocol/assert.h"

namespace partita::groups {

namespace {

/// The names in a refused request.
MemberNames said_by(const JoinGroup& command) {
    return {command.member_id, command.group_instance_id, command.client_id, command.client_host};
}

}  // namespace

ErrorCode ClassicMembership::find_fault(const JoinGroup& command) const {
    if (command.group_id.empty()) {
        return ErrorCode::invalid_group_id;
    }
    if (command.session_timeout_ms < config_.min_session_timeout_ms ||
        command.session_timeout_ms > config_.max_session_timeout_ms) {
        return ErrorCode::invalid_session_timeout;
    }
    return command.protocols.size() > kMaxProtocolsPerMember ? ErrorCode::invalid_request : ErrorCode::none;
}

void ClassicMembership::join(const JoinGroup& command, Now now, Effects& effects) {
    const bool without_id = command.member_id.empty();
    Group* group = table_.find(command.group_id);
    ClassicGroup* classic = group == nullptr ? nullptr : group->as<ClassicGroup>();
    if (classic == nullptr && !without_id) {
        reply(effects, command.reply_to, join_error(ErrorCode::unknown_member_id, command.member_id));
        return;
    }
    if (classic == nullptr) {
        // Kafka stores a group at the first join request, so it is listed from then on. A group of another kind becomes a classic
        // one.
        if (group != nullptr) {
            group->kind().end(table_, effects);
        }
        table_.change(GroupMetadataRecord{.group_id = effects.arena.copy(command.group_id), .current_state_timestamp = now.wall},
                      effects);
        classic = table_.find_as<ClassicGroup>(command.group_id);
    }
    if (!accepts(*classic, command.member_id)) {
        if (Member* member = classic->find(command.member_id)) {
            table_.notes().note(classic->group(), RebalanceCause::left_out, names_of(*member));
            rebalances_.remove_member(*classic, *member, ErrorCode::group_max_size_reached, effects);
        } else {
            classic->remove(command.member_id);
        }
        reply(effects, command.reply_to, join_error(ErrorCode::group_max_size_reached, ""));
        rebalances_.maybe_complete_join(*classic, now, effects);
    } else if (!classic->supports(command.protocol_type, command.protocols)) {
        reply(effects, command.reply_to, join_error(ErrorCode::inconsistent_group_protocol, command.member_id));
    } else if (without_id) {
        join_new_member(command, *classic, now, effects);
    } else {
        join_known_member(command, *classic, now, effects);
    }
}

/// During a rebalance the limit counts waiting members, not all members. So the last ones to rejoin drop out of a group that
/// exceeds a lowered limit.
bool ClassicMembership::accepts(const ClassicGroup& group, std::string_view member_id) const {
    switch (group.state()) {
        case GroupState::empty:
        case GroupState::dead:
            return true;
        case GroupState::preparing_rebalance: {
            const Member* member = group.find(member_id);
            return (member != nullptr && member->waiting_join) || group.waiting_joins < config_.max_size;
        }
        case GroupState::completing_rebalance:
        case GroupState::stable:
            return group.find(member_id) != nullptr || std::cmp_less(group.size(), config_.max_size.value);
    }
    return false;
}

void ClassicMembership::join_new_member(const JoinGroup& command, ClassicGroup& group, Now now, Effects& effects) {
    const std::string_view prefix = command.group_instance_id.value_or(command.client_id);
    std::string member_id;
    member_id.reserve(prefix.size() + 1 + command.fresh_member_suffix.size());
    member_id.append(prefix).append("-").append(command.fresh_member_suffix);
    if (member_id.size() > kMaxTextBytes) {
        reply(effects, command.reply_to, join_error(ErrorCode::invalid_request, ""));
        return;
    }
    PARTITA_ASSERT(group.find(member_id) == nullptr && !group.pending.contains(member_id),
                   "the caller's suffixes make member ids unique");

    if (command.group_instance_id) {
        if (Member* member = group.find_static(*command.group_instance_id)) {
            replace_static_member(command, *member, member_id, group, now, effects);
        } else {
            add_member(command, member_id, group, now, effects);
        }
        return;
    }
    if (command.api_version < kJoinVersionRequiringMemberId) {
        add_member(command, member_id, group, now, effects);
        return;
    }
    if (group.pending.size() >= kMaxPendingMembers) {
        reply(effects, command.reply_to, join_error(ErrorCode::group_max_size_reached, ""));
        return;
    }
    // KIP-394: the client must know its id before it becomes a member. Otherwise each retry of a JoinGroup with a lost answer
    // would leave a dead member behind.
    auto& pending = group.pending.emplace(member_id, std::make_unique<PendingMember>(group.group(), member_id)).first->second;
    table_.timers().schedule(pending->timer, now.monotonic + command.session_timeout_ms);
    reply(effects, command.reply_to, join_error(ErrorCode::member_id_required, member_id));
}

void ClassicMembership::join_known_member(const JoinGroup& command, ClassicGroup& group, Now now, Effects& effects) {
    if (group.pending.contains(command.member_id)) {
        if (command.group_instance_id) {
            // Only dynamic members get pending ids; Kafka fails with an exception here.
            reply(effects, command.reply_to, join_error(ErrorCode::unknown_server_error, command.member_id));
            return;
        }
        add_member(command, command.member_id, group, now, effects);
        return;
    }
    if (const ErrorCode error = group.validate(command.member_id, command.group_instance_id); error != ErrorCode::none) {
        if (error == ErrorCode::fenced_instance_id) {
            table_.notes().note(group.group(), RebalanceCause::fenced, said_by(command));
        }
        // A step of a rebalance, like a sync; it carries no generation.
        table_.notes().note_late(group.group(), command.member_id, LateRequest::sync, GroupHistory::kNoClaim, error);
        reply(effects, command.reply_to, join_error(error, command.member_id));
        return;
    }
    Member& member = *group.find(command.member_id);
    const bool unchanged = member.has_protocols(command.protocols);
    // A member that returns unchanged after the join phase missed its answer. Only the leader of a Stable group means more: it
    // knows something that the coordinator does not (new partitions of a topic) and wants to assign anew.
    const bool answer_now =
        unchanged && (group.is(GroupState::completing_rebalance) || (group.is(GroupState::stable) && group.leader != &member));
    if (answer_now) {
        reply(effects, command.reply_to, Rebalances::current_generation(group, member));
        return;
    }
    PARTITA_ASSERT(!group.is(GroupState::empty), "an empty group has no members");
    if (!group.is(GroupState::preparing_rebalance)) {
        table_.notes().note(group.group(), unchanged ? RebalanceCause::rejoined : RebalanceCause::subscription_changed,
                            names_of(member));
    }
    update_member(command, group, member, effects);
    rebalances_.rebalance_or_complete(group, now, effects);
}

void ClassicMembership::add_member(const JoinGroup& command, std::string_view member_id, ClassicGroup& group, Now now,
                                   Effects& effects) {
    if (group.is(GroupState::preparing_rebalance) && group.previous_state() == GroupState::empty) {
        group.new_member_added = true;
    }
    Member& member = group.add(member_id, command.group_instance_id, command.protocol_type, owned(command.protocols));
    member.client_id = command.client_id;
    member.client_host = command.client_host;
    member.rebalance_timeout_ms = command.rebalance_timeout_ms;
    member.session_timeout_ms = command.session_timeout_ms;
    member.is_new = true;
    member.waiting_join = command.reply_to;
    ++group.waiting_joins;
    table_.notes().note(group.group(), RebalanceCause::joined, names_of(member));
    table_.notes().note_arrival(group.group(), names_of(member));
    table_.timers().schedule(member.session_timer, now.monotonic + kNewMemberJoinTimeoutMs);
    rebalances_.rebalance_or_complete(group, now, effects);
}

void ClassicMembership::update_member(const JoinGroup& command, ClassicGroup& group, Member& member, Effects& effects) {
    // A second JoinGroup replaces the member's first one, whose sender no longer waits. (Kafka forgets the first; this broker
    // answers every request.)
    rebalances_.answer_join(group, member, join_error(ErrorCode::rebalance_in_progress, member.id), effects);
    group.set_protocols(member, command.protocols);
    member.rebalance_timeout_ms = command.rebalance_timeout_ms;
    member.session_timeout_ms = command.session_timeout_ms;
    member.waiting_join = command.reply_to;
    ++group.waiting_joins;
    table_.notes().note_arrival(group.group(), names_of(member));
}

/// KIP-345: a restarted static member has lost its id and sends only its instance id. It takes over the membership under a new
/// id; the coordinator fences clients that still use the old one.
void ClassicMembership::replace_static_member(const JoinGroup& command, Member& member, std::string_view new_member_id,
                                              ClassicGroup& group, Now now, Effects& effects) {
    rebalances_.answer_join(group, member, join_error(ErrorCode::fenced_instance_id, member.id), effects);
    rebalances_.answer_sync(member, {.error = ErrorCode::fenced_instance_id}, effects);
    const std::string previous_leader = group.leader == nullptr ? std::string() : group.leader->id;
    const std::string previous_id = member.id;
    group.rename(member, new_member_id);
    // As in Kafka, the group still shows the first client. The history distinguishes processes, and two may share an instance id.
    MemberNames names = names_of(member);
    names.client_id = command.client_id;
    names.client_host = command.client_host;
    table_.notes().note(group.group(), RebalanceCause::restarted, names, previous_id);
    member.is_new = false;
    rebalances_.restart_session(member, now);
    update_member(command, group, member, effects);

    switch (group.state()) {
        case GroupState::stable:
            if (group.protocol == group.select_protocol()) {
                keep_generation_of_static_member(command, member, previous_leader, group, effects);
            } else {
                rebalances_.prepare_rebalance(group, now, effects);
            }
            return;
        case GroupState::completing_rebalance:
            // The leader may be computing an assignment for the old id, which would leave the new id without one.
            rebalances_.prepare_rebalance(group, now, effects);
            return;
        case GroupState::preparing_rebalance:
            rebalances_.maybe_complete_join(group, now, effects);
            return;
        case GroupState::empty:
        case GroupState::dead:
            break;
    }
    PARTITA_ASSERT(false, "a group with a static member is not empty");
}

void ClassicMembership::keep_generation_of_static_member(const JoinGroup& command, Member& member,
                                                         const std::string& previous_leader, ClassicGroup& group,
                                                         Effects& effects) {
    table_.change(record_of(group, effects.arena), effects);
    JoinResult result = Rebalances::current_generation(group, member);
    if (command.api_version >= kJoinVersionSkippingAssignment) {
        result.skip_assignment = group.leader == &member;
    } else {
        // An older client that finds itself leader would send an assignment. Name the leader's id from before the restart, so
        // that the client takes itself for a follower.
        result.leader = previous_leader;
        result.members.clear();
    }
    rebalances_.answer_join(group, member, std::move(result), effects);
}

}  // namespace partita::groups
