#include <algorithm>
#include <utility>

#include "broker/groups/group_offsets.h"
#include "broker/groups/limits.h"
#include "broker/groups/replies.h"
#include "protocol/assert.h"
#include "protocol/utf16.h"
#include "protocol/wrapping.h"

namespace partita::groups {
namespace {

OffsetFetchResult::Partition fetched(PartitionIndex partition, const CommittedOffset& committed) {
    return {.partition = partition,
            .offset = committed.offset,
            .leader_epoch = committed.leader_epoch,
            .metadata = committed.metadata};
}

/// The answer for an offset that an open transaction may still change.
OffsetFetchResult::Partition undecided(PartitionIndex partition) {
    return {.partition = partition, .error = ErrorCode::unstable_offset_commit};
}

/// `group`: null if it does not exist.
ErrorCode refuse_commit(const OffsetCommit& command, CommitKind kind, const Group* group) {
    if (group != nullptr) {
        const ErrorCode error = group->kind().refuse_commit(command, kind);
        // TxnOffsetCommit does not know epochs.
        return kind == CommitKind::transactional && error == ErrorCode::stale_member_epoch ? ErrorCode::illegal_generation
                                                                                           : error;
    }
    if (command.generation.value < 0) {
        // The commit creates the group.
        return ErrorCode::none;
    }
    const bool knows_unknown_groups = kind == CommitKind::plain && command.api_version >= kCommitVersionKnowingUnknownGroups;
    return knows_unknown_groups ? ErrorCode::group_id_not_found : ErrorCode::illegal_generation;
}

/// `unstable`: pending offsets, if the caller wants to know whether an offset may still change; else null.
OffsetFetchResult::Group fetch_group(const OffsetFetch::Group& wanted, const Group* group, const PendingOffsets* unstable) {
    OffsetFetchResult::Group result{.group_id = std::string(wanted.group_id)};
    const auto is_unstable = [&](std::string_view topic, PartitionIndex partition) {
        return unstable != nullptr && unstable->has(wanted.group_id, topic, partition);
    };
    result.error = group == nullptr ? ErrorCode::none : group->kind().refuse_fetch(wanted);
    if (result.error != ErrorCode::none) {
        return result;
    }
    if (!wanted.topics) {
        if (group == nullptr) {
            return result;
        }
        result.topics.reserve(group->offsets.size());
        for (const auto& [name, partitions] : group->offsets) {
            OffsetFetchResult::Topic& topic = result.topics.emplace_back();
            topic.name = name;
            topic.topic_id = partitions.empty() ? TopicId{} : partitions.begin()->second.topic_id;
            topic.partitions.reserve(partitions.size());
            for (const auto& [partition, committed] : partitions) {
                topic.partitions.push_back(is_unstable(name, partition) ? undecided(partition) : fetched(partition, committed));
            }
        }
        return result;
    }
    result.topics.reserve(wanted.topics->size());
    for (const OffsetFetch::Topic& wanted_topic : *wanted.topics) {
        OffsetFetchResult::Topic& topic = result.topics.emplace_back();
        topic.name = wanted_topic.name;
        topic.topic_id = wanted_topic.topic_id;
        topic.partitions.reserve(wanted_topic.partitions.size());
        const PartitionOffsets* partitions = nullptr;
        if (group != nullptr) {
            const auto known = group->offsets.find(wanted_topic.name);
            partitions = known == group->offsets.end() ? nullptr : &known->second;
        }
        for (const PartitionIndex partition : wanted_topic.partitions) {
            if (is_unstable(wanted_topic.name, partition)) {
                topic.partitions.push_back(undecided(partition));
                continue;
            }
            const auto committed = partitions == nullptr ? PartitionOffsets::const_iterator() : partitions->find(partition);
            const bool exists = partitions != nullptr && committed != partitions->end() &&
                                !committed->second.is_of_other_topic(wanted_topic.topic_id);
            topic.partitions.push_back(exists ? fetched(partition, committed->second)
                                              : OffsetFetchResult::Partition{.partition = partition});
        }
    }
    return result;
}

}  // namespace

bool GroupOffsets::metadata_too_large(std::string_view metadata) const {
    return std::cmp_greater(metadata.size(), config_.offset_metadata_max_bytes.value) &&
           std::cmp_greater(utf16_length(metadata), config_.offset_metadata_max_bytes.value);
}

void GroupOffsets::decide(const OffsetCommit& command, Now now, Effects& effects) {
    Group* group = table_.find(command.group_id);
    if (const ErrorCode refusal = refuse_commit(command, CommitKind::plain, group); refusal != ErrorCode::none) {
        note_refused(command, group, refusal, now);
        reply(effects, command.reply_to, OffsetCommitResult{.error = refusal});
        return;
    }
    if (group != nullptr) {
        group->kind().committed(command.member_id, table_.timers(), now);
    }
    // The history knows only members, not committers outside the group.
    GroupHistory* history = group == nullptr ? nullptr : table_.notes().history_for_commits(*group);
    const std::int32_t committer =
        history == nullptr || command.member_id.empty() ? GroupHistory::kNobody : history->committer(command.member_id);
    OffsetCommitResult result = commit_each(command, now, effects, [&](const OffsetCommitRecord& record) {
        table_.change(record, effects);
        if (history != nullptr) {
            history->note_commit(record.topic, record.partition.value, committer, now.wall);
        }
    });
    reply(effects, command.reply_to, std::move(result));
}

void GroupOffsets::note_refused(const OffsetCommit& command, const Group* group, ErrorCode refusal, Now now) {
    if (group == nullptr || command.member_id.empty()) {
        return;
    }
    GroupHistory* history =
        table_.notes().note_late(*group, command.member_id, LateRequest::commit, command.generation.value, refusal);
    if (history == nullptr) {
        return;
    }
    for (const OffsetCommit::Topic& topic : command.topics) {
        for (const OffsetCommit::Partition& partition : topic.partitions) {
            history->note_late_offset(command.member_id, topic.name, partition.partition.value, partition.offset, now.wall);
        }
    }
}

void GroupOffsets::decide(const TransactionalOffsetCommit& command, Now now, Effects& effects) {
    const OffsetCommit& offsets = command.offsets;
    const Group* group = table_.find(offsets.group_id);
    if (const ErrorCode refusal = refuse_commit(offsets, CommitKind::transactional, group); refusal != ErrorCode::none) {
        note_refused(offsets, group, refusal, now);
        reply(effects, command.reply_to, OffsetCommitResult{.error = refusal});
        return;
    }
    PARTITA_ASSERT(effects.records.empty(), "records of a transaction are in effects of their own");
    OffsetCommitResult result = commit_each(offsets, now, effects, [&](const OffsetCommitRecord& record) {
        table_.change(PendingOffsetRecord{record, command.producer_id}, effects);
    });
    if (!effects.records.empty()) {
        effects.transaction = {command.producer_id, command.producer_epoch};
    }
    reply(effects, command.reply_to, std::move(result));
}

template <class Persist>
OffsetCommitResult GroupOffsets::commit_each(const OffsetCommit& command, Now now, Effects& effects, Persist persist) {
    OffsetCommitResult result;
    OffsetCommitRecord record{.group_id = effects.arena.copy(command.group_id),
                              .commit_timestamp = now.wall,
                              .expire_timestamp = command.retention_time_ms == -1
                                                      ? kNoTimestamp
                                                      : TimestampMs{wrapping_add(now.wall.value, command.retention_time_ms)}};
    std::size_t position = 0;
    for (const OffsetCommit::Topic& topic : command.topics) {
        record.topic = effects.arena.copy(topic.name);
        record.topic_id = topic.topic_id;
        for (const OffsetCommit::Partition& partition : topic.partitions) {
            ++position;
            if (metadata_too_large(partition.metadata)) {
                result.partition_errors.resize(position, ErrorCode::none);
                result.partition_errors.back() = ErrorCode::offset_metadata_too_large;
                continue;
            }
            record.partition = partition.partition;
            record.offset = partition.offset;
            record.leader_epoch = partition.leader_epoch;
            record.metadata = effects.arena.copy(partition.metadata);
            persist(record);
        }
    }
    if (!result.partition_errors.empty()) {
        result.partition_errors.resize(position, ErrorCode::none);
    }
    return result;
}

void GroupOffsets::decide(const OffsetFetch& command, Now, Effects& effects) const {
    OffsetFetchResult result;
    result.groups.reserve(command.groups.size());
    for (const OffsetFetch::Group& wanted : command.groups) {
        result.groups.push_back(
            fetch_group(wanted, table_.find(wanted.group_id), command.require_stable ? &table_.pending_offsets() : nullptr));
    }
    reply(effects, command.reply_to, std::move(result));
}

void GroupOffsets::decide(const OffsetDelete& command, Now, Effects& effects) {
    OffsetDeleteResult result;
    Group* group = table_.find(command.group_id);
    if (command.group_id.empty()) {
        result.error = ErrorCode::invalid_group_id;
    } else if (group == nullptr || !group->kind().may_have_offsets()) {
        result.error = ErrorCode::group_id_not_found;
    } else if (!group->kind().knows_subscriptions()) {
        // The coordinator does not know whether the members use the topic.
        result.error = ErrorCode::non_empty_group;
    }
    if (result.error != ErrorCode::none) {
        reply(effects, command.reply_to, std::move(result));
        return;
    }
    const std::string_view group_id = effects.arena.copy(group->id);
    for (const OffsetDelete::Topic& topic : command.topics) {
        OffsetDeleteResult::Topic& topic_result = result.topics.emplace_back();
        topic_result.name = topic.name;
        const bool subscribed = group->is_subscribed_to(topic.name);
        const std::string_view topic_name = effects.arena.copy(topic.name);
        for (const PartitionIndex partition : topic.partitions) {
            topic_result.partitions.push_back({partition, subscribed ? ErrorCode::group_subscribed_to_topic : ErrorCode::none});
            const bool is_there = group->offset(topic.name, partition) != nullptr ||
                                  table_.pending_offsets().has(command.group_id, topic.name, partition);
            if (!subscribed && is_there) {
                table_.change(OffsetTombstone{group_id, topic_name, partition}, effects);
            }
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

void GroupOffsets::topic_deleted(const TopicDeleted& event, Effects& effects) {
    const bool is_named = !event.name.empty();
    const auto is_gone = [&](PartitionIndex, const CommittedOffset& committed) {
        return is_named || committed.topic_id == event.topic_id;
    };
    for (const Group* group : table_.in_order()) {
        if (is_named) {
            table_.remove_offsets(*group, event.name, is_gone, effects);
            for (const PendingOffsets::Place& place : table_.pending_offsets().places_of(group->id)) {
                if (place.topic == event.name) {
                    table_.change(
                        OffsetTombstone{effects.arena.copy(group->id), effects.arena.copy(place.topic), place.partition},
                        effects);
                }
            }
            continue;
        }
        for (auto next = group->offsets.begin(); next != group->offsets.end();) {
            // The removal of a topic's last offset also removes the topic.
            const auto topic = next++;
            table_.remove_offsets(*group, topic->first, is_gone, effects);
        }
    }
}

void GroupOffsets::seed(const SeedOffsets& command, Now now, Effects& effects) {
    // The group is unknown if its members were in no generation before the process died. They will return.
    OffsetCommitRecord record{.group_id = effects.arena.copy(command.group_id),
                              .topic = effects.arena.copy(command.topic),
                              .offset = Offset{0},
                              .leader_epoch = LeaderEpoch{0},
                              .metadata = effects.arena.copy(command.metadata),
                              .commit_timestamp = now.wall,
                              .topic_id = command.topic_id};
    for (record.partition = command.first; record.partition < command.end; ++record.partition.value) {
        const Group* group = table_.find(command.group_id);
        const CommittedOffset* known = group == nullptr ? nullptr : group->offset(command.topic, record.partition);
        if (known == nullptr || known->is_of_other_topic(command.topic_id)) {
            table_.change(record, effects);
        }
    }
}

std::size_t GroupOffsets::remove_seeds(const SeedOffsets& command, Effects& effects) {
    const Group* group = table_.find(command.group_id);
    if (group == nullptr) {
        return 0;
    }
    // A tombstone also removes pending offsets of its partition.
    const auto is_as_seeded = [&](PartitionIndex partition, const CommittedOffset& committed) {
        return partition >= command.first && partition < command.end && committed.offset == Offset{0} &&
               committed.metadata == command.metadata && committed.topic_id == command.topic_id &&
               !table_.pending_offsets().has(command.group_id, command.topic, partition);
    };
    return table_.remove_offsets(*group, command.topic, is_as_seeded, effects);
}

}  // namespace partita::groups
