#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/groups/cluster_view.h"
#include "broker/groups/effects.h"
#include "broker/groups/group.h"
#include "broker/groups/pending_offsets.h"
#include "broker/groups/reader_index.h"
#include "broker/groups/records.h"
#include "broker/groups/timer_queue.h"
#include "broker/groups/transaction_commit.h"
#include "broker/insight/history/group_history.h"
#include "protocol/arena.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

/// The groups of one coordinator, and the one way in which what is durable of them changes.

namespace partita::groups {

// Groups tell the history what happens and are told nothing by it.
using insight::GroupHistories;
using insight::GroupHistory;
using insight::GroupPhase;
using insight::LateReading;
using insight::LateRequest;
using insight::MemberNames;
using insight::RebalanceCause;

/// What the table holds is of two sorts.
///
/// *Durable* is what records say: which groups there are, of which kind, their offsets, the generation that a classic group
/// is in while it is Stable or Empty, and all of a consumer group. It changes by `apply` of a record and by nothing else: the
/// replay of a log calls `apply`, and whoever decides something calls `change`, which is the same `apply` and one more record
/// in the effects. So at every moment the table equals one that replayed the records made so far (`dump`).
///
/// *Volatile* is what no record says: who waits for an answer, timers and sessions, ids that were handed out, and a rebalance
/// of a classic group from its beginning until a record seals its generation (or finds the group empty). The parts of the
/// coordinator change that themselves; after a crash it begins anew, or falls back to the generation that was sealed last.
///
/// `change` applies at once and does not wait for the record to be durable. If it waited, the next command would be decided on
/// state that is out of date while records are being written, or all commands of a partition would have to wait for the
/// disk one after the other. Nothing of it is seen too early, because replies stay behind the records that they depend on. When
/// records cannot be persisted, the shell throws the whole coordinator away and builds another one from the log; so nobody
/// has to take a single change back.
class GroupTable {
  public:
    GroupTable() = default;
    GroupTable(const GroupTable&) = delete;
    GroupTable& operator=(const GroupTable&) = delete;

    /// Applies the record and appends it to the effects. Its texts must live in the effects' arena.
    template <class R>
    void change(R&& record, Effects& effects) {
        remember(record);
        apply(record);
        effects.records.emplace_back(std::forward<R>(record));
    }
    /// The same for a record of a consumer group, which need not name its group. Its texts are copied.
    template <class R>
    void change(std::string_view group_id, R record, Effects& effects) {
        record.group_id = effects.arena.copy(group_id);
        if constexpr (requires { record.member_id; }) {
            record.member_id = effects.arena.copy(record.member_id);
        } else if constexpr (requires { record.regex; }) {
            record.regex = effects.arena.copy(record.regex);
        } else if constexpr (requires { record.name; }) {
            record.name = effects.arena.copy(record.name);
        }
        change(std::move(record), effects);
    }

    // One for each kind of record. A record of a group that is not there makes it, also as another kind than it was; a tombstone
    // of something that is not there does nothing, because compaction may have removed what it belongs to. References to the
    // group are void after a tombstone of the group.

    void apply(const OffsetCommitRecord& record);
    void apply(const PendingOffsetRecord& record);
    void apply(const OffsetTombstone& record);
    void apply(const GroupMetadataRecord& record);
    void apply(const GroupTombstone& record);
    template <class R>
        requires requires(ConsumerGroup& group, const R& record) { group.apply(record); }
    void apply(const R& record) {
        consumer_group(record.group_id).apply(record);
    }
    void apply(const ConsumerGroupTombstone& record);

    /// The marker of the producer's transaction stands in the log: what it committed becomes the offsets of its groups, or goes.
    /// By group and topic, ascending.
    std::vector<TransactionCommit> end_transaction(ProducerId producer_id, bool is_commit);
    [[nodiscard]] const PendingOffsets& pending_offsets() const { return pending_; }

    // Records that come in numbers

    /// Removes the offsets of the topic for which `is_unused(partition, committed)`. Returns how many they were.
    template <class Predicate>
    std::size_t remove_offsets(const Group& group, std::string_view topic, Predicate&& is_unused, Effects& effects) {
        const auto known = group.offsets.find(topic);
        if (known == group.offsets.end()) {
            return 0;
        }
        std::vector<PartitionIndex> unused;
        for (const auto& [partition, committed] : known->second) {
            if (is_unused(partition, committed)) {
                unused.push_back(partition);
            }
        }
        remove_partitions(group, topic, unused, effects);
        return unused.size();
    }
    /// The group ends: tombstones of its offsets, and of the group. It must have no members.
    void remove(const Group& group, Effects& effects);
    /// The tombstones of everything that a consumer group persisted, in the order that Kafka's replay wants. What is left of it
    /// are its offsets, if it has any.
    void end_consumer_group(const Group& group, Effects& effects);

    // Groups

    /// Null when there is no such group.
    [[nodiscard]] Group* find(std::string_view group_id);
    [[nodiscard]] const Group* find(std::string_view group_id) const;
    /// The classic group of that name, without members when it is new or was of another kind. For a group that a record will
    /// speak of before the call ends.
    [[nodiscard]] ClassicGroup& classic_group(std::string_view group_id, TimestampMs since);
    /// Ascending by id, for everything whose order can be seen.
    [[nodiscard]] std::vector<Group*> in_order();
    [[nodiscard]] std::vector<const Group*> in_order() const;

    // What happened (insight/history/group_history.h). It is no part of the state: nothing is decided by it.

    /// Before each call of the coordinator: when it happens, and in which cluster.
    void begin_call(TimestampMs now, const ClusterPointer& cluster) {
        moment_ = now;
        cluster_ = cluster.get();
    }
    /// After it: what became of the groups that something was noted of.
    void end_call() {
        if (histories_.has_news()) {
            settle_histories();
        }
    }
    void note(const Group& group, RebalanceCause cause, const std::optional<MemberNames>& member = std::nullopt,
              std::string_view replaces = {});
    void note_arrival(const Group& group, const MemberNames& member);
    /// A request of the member was answered with `error`: noted, if that says that its claim is over. Null when it does not.
    GroupHistory* note_late(const Group& group, std::string_view member_id, LateRequest request, std::int32_t claim,
                            ErrorCode error);
    /// For what comes often and is no news of the group. Null when the group has no members and no history, and when there are
    /// histories enough of groups to which something happened.
    [[nodiscard]] GroupHistory* history_for_commits(const Group& group);
    /// What is known of the group, which may be no more than who has what.
    [[nodiscard]] GroupHistory history(const Group& group, const ClusterView& cluster) const;

    [[nodiscard]] const GroupHistories& histories() const { return histories_; }
    /// See GroupHistory::note_late_reading. Nothing happens when nothing is known of the group.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id, LateReading seen);
    void forget_topic_in_histories(const TopicId& topic_id) { histories_.forget_topic(topic_id); }

    [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
    [[nodiscard]] std::size_t offset_count() const;
    /// The durable part as text, see `GroupCoordinator::dump`.
    [[nodiscard]] std::string dump() const;

    [[nodiscard]] TimerQueue& timers() { return timers_; }
    [[nodiscard]] const TimerQueue& timers() const { return timers_; }
    [[nodiscard]] ReaderIndex& reader_index() { return reader_index_; }

  private:
    /// `order`: of the record, among those that are pending.
    void apply(const OffsetCommitRecord& record, PendingOffsets::Order order);

    /// Where the last offset went. Clients commit partitions in order, and so they stand in a log: the next offset mostly
    /// goes to `next`.
    struct OffsetPlace {
        Group* group = nullptr;
        TopicOffsets::Map::iterator topic;
        PartitionOffsets::iterator next;
    };

    // Called before the record is applied.
    void remember(const GroupMetadataRecord& record);
    void remember(const ConsumerGroupEpochRecord& record);
    void remember(const CurrentAssignmentRecord& record);
    template <class R>
    void remember(const R&) {}
    [[nodiscard]] GroupHistory& history_of(const Group& group);
    void settle_histories();

    Group& find_or_create(std::string_view group_id, TimestampMs since);
    ConsumerGroup& consumer_group(std::string_view group_id);
    void remove_partitions(const Group& group, std::string_view topic, const std::vector<PartitionIndex>& partitions,
                           Effects& effects);
    /// The group has no kind any more: without offsets nothing is left of it.
    void end(TextMap<std::unique_ptr<Group>>::iterator group);

    // Declared before everything that holds timers, because timers leave the queue when they are destroyed.
    TimerQueue timers_;
    // Declared before the groups that it lists, for the same reason.
    ReaderIndex reader_index_;
    TextMap<std::unique_ptr<Group>> groups_;
    PendingOffsets pending_;
    GroupHistories histories_;
    TimestampMs moment_{0};
    /// Null before the first call.
    const ClusterView* cluster_ = nullptr;
    /// Void after everything that removes groups or offsets.
    OffsetPlace last_offset_;
};

[[nodiscard]] MemberNames names_of(const Member& member);
[[nodiscard]] MemberNames names_of(const ConsumerMember& member);
[[nodiscard]] MemberNames names_of(std::string_view member_id, const MemberSubscription& subscription);

/// The record that seals the group as it is now: with its members, or without any.
[[nodiscard]] GroupMetadataRecord record_of(const ClassicGroup& group, Arena& arena);

}  // namespace partita::groups
