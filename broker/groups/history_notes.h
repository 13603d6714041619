#pragma once

#include <optional>
#include <string_view>

#include "broker/groups/cluster_view.h"
#include "broker/insight/history/group_history.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::groups {

// Groups report events to the history and learn nothing from it.
using insight::GroupHistories;
using insight::GroupHistory;
using insight::GroupPhase;
using insight::LateReading;
using insight::LateRequest;
using insight::MemberNames;
using insight::RebalanceCause;

struct Group;
class GroupTable;

/// A coordinator's reports to the histories of its groups (`insight/history/group_history.h`). They are not part of the state,
/// and no record contains them.
class HistoryNotes {
  public:
    /// Called before each call of the coordinator, with its time and cluster.
    void begin_call(TimestampMs now, const ClusterPointer& cluster) {
        moment_ = now;
        cluster_ = cluster.get();
    }
    /// Called after it: updates the histories of the groups with reports.
    void end_call(const GroupTable& table) {
        if (histories_.has_news()) {
            settle(table);
        }
    }
    [[nodiscard]] TimestampMs moment() const { return moment_; }
    /// Only within a call.
    [[nodiscard]] const ClusterView& cluster() const { return *cluster_; }

    /// Reports an event of the member (none: of the group); see GroupHistory::note.
    void note(const Group& group, RebalanceCause cause, const std::optional<MemberNames>& member = std::nullopt,
              std::string_view replaces = {});
    void note_arrival(const Group& group, const MemberNames& member);
    /// Reports a refused request if `error` means that the member's claim has ended. Otherwise returns null.
    GroupHistory* note_late(const Group& group, std::string_view member_id, LateRequest request, std::int32_t claim,
                            ErrorCode error);
    /// See GroupHistory::note_late_reading. Does nothing for a group without a history.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id, LateReading seen);
    void forget_topic(const TopicId& topic_id) { histories_.forget_topic(topic_id); }

    /// The group's history, for reports about this call. `end_call` completes it.
    [[nodiscard]] GroupHistory& history_of(const Group& group);
    /// For frequent reports that are not news about the group. Null if the group has no members and no history, or if enough
    /// histories of groups with events exist.
    [[nodiscard]] GroupHistory* history_for_commits(const Group& group);
    /// The history of the group; it may contain no more than the present holders.
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
