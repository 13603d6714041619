#pragma once

#include <optional>
#include <string>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_core.h"
#include "broker/groups/share_group.h"

namespace partita::groups {

/// The rules of share groups (KIP-932), as Kafka 4.3.1 has them. Everything is answered at once.
///
/// A share group's partitions must be known to the share coordinator before members get them. A heartbeat that finds new ones
/// names them in its answer; after the share coordinator has begun their state, ShareInitialized makes them assignable. Members
/// then get them with later heartbeats.
class ShareRules {
  public:
    using Kind = ShareGroup;

    explicit ShareRules(const KindParts& parts) : table_(parts.table), environment_(parts.environment) {}

    // Requests of the classic protocol find nothing in a share group.

    void join(const JoinGroup& command, ShareGroup& group, Now now, Effects& effects);
    void sync(const SyncGroup& command, ShareGroup& group, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat(const Heartbeat&, ShareGroup&, Now) { return ErrorCode::unknown_member_id; }
    void leave(const LeaveGroup& command, ShareGroup& group, Now now, Effects& effects);

    /// After a start every member gets a whole session.
    void loaded(ShareGroup& group, Now now, Effects& effects);
    /// A member was silent for too long.
    void timer_over(const Timer& timer, ShareGroup& group, Now now, Effects& effects);
    void fail_waiting(ShareGroup&, ErrorCode, Effects&) {}

    // share_membership.cc
    void decide(const ShareGroupHeartbeat& command, Now now, Effects& effects);

    // share_rules.cc
    void decide(const ShareGroupDescribe& command, Now now, Effects& effects);

    // share_partitions.cc
    void decide(const ShareInitialized& command, Now now, Effects& effects);
    void decide(const ShareGroupPartitions& command, Now now, Effects& effects);
    void decide(const AlterShareOffsets& command, Now now, Effects& effects);
    void decide(const DeleteShareOffsets& command, Now now, Effects& effects);
    void decide(const ShareDeleted& command, Now now, Effects& effects);

  private:
    struct Refusal {
        ErrorCode error = ErrorCode::none;
        std::string message;
    };

    [[nodiscard]] static std::optional<Refusal> find_fault(const ShareGroupHeartbeat& command);
    [[nodiscard]] std::optional<Refusal> refuse_heartbeat(const ShareGroupHeartbeat& command) const;
    void leave_group(const ShareGroupHeartbeat& command, Effects& effects);
    /// Returns true if the member names other topics than before.
    [[nodiscard]] bool update_subscription(const ShareGroupHeartbeat& command, Effects& effects);
    /// Returns true if the group epoch has risen.
    [[nodiscard]] bool update_group_epoch(const ShareGroup& group, bool bump, Effects& effects);
    void update_target_assignment(const ShareGroup& group, Now now, Effects& effects);
    void lead_on(const ShareGroup& group, const ShareMember& member, bool bumped, Effects& effects);
    void restart_session(const ShareGroup& group, const ShareMember& member, Now now);
    void remove_member(const ShareGroup& group, const ShareMember& member, Effects& effects);
    [[nodiscard]] std::int64_t compute_metadata_hash(const ShareGroup& group) const;
    [[nodiscard]] std::vector<TopicId> subscribed_ids(const ShareMember& member) const;

    /// The partitions that the share coordinator must begin; notes them in the group.
    [[nodiscard]] assignors::Assignment begin_partitions(const ShareGroup& group, Now now, Effects& effects);
    void change_partitions(std::string_view group_id, SharedPartitions partitions, Effects& effects);

    GroupTable& table_;
    const GroupEnvironment& environment_;
};

}  // namespace partita::groups
