#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "broker/groups/effects.h"
#include "broker/groups/group.h"
#include "broker/groups/history_notes.h"
#include "broker/groups/pending_offsets.h"
#include "broker/groups/reader_index.h"
#include "broker/groups/records.h"
#include "broker/groups/timer_queue.h"
#include "broker/groups/transaction_commit.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

/// The groups of one coordinator, and the one way in which what is durable of them changes.

namespace partita::groups {

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
        foretell(record);
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
    template <class R>
        requires requires { typename R::Of; }
    void apply(const R& record) {
        using Kind = typename R::Of;
        if constexpr (std::is_void_v<decltype(std::declval<Kind&>().apply(record))>) {
            group_of<Kind>(record.group_id, kNoTimestamp).apply(record);
        } else if (Kind* group = find_as<Kind>(record.group_id); group != nullptr && group->apply(record)) {
            end(group->group());
        }
    }

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

    // Groups

    /// Null when there is no such group.
    [[nodiscard]] Group* find(std::string_view group_id);
    [[nodiscard]] const Group* find(std::string_view group_id) const;
    /// Null when there is no group of that name and kind.
    template <StateOfGroup Kind>
    [[nodiscard]] Kind* find_as(std::string_view group_id) {
        Group* group = find(group_id);
        return group == nullptr ? nullptr : group->as<Kind>();
    }
    /// The group of that name and kind, without members when it is new or was of another kind. For a group that a record will
    /// speak of before the call ends.
    template <StateOfGroup Kind>
    [[nodiscard]] Kind& group_of(std::string_view group_id, TimestampMs since) {
        Group& group = find_or_create(group_id, since);
        Kind* known = group.as<Kind>();
        return known != nullptr ? *known : group.become<Kind>(since);
    }
    /// Ascending by id, for everything whose order can be seen.
    [[nodiscard]] std::vector<Group*> in_order();
    [[nodiscard]] std::vector<const Group*> in_order() const;

    // What happened. It is no part of the state: nothing is decided by it.

    [[nodiscard]] HistoryNotes& notes() { return notes_; }
    [[nodiscard]] const HistoryNotes& notes() const { return notes_; }

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

    /// Called before the record is applied.
    template <class R>
    void foretell(const R& record) {
        if constexpr (requires(const typename R::Of& kind) { kind.foretell(record, notes_); }) {
            if (const typename R::Of* group = find_as<typename R::Of>(record.group_id)) {
                group->foretell(record, notes_);
            }
        }
    }

    Group& find_or_create(std::string_view group_id, TimestampMs since);
    void remove_partitions(const Group& group, std::string_view topic, const std::vector<PartitionIndex>& partitions,
                           Effects& effects);
    /// The group has no kind any more: without offsets nothing is left of it.
    void end(Group& group);

    // Declared before everything that holds timers, because timers leave the queue when they are destroyed.
    TimerQueue timers_;
    // Declared before the groups that it lists, for the same reason.
    ReaderIndex reader_index_;
    TextMap<std::unique_ptr<Group>> groups_;
    PendingOffsets pending_;
    HistoryNotes notes_;
    /// Void after everything that removes groups or offsets.
    OffsetPlace last_offset_;
};

}  // namespace partita::groups
