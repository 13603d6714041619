#include <algorithm>
#include <ranges>

#include "broker/insight/history/group_history.h"

// The part of a history about partitions that owners hold by claims and share out among themselves.

namespace partita::insight {

void GroupHistory::take_by_claim(const MemberNames& owner, std::string_view topic, const TopicId& topic_id,
                                 std::int32_t partition, std::int32_t claim, TakeoverCause cause, TimestampMs now) {
    const std::int32_t to = member(owner, now);
    members_[static_cast<std::size_t>(to)].gone.reset();
    Ownership* ownership = place(topic, topic_id, partition);
    if (ownership == nullptr) {
        return;
    }
    if (ownership->owner == kNobody) {
        ownership->owner = to;
        ownership->since = now;
    } else if (ownership->owner != to) {
        take_over(topic, partition, *ownership, {.time = now, .to = to, .cause = cause, .claim = claim});
    } else if (ownership->released != kNoTimestamp) {
        ownership->released = kNoTimestamp;
        ownership->since = now;
    }
    ownership->claim = claim;
}

void GroupHistory::retire(std::string_view owner, TimestampMs now) {
    if (const std::int32_t index = find_member(owner); index != kNobody) {
        members_[static_cast<std::size_t>(index)].gone = KnownMember::Gone{now, RebalanceCause::left};
        forget_gone_members();
    }
}

void GroupHistory::note_late_claim(std::string_view owner, std::string_view topic, std::int32_t partition,
                                   const std::optional<Offset>& committed, TimestampMs now) {
    const std::int32_t index = find_member(owner);
    const Ownership* known = find(topic, partition);
    if (index == kNobody || known == nullptr || known->previous != index || known->owner == index ||
        kind_of(known->cause, now) != TakeoverKind::stolen) {
        return;
    }
    LateMember& late = late_member(index, now);
    ++late.requests[static_cast<std::size_t>(committed ? LateRequest::commit : LateRequest::heartbeat)];
    late.last = now;
    if (committed && !free_since(*known)) {
        ++late.overlaps;
        late.overlap = {.topic = std::string(topic),
                        .partition = partition,
                        .offset = *committed,
                        .owner = known->owner,
                        .since = known->since,
                        .time = now,
                        .claim_ended = known->cause};
    }
    Ownership& ownership = topics_.find(topic)->second.partitions[static_cast<std::size_t>(partition)];
    ownership.previous_seen = ownership.previous_seen == kNoTimestamp ? now : ownership.previous_seen;
    const auto last = std::ranges::find_if(takeovers_ | std::views::reverse, [&](const Takeover& takeover) {
        return takeover.topic == topic && takeover.partition == partition;
    });
    if (last == takeovers_.rend()) {
        return;
    }
    late.claim = last->claim_before;
    if (last->seen_after == kNoTimestamp) {
        --takeover_kinds_[static_cast<std::size_t>(kind_of(last->cause, kNoTimestamp))];
        ++takeover_kinds_[static_cast<std::size_t>(TakeoverKind::stolen)];
        last->seen_after = now;
    }
}

}  // namespace partita::insight
