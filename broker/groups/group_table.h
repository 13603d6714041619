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

/// The groups of one coordinator, and the only way to change their durable state.

namespace partita::groups {

/// The table holds two sorts of state.
///
/// *Durable* state is what records say: the groups, their kinds, their offsets, the generation of a classic group while it is
/// Stable or Empty, and all of a consumer group. Only `apply` of a record changes it. The replay of a log calls `apply`. A part
/// that decides something calls `change`, which is the same `apply` and adds the record to the effects. So at every moment the
/// table equals one that replayed the records made so far (`dump`).
///
/// *Volatile* state is in no record: waiting requests, timers and sessions, ids that were handed out, and a rebalance of a
/// classic group from its beginning until a record seals its generation (or finds the group empty). The parts of the coordinator
/// change it themselves; after a crash it begins anew, or falls back to the last sealed generation.
///
/// `change` applies at once and does not wait for the record to be durable. If it waited, the next command would see outdated
/// state while records are being written, or all commands of a partition would have to wait for the disk one after the other. No
/// client sees a change too early, because replies stay behind the records that they depend on. If records cannot be persisted,
/// the shell discards the whole coordinator and builds another one from the log, so no code has to undo a single change.
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
    /// The same for a record of a consumer group, which need not name its group. This copies its texts.
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

    // One for each type of record. A record of an unknown group creates the group. A record of another kind changes the kind of
    // the group. A tombstone without its object does nothing, because compaction may have removed the record. A tombstone of the
    // group invalidates references to the group.

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

    /// The log has the marker of the producer's transaction: its offsets become the groups' offsets, or vanish. Returns them
    /// ascending by group and topic.
    std::vector<TransactionCommit> end_transaction(ProducerId producer_id, bool is_commit);
    [[nodiscard]] const PendingOffsets& pending_offsets() const { return pending_; }

    // Changes that make many records

    /// Removes the topic's offsets for which `is_unused(partition, committed)` is true. Returns their number.
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
    /// Ends the group: tombstones of its offsets, and of the group. It must have no members.
    void remove(const Group& group, Effects& effects);

    // Groups

    /// Null if the group is unknown.
    [[nodiscard]] Group* find(std::string_view group_id);
    [[nodiscard]] const Group* find(std::string_view group_id) const;
    /// Null if no group has that name and kind.
    template <StateOfGroup Kind>
    [[nodiscard]] Kind* find_as(std::string_view group_id) {
        Group* group = find(group_id);
        return group == nullptr ? nullptr : group->as<Kind>();
    }
    /// The group of that name and kind; without members if it is new or was of another kind. The same call must create a record
    /// of the group.
    template <StateOfGroup Kind>
    [[nodiscard]] Kind& group_of(std::string_view group_id, TimestampMs since) {
        Group& group = find_or_create(group_id, since);
        Kind* known = group.as<Kind>();
        return known != nullptr ? *known : group.become<Kind>(since);
    }
    /// Ascending by id, for output whose order is visible.
    [[nodiscard]] std::vector<Group*> in_order();
    [[nodiscard]] std::vector<const Group*> in_order() const;

    // The histories of groups. They are not part of the state: no decision depends on them.

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
    /// `order`: the record's position among the pending ones.
    void apply(const OffsetCommitRecord& record, PendingOffsets::Order order);

    /// The place of the last applied offset. Clients commit partitions in order, so the next offset mostly goes to `next`.
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
    /// The group loses its kind: without offsets it vanishes.
    void end(Group& group);

    // Declared before all members with timers, because timers leave the queue on destruction.
    TimerQueue timers_;
    // Declared before the groups that it lists, for the same reason.
    ReaderIndex reader_index_;
    TextMap<std::unique_ptr<Group>> groups_;
    PendingOffsets pending_;
    HistoryNotes notes_;
    /// Reset whenever groups or offsets are removed.
    OffsetPlace last_offset_;
};

}  // namespace partita::groups
