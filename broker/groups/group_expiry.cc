#include <optional>
#include <utility>

#include "broker/groups/group_expiry.h"
#include "broker/groups/replies.h"
#include "protocol/wrapping.h"

namespace partita::groups {

void GroupExpiry::schedule(Now now) {
    table_.timers().schedule(timer_, now.monotonic + config_.offsets_retention_check_interval_ms);
}

void GroupExpiry::timer_over(Now now, Effects& effects) {
    for (Group* group : table_.in_order()) {
        const bool nothing_left = expire_offsets(*group, now, effects);
        if (nothing_left && group->has_no_members() && group->kind().may_expire()) {
            table_.remove(*group, effects);
        }
    }
    schedule(now);
}

/// Expires unused offsets. Returns whether the group has no offsets (any more). These offsets count as unused:
/// - a group that had members and is Empty: all offsets, from the moment it became Empty;
/// - a Stable group of consumers: offsets of topics without a subscribed member, since their commit;
/// - a group that never had members: each offset since its commit;
/// - in all other states none;
/// - a consumer group (KIP-848): offsets of topics without a subscribed member, since their commit.
/// An offset that a transaction may still replace is in use. A retention that the commit itself asked for (v2 to v4) replaces the
/// broker's.
bool GroupExpiry::expire_offsets(const Group& group, Now now, Effects& effects) {
    const bool has_pending = table_.pending_offsets().has(group.id);
    if (group.offsets.empty()) {
        return !has_pending;
    }
    const OffsetUse use = group.kind().offset_use();
    if (use.is_everything_used) {
        return false;
    }
    std::string_view topic_name;
    const auto is_expired = [&](PartitionIndex partition, const CommittedOffset& committed) {
        if (has_pending && table_.pending_offsets().has(group.id, topic_name, partition)) {
            return false;
        }
        const TimestampMs since = use.unused_since.value_or(committed.commit_timestamp);
        return committed.expire_timestamp != kNoTimestamp
                   ? now.wall >= committed.expire_timestamp
                   : wrapping_subtract(now.wall.value, since.value) >= config_.offsets_retention_ms;
    };
    for (auto next = group.offsets.begin(); next != group.offsets.end();) {
        // The removal of a topic's last offset also removes the topic.
        const auto topic = next++;
        topic_name = topic->first;
        if (!group.is_subscribed_to(topic->first)) {
            table_.remove_offsets(group, topic->first, is_expired, effects);
        }
    }
    return group.offsets.empty() && !has_pending;
}

void GroupExpiry::decide(const DeleteGroups& command, Now, Effects& effects) {
    DeleteGroupsResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        ErrorCode error = ErrorCode::none;
        if (Group* group = table_.find(group_id); group == nullptr) {
            error = ErrorCode::group_id_not_found;
        } else if (!group->has_no_members()) {
            error = ErrorCode::non_empty_group;
        } else {
            table_.remove(*group, effects);
        }
        result.groups.push_back({std::string(group_id), error});
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
