#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "broker/groups/classic_rules.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_expiry.h"
#include "broker/groups/group_kind.h"
#include "broker/groups/group_offsets.h"
#include "broker/groups/group_queries.h"
#include "broker/groups/group_table.h"
#include "broker/groups/replies.h"
#include "protocol/assert.h"

namespace partita::groups {

/// The parts from which the rules of a kind are built.
struct KindParts {
    GroupTable& table;
    const GroupEnvironment& environment;
    /// For groups that change to or from the classic kind.
    ClassicRules& classic;
};

template <class Part, class Command>
concept Decides = requires(Part& part, const Command& command, Now now, Effects& effects) { part.decide(command, now, effects); };

/// The parts of a coordinator for classic groups and these other kinds. The class passes each command and timer to its part. Each
/// part may use the parts above it:
///
///     GroupTable       the groups, and their change by records; HistoryNotes
///     ClassicRules     classic groups: Rebalances (between two generations), ClassicMembership (members' requests)
///     Others           other kinds. ConsumerRules: ConsumerSteps (the steps of their change), GroupMigration (from one kind
///                      to the other), ConsumerMembership (heartbeats of KIP-848), ConsumerClassicMembers (classic members)
///     GroupOffsets     commits, fetches, offsets given by expansions
///     GroupExpiry      unused offsets and groups
///     GroupQueries     lists, readers of a topic
///
/// A request of the classic protocol names a group, and goes to the rules of the group's kind. Every other command has one part
/// that decides it: the one with a `decide` for its type.
template <GroupRules... Others>
class GroupCore {
  public:
    explicit GroupCore(const GroupConfig& config) : environment{.config = config, .cluster = no_cluster()} {}

    template <class Command>
    void decide(const Command& command, Now now, Effects& effects) {
        table.notes().begin_call(now.wall, environment.cluster);
        if constexpr (requires { by_kind(command, now, effects); }) {
            by_kind(command, now, effects);
        } else {
            by_part(command, now, effects);
        }
        table.notes().end_call(table);
    }
    /// Called after the replay of the log.
    void loaded(Now now, Effects& effects);
    void tick(Now now, Effects& effects);
    void fail_waiting(ErrorCode error, Effects& effects);

    bool is_loaded = false;
    GroupEnvironment environment;
    GroupTable table;
    ClassicRules classic{table, environment};
    std::tuple<Others...> others{parts_for<Others>()...};
    GroupOffsets offsets{table, environment};
    GroupExpiry expiry{table, environment};
    GroupQueries queries{table, environment};

  private:
    template <class Rules>
    [[nodiscard]] KindParts parts_for() {
        return {table, environment, classic};
    }

    void by_kind(const JoinGroup& command, Now now, Effects& effects);
    void by_kind(const SyncGroup& command, Now now, Effects& effects);
    void by_kind(const Heartbeat& command, Now now, Effects& effects);
    void by_kind(const LeaveGroup& command, Now now, Effects& effects);

    template <class Command>
    void by_part(const Command& command, Now now, Effects& effects) {
        static_assert((Decides<ClassicRules, Command> + ... + Decides<Others, Command>)+Decides<GroupOffsets, Command> +
                              Decides<GroupExpiry, Command> + Decides<GroupQueries, Command> ==
                          1,
                      "one part decides a command");
        const auto offer = [&](auto& part) {
            if constexpr (Decides<decltype(part), Command>) {
                part.decide(command, now, effects);
            }
        };
        offer(classic);
        std::apply([&](auto&... rules) { (offer(rules), ...); }, others);
        offer(offsets);
        offer(expiry);
        offer(queries);
    }

    /// Calls `visit(rules, group)` with the rules of the group's kind, and the group as one of that kind.
    template <class Visit>
    void visit_rules(Group& group, Visit visit) {
        bool is_visited = false;
        const auto offer = [&](auto& rules) {
            using Kind = typename std::remove_reference_t<decltype(rules)>::Kind;
            if (is_visited) {
                return;
            }
            if (Kind* known = group.as<Kind>()) {
                is_visited = true;
                visit(rules, *known);
            }
        };
        offer(classic);
        std::apply([&](auto&... rules) { (offer(rules), ...); }, others);
        PARTITA_ASSERT(is_visited, "every group is of one of the coordinator's kinds");
    }
};

template <GroupRules... Others>
void GroupCore<Others...>::by_kind(const JoinGroup& command, Now now, Effects& effects) {
    if (const ErrorCode fault = classic.membership.find_fault(command); fault != ErrorCode::none) {
        reply(effects, command.reply_to, join_error(fault, command.member_id));
    } else if (Group* group = table.find(command.group_id)) {
        visit_rules(*group, [&](auto& rules, auto& kind) { rules.join(command, kind, now, effects); });
    } else {
        classic.membership.join(command, now, effects);
    }
}

template <GroupRules... Others>
void GroupCore<Others...>::by_kind(const SyncGroup& command, Now now, Effects& effects) {
    Group* group = table.find(command.group_id);
    if (command.group_id.empty()) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::invalid_group_id});
    } else if (group == nullptr || group->has_no_members()) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::unknown_member_id});
    } else {
        visit_rules(*group, [&](auto& rules, auto& kind) { rules.sync(command, kind, now, effects); });
    }
}

template <GroupRules... Others>
void GroupCore<Others...>::by_kind(const Heartbeat& command, Now now, Effects& effects) {
    HeartbeatResult result;
    Group* group = table.find(command.group_id);
    if (command.group_id.empty()) {
        result.error = ErrorCode::invalid_group_id;
    } else if (group == nullptr) {
        result.error = ErrorCode::unknown_member_id;
    } else {
        visit_rules(*group, [&](auto& rules, auto& kind) { result.error = rules.heartbeat(command, kind, now); });
    }
    reply(effects, command.reply_to, std::move(result));
}

template <GroupRules... Others>
void GroupCore<Others...>::by_kind(const LeaveGroup& command, Now now, Effects& effects) {
    Group* group = table.find(command.group_id);
    if (command.group_id.empty()) {
        reply(effects, command.reply_to, LeaveResult{.error = ErrorCode::invalid_group_id});
    } else if (group == nullptr) {
        classic.membership.leave(command, nullptr, now, effects);
    } else {
        visit_rules(*group, [&](auto& rules, auto& kind) { rules.leave(command, kind, now, effects); });
    }
}

template <GroupRules... Others>
void GroupCore<Others...>::loaded(Now now, Effects& effects) {
    PARTITA_ASSERT(!is_loaded, "a coordinator is loaded once");
    is_loaded = true;
    table.notes().begin_call(now.wall, environment.cluster);
    for (Group* group : table.in_order()) {
        visit_rules(*group, [&](auto& rules, auto& kind) { rules.loaded(kind, now, effects); });
    }
    expiry.schedule(now);
    table.notes().end_call(table);
}

template <GroupRules... Others>
void GroupCore<Others...>::tick(Now now, Effects& effects) {
    table.notes().begin_call(now.wall, environment.cluster);
    while (Timer* due = table.timers().pop_due(now.monotonic)) {
        // The handler may destroy the timer, its member and its group, so do not touch them afterwards.
        if (due->group == nullptr) {
            expiry.timer_over(now, effects);
        } else {
            visit_rules(*due->group, [&](auto& rules, auto& kind) { rules.timer_over(*due, kind, now, effects); });
        }
    }
    table.notes().end_call(table);
}

template <GroupRules... Others>
void GroupCore<Others...>::fail_waiting(ErrorCode error, Effects& effects) {
    for (Group* group : table.in_order()) {
        visit_rules(*group, [&](auto& rules, auto& kind) { rules.fail_waiting(kind, error, effects); });
    }
}

}  // namespace partita::groups
