#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/assignors/assignment.h"
#include "broker/groups/group.h"
#include "broker/groups/group_kind.h"
#include "broker/groups/history_notes.h"
#include "broker/groups/records.h"
#include "broker/groups/share_subscription.h"
#include "broker/groups/timer_queue.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

/// State of a KIP-932 share group. Except for timers and two notes, it is durable: only `apply` of a record changes it.

namespace partita::groups {

struct ShareMember {
    ShareMember(Group& group, std::string_view member_id) : id(member_id), session_timer(&group) {}

    const std::string id;
    ShareSubscription subscription;
    std::int32_t epoch = 0;
    std::int32_t previous_epoch = 0;
    assignors::Assignment assigned;
    /// Unset until a target assignment includes the member.
    std::optional<assignors::Assignment> target;

    /// Volatile: holders of a const member may change only this.
    mutable Timer session_timer;
};

class ShareGroup final : public GroupKind {
  public:
    static constexpr GroupType kType = GroupType::share;

    ShareGroup(Group& group, TimestampMs /*since*/) : GroupKind(group, kType) {}

    // The only way to change the group; only `GroupTable` calls it. A record of an unknown member creates the member. A tombstone
    // of something unknown does nothing.

    void apply(const ShareGroupEpochRecord& record);
    void apply(const ShareMemberRecord& record);
    void apply(const ShareTargetEpochRecord& record);
    void apply(const ShareTargetRecord& record);
    void apply(const ShareCurrentRecord& record);
    void apply(const SharedPartitionsRecord& record);
    /// Returns true if this is the group itself, which then ends.
    [[nodiscard]] bool apply(const ShareGroupTombstone& record);

    [[nodiscard]] std::int32_t epoch() const { return epoch_; }
    [[nodiscard]] std::int64_t metadata_hash() const { return metadata_hash_; }
    [[nodiscard]] std::int32_t assignment_epoch() const { return assignment_epoch_; }
    /// When the target assignment was computed; 0 before the first time.
    [[nodiscard]] TimestampMs assignment_timestamp() const { return assignment_timestamp_; }
    [[nodiscard]] const SharedPartitions& shared() const { return shared_; }
    /// Ascending by id.
    [[nodiscard]] const std::map<std::string, ShareMember, std::less<>>& members() const { return members_; }
    /// Null for an unknown member.
    [[nodiscard]] const ShareMember* find(std::string_view member_id) const;
    /// The topics that members name, existing or not; ascending.
    [[nodiscard]] std::vector<std::string_view> subscribed_topics() const;
    /// True if the initialized partitions of the group's topics are not the assigned ones.
    [[nodiscard]] bool has_unassigned_partitions() const;

    // Questions to every kind

    [[nodiscard]] std::string_view state_text() const override { return empty() ? "Empty" : "Stable"; }
    [[nodiscard]] std::string_view protocol_type_text() const override { return "share"; }
    [[nodiscard]] std::string_view assignor() const override { return {}; }
    [[nodiscard]] std::size_t size() const override { return members_.size(); }
    [[nodiscard]] bool empty() const override { return members_.empty(); }
    [[nodiscard]] bool has_member(std::string_view member_id) const override { return find(member_id) != nullptr; }
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view member_id,
                                                            const ClusterView& cluster) const override;
    [[nodiscard]] bool is_subscribed_to(std::string_view topic) const override { return topic_names_.contains(topic); }
    [[nodiscard]] bool knows_subscriptions() const override { return true; }
    /// None: its members have no positions in a topic that others could miss or read twice.
    void list_topics(ReaderListing&) const override {}
    void tell_readers(ReaderCollector&) const override {}
    /// Share groups have no committed offsets.
    [[nodiscard]] ErrorCode refuse_commit(const OffsetCommit&, CommitKind) const override {
        return ErrorCode::group_id_not_found;
    }
    [[nodiscard]] ErrorCode refuse_fetch(const OffsetFetch::Group&) const override { return ErrorCode::group_id_not_found; }
    [[nodiscard]] bool may_have_offsets() const override { return false; }
    void committed(std::string_view, TimerQueue&, Now) override {}
    [[nodiscard]] OffsetUse offset_use() const override { return {.is_everything_used = true}; }
    [[nodiscard]] bool may_expire() const override { return false; }
    void topic_deleted(const TopicDeleted& event, GroupTable& table, Effects& effects) const override;
    void end(GroupTable& table, Effects& effects) const override;
    [[nodiscard]] std::string dump() const override;
    [[nodiscard]] GroupPhase phase() const override;
    void begin_history(GroupHistory& history, const ClusterView& cluster) const override;

    // Volatile

    /// The metadata version of the last comparison with `metadata_hash`; -1 after a start.
    mutable std::int64_t seen_metadata_version = -1;
    /// When the topics of `shared().initializing` were given to the share coordinator. Those of before a start are tried again.
    mutable std::map<TopicId, Instant> initializing_since;

  private:
    ShareMember& find_or_add(std::string_view member_id);
    [[nodiscard]] ShareMember* find_to_change(std::string_view member_id);
    void count_topics(const ShareMember& member, std::int32_t change);

    std::int32_t epoch_ = 1;
    std::int64_t metadata_hash_ = 0;
    std::int32_t assignment_epoch_ = 1;
    TimestampMs assignment_timestamp_{0};
    SharedPartitions shared_;
    // Its nodes have stable addresses.
    std::map<std::string, ShareMember, std::less<>> members_;
    /// The number of members that name each topic.
    TextMap<std::int32_t> topic_names_;
};

}  // namespace partita::groups
