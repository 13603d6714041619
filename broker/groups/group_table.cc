#include "broker/groups/group_table.h"

#include <algorithm>

#include "broker/groups/classic_group.h"
#include "protocol/assert.h"

namespace partita::groups {

void GroupTable::apply(const OffsetCommitRecord& record) { apply(record, pending_.next_order()); }

void GroupTable::apply(const OffsetCommitRecord& record, PendingOffsets::Order order) {
    OffsetPlace& place = last_offset_;
    if (place.group == nullptr || place.group->id != record.group_id || place.topic->first != record.topic) {
        // For a group that was never joined, the offsets are the only records.
        place.group = &find_or_create(record.group_id, record.commit_timestamp);
        place.topic = place.group->offsets.find_or_add(record.topic);
        place.next = place.topic->second.begin();
    }
    PartitionOffsets& offsets = place.topic->second;
    if (place.next == offsets.end() || place.next->first != record.partition) {
        place.next = offsets.try_emplace(place.next, record.partition);
    }
    CommittedOffset& committed = place.next->second;
    committed.offset = record.offset;
    committed.commit_timestamp = record.commit_timestamp;
    committed.expire_timestamp = record.expire_timestamp;
    committed.topic_id = record.topic_id;
    committed.leader_epoch = record.leader_epoch;
    committed.metadata.assign(record.metadata);
    ++place.next;
    if (!pending_.empty()) {
        pending_.supersede(record.group_id, record.topic, record.partition, order);
    }
}

void GroupTable::apply(const PendingOffsetRecord& record) {
    // Create the group, as a commit from outside does: the transaction's offsets need one.
    find_or_create(record.offset.group_id, record.offset.commit_timestamp);
    pending_.add(record);
}

std::vector<TransactionCommit> GroupTable::end_transaction(ProducerId producer_id, bool is_commit) {
    std::vector<TransactionCommit> commits;
    for (const PendingOffsets::Ended& ended : pending_.take(producer_id)) {
        if (!is_commit) {
            continue;
        }
        const PendingOffsets::Place& place = ended.place;
        if (commits.empty() || commits.back().group_id != place.group_id || commits.back().topic != place.topic) {
            commits.push_back({.group_id = place.group_id, .topic = place.topic, .partitions = {}});
        }
        const Group* group = find(place.group_id);
        const CommittedOffset* known = group == nullptr ? nullptr : group->offset(place.topic, place.partition);
        const bool is_known = known != nullptr && !known->is_of_other_topic(ended.offset.topic_id);
        commits.back().partitions.push_back({.partition = place.partition,
                                             .offset = ended.offset.offset,
                                             .before = is_known ? std::optional(known->offset) : std::nullopt});
        apply(OffsetCommitRecord{.group_id = ended.place.group_id,
                                 .topic = ended.place.topic,
                                 .partition = ended.place.partition,
                                 .offset = ended.offset.offset,
                                 .leader_epoch = ended.offset.leader_epoch,
                                 .metadata = ended.offset.metadata,
                                 .commit_timestamp = ended.offset.commit_timestamp,
                                 .expire_timestamp = ended.offset.expire_timestamp,
                                 .topic_id = ended.offset.topic_id},
              ended.order);
    }
    return commits;
}

void GroupTable::apply(const OffsetTombstone& record) {
    last_offset_ = {};
    if (Group* group = find(record.group_id)) {
        group->offsets.erase(record.topic, record.partition);
    }
    if (!pending_.empty()) {
        pending_.remove(record.group_id, record.topic, record.partition);
    }
}

void GroupTable::end(Group& group) {
    // Offsets have tombstones of their own. If these are missing, the offsets live on in a group without members.
    if (group.offsets.empty() && !pending_.has(group.id)) {
        last_offset_ = {};
        groups_.erase(groups_.find(group.id));
    } else {
        group.become<ClassicGroup>(kNoTimestamp);
    }
}

void GroupTable::remove_partitions(const Group& group, std::string_view topic, const std::vector<PartitionIndex>& partitions,
                                   Effects& effects) {
    if (partitions.empty()) {
        return;
    }
    const std::string_view group_id = effects.arena.copy(group.id);
    const std::string_view topic_name = effects.arena.copy(topic);
    for (const PartitionIndex partition : partitions) {
        change(OffsetTombstone{group_id, topic_name, partition}, effects);
    }
}

void GroupTable::remove(const Group& group, Effects& effects) {
    PARTITA_ASSERT(group.has_no_members(), "only a group without members is deleted");
    const std::string_view group_id = effects.arena.copy(group.id);
    while (!group.offsets.empty()) {
        const std::string topic = group.offsets.begin()->first;
        remove_offsets(group, topic, [](PartitionIndex, const CommittedOffset&) { return true; }, effects);
    }
    // Delete pending offsets, too; otherwise a commit would turn the remaining ones into offsets of a deleted group.
    for (const PendingOffsets::Place& place : pending_.places_of(group.id)) {
        change(OffsetTombstone{group_id, effects.arena.copy(place.topic), place.partition}, effects);
    }
    group.kind().end(*this, effects);
}

Group* GroupTable::find(std::string_view group_id) {
    const auto found = groups_.find(group_id);
    return found == groups_.end() ? nullptr : found->second.get();
}

const Group* GroupTable::find(std::string_view group_id) const {
    const auto found = groups_.find(group_id);
    return found == groups_.end() ? nullptr : found->second.get();
}

Group& GroupTable::find_or_create(std::string_view group_id, TimestampMs since) {
    if (Group* group = find(group_id)) {
        return *group;
    }
    return *groups_.emplace(std::string(group_id), std::make_unique<Group>(reader_index_, group_id, since)).first->second;
}

namespace {

template <class Pointer, class Map>
std::vector<Pointer> sorted_by_id(const Map& groups) {
    std::vector<Pointer> sorted;
    sorted.reserve(groups.size());
    for (const auto& [id, group] : groups) {
        sorted.push_back(group.get());
    }
    std::ranges::sort(sorted, {}, [](const Group* group) -> std::string_view { return group->id; });
    return sorted;
}

}  // namespace

std::vector<Group*> GroupTable::in_order() { return sorted_by_id<Group*>(groups_); }
std::vector<const Group*> GroupTable::in_order() const { return sorted_by_id<const Group*>(groups_); }

std::size_t GroupTable::offset_count() const {
    std::size_t count = 0;
    for (const auto& [id, group] : groups_) {
        for (const auto& [topic, partitions] : group->offsets) {
            count += partitions.size();
        }
    }
    return count;
}

}  // namespace partita::groups
