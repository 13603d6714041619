#pragma once

#include <optional>
#include <string_view>

#include "broker/groups/cluster_view.h"
#include "broker/insight/history/group_history.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::groups {

// Groups tell the history what happens and are told nothing by it.
using insight::GroupHistories;
using insight::GroupHistory;
using insight::GroupPhase;
using insight::LateReading;
using insight::LateRequest;
using insight::MemberNames;
using insight::RebalanceCause;

struct Group;
class GroupTable;

/// What a coordinator tells the histories of its groups (`insight/history/group_history.h`). It is no part of the state, and no
/// record says it.
class HistoryNotes {
  public:
    /// Before each call of the coordinator: when it happens, and in which cluster.
    void begin_call(TimestampMs now, const ClusterPointer& cluster) {
        moment_ = now;
        cluster_ = cluster.get();
    }
    /// After it: what became of the groups that something was noted of.
    void end_call(const GroupTable& table) {
        if (histories_.has_news()) {
            settle(table);
        }
    }
    [[nodiscard]] TimestampMs moment() const { return moment_; }
    /// Only within a call.
    [[nodiscard]] const ClusterView& cluster() const { return *cluster_; }

    /// Something happened to the member (none: to the group); see GroupHistory::note.
    void note(const Group& group, RebalanceCause cause, const std::optional<MemberNames>& member = std::nullopt,
              std::string_view replaces = {});
    void note_arrival(const Group& group, const MemberNames& member);
    /// A request of the member was answered with `error`: noted, if that says that its claim is over. Null when it does not.
    GroupHistory* note_late(const Group& group, std::string_view member_id, LateRequest request, std::int32_t claim,
                            ErrorCode error);
    /// See GroupHistory::note_late_reading. Nothing happens when nothing is known of the group.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id, LateReading seen);
    void forget_topic(const TopicId& topic_id) { histories_.forget_topic(topic_id); }

    /// The group's history, to tell it something of this call. It is settled when the call is over.
    [[nodiscard]] GroupHistory& history_of(const Group& group);
    /// For what comes often and is no news of the group. Null when the group has no members and no history, and when there are
    /// histories enough of groups to which something happened.
    [[nodiscard]] GroupHistory* history_for_commits(const Group& group);
    /// What is known of the group, which may be no more than who has what.
    [[nodiscard]] GroupHistory history(const Group& group, const ClusterView& cluster) const;
    [[nodiscard]] const GroupHistories& histories() const { return histories_; }

  private:
    void settle(const GroupTable& table);

    GroupHistories histories_;
    TimestampMs moment_{0};
    /// Null before the first call.
    const ClusterView* cluster_ = nullptr;
};

}  // namespace partita::groups
