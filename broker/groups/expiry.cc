#include <optional>
#include <utility>

#include "broker/groups/core.h"
#include "protocol/assert.h"
#include "protocol/wrapping.h"

namespace partita::groups {

void GroupCoordinator::Core::expire_offsets(Now now, Effects& effects) {
    for (Group* group : groups_in_order()) {
        const bool nothing_left = expire_offsets_of(*group, now, effects);
        if (nothing_left && group->has_no_members()) {
            delete_group(*group, effects);
        }
    }
    timers_.schedule(expiration_timer_, now.monotonic + config_.offsets_retention_check_interval_ms);
}

/// Says whether the group has no offsets (any more). What counts as unused:
///   - a group that had members and is Empty: all offsets, from the moment it became Empty;
///   - a Stable group of consumers: offsets of topics that no member subscribes to, since their commit;
///   - a group that never had members: each offset since its commit;
///   - in all other states nothing;
///   - a consumer group (KIP-848): offsets of topics that nobody subscribes to, since their commit.
/// A retention that the commit itself asked for (v2 to v4) replaces the broker's.
bool GroupCoordinator::Core::expire_offsets_of(Group& group, Now now, Effects& effects) {
    if (group.offsets.empty()) {
        return true;
    }
    // Since when it has been empty, for a group that had members.
    std::optional<TimestampMs> empty_since;
    if (const ClassicGroup* classic = group.classic(); classic != nullptr && classic->protocol_type) {
        const bool unused_topics_are_known =
            classic->is(GroupState::stable) && classic->uses_consumer_protocol() && classic->topics;
        if (!classic->empty() && !unused_topics_are_known) {
            return false;
        }
        if (classic->empty() && classic->state_since != kNoTimestamp) {
            empty_since = classic->state_since;
        }
    }
    const std::string_view group_id = effects.arena.copy(group.id);
    for (auto next = group.offsets.begin(); next != group.offsets.end();) {
        const auto topic = next++;
        if (group.is_subscribed_to(topic->first)) {
            continue;
        }
        const std::string_view topic_name = effects.arena.copy(topic->first);
        std::erase_if(topic->second, [&](const auto& entry) {
            const CommittedOffset& committed = entry.second;
            const TimestampMs since = empty_since.value_or(committed.commit_timestamp);
            const bool expired = committed.expire_timestamp != kNoTimestamp
                                     ? now.wall >= committed.expire_timestamp
                                     : wrapping_subtract(now.wall.value, since.value) >= config_.offsets_retention_ms;
            if (expired) {
                effects.records.push_back(OffsetTombstone{group_id, topic_name, entry.first});
            }
            return expired;
        });
        if (topic->second.empty()) {
            group.offsets.erase(topic);
        }
    }
    return group.offsets.empty();
}

void GroupCoordinator::Core::delete_group(Group& group, Effects& effects) {
    PARTITA_ASSERT(group.has_no_members(), "only a group without members is deleted");
    const std::string_view group_id = effects.arena.copy(group.id);
    for (const auto& [topic, partitions] : group.offsets) {
        const std::string_view topic_name = effects.arena.copy(topic);
        for (const auto& [partition, committed] : partitions) {
            effects.records.push_back(OffsetTombstone{group_id, topic_name, partition});
        }
    }
    if (ConsumerGroup* consumer = group.consumer()) {
        persist_end_of(*consumer, group, effects);
    } else {
        effects.records.push_back(GroupTombstone{group_id});
    }
    groups_.erase(groups_.find(group.id));
}

void GroupCoordinator::Core::decide(const DeleteGroups& command, Now, Effects& effects) {
    DeleteGroupsResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        ErrorCode error = ErrorCode::none;
        if (Group* group = find_group(group_id); group == nullptr) {
            error = ErrorCode::group_id_not_found;
        } else if (!group->has_no_members()) {
            error = ErrorCode::non_empty_group;
        } else {
            delete_group(*group, effects);
        }
        result.groups.push_back({std::string(group_id), error});
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
