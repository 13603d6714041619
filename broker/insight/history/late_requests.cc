#include <algorithm>
#include <utility>

#include "broker/insight/history/group_history.h"

// The part of a group's history about commits, and about requests by claims that are over.

namespace partita::insight {

bool says_that_claim_is_over(ErrorCode error) {
    return error == ErrorCode::unknown_member_id || error == ErrorCode::illegal_generation ||
           error == ErrorCode::fenced_instance_id || error == ErrorCode::fenced_member_epoch ||
           error == ErrorCode::stale_member_epoch;
}

void GroupHistory::note_commit(std::string_view topic, std::int32_t partition, std::int32_t committer, TimestampMs now) {
    const auto found = topics_.find(topic);
    if (found == topics_.end() || partition < 0 || std::cmp_greater_equal(partition, found->second.partitions.size())) {
        return;
    }
    Ownership& ownership = found->second.partitions[static_cast<std::size_t>(partition)];
    ownership.committed_by = committer;
    ownership.committed_at = now;
}

GroupHistory::LateMember& GroupHistory::late_member(std::int32_t member, TimestampMs now) {
    auto known = std::ranges::find(late_members_, member, &LateMember::member);
    if (known == late_members_.end() && late_members_.size() < kLateMembersMax) {
        return late_members_.emplace_back(LateMember{.member = member, .first = now, .last = now, .overlap = {}});
    }
    if (known == late_members_.end()) {
        known = std::ranges::min_element(late_members_, {}, [](const LateMember& one) { return one.last.value; });
    }
    if (known->member != member || now.value - known->last.value > kLateSpellMs) {
        *known = LateMember{.member = member, .first = now, .last = now, .overlap = {}};
    }
    return *known;
}

void GroupHistory::note_late(std::string_view member_id, LateRequest request, std::int32_t claim, TimestampMs now) {
    const std::int32_t index = find_member(member_id);
    if (index == kNobody) {
        return;
    }
    LateMember& late = late_member(index, now);
    ++late.requests[static_cast<std::size_t>(request)];
    late.last = now;
    late.claim = claim;
    const auto& gone = members_[static_cast<std::size_t>(index)].gone;
    if (gone && gone->cause != RebalanceCause::left) {
        see_after_takeover(index, now);
    }
}

void GroupHistory::note_late_offset(std::string_view member_id, std::string_view topic, std::int32_t partition, Offset offset,
                                    TimestampMs now) {
    const std::int32_t index = find_member(member_id);
    const Ownership* ownership = find(topic, partition);
    if (index == kNobody || ownership == nullptr || ownership->owner == kNobody || ownership->owner == index ||
        free_since(*ownership)) {
        return;
    }
    LateMember& late = late_member(index, now);
    ++late.overlaps;
    late.overlap = {.topic = std::string(topic),
                    .partition = partition,
                    .offset = offset,
                    .owner = ownership->owner,
                    .since = ownership->since,
                    .time = now};
}

void GroupHistory::note_late_reading(std::string_view member_id, std::string_view owner_id, LateReading seen) {
    seen.member = find_member(member_id);
    seen.owner = find_member(owner_id);
    const Ownership* ownership = find(seen.topic, seen.partition);
    if (seen.member == kNobody || seen.owner == kNobody || ownership == nullptr || ownership->owner != seen.owner ||
        ownership->since != seen.since || free_since(*ownership) ||
        !was_put_out(members_[static_cast<std::size_t>(seen.member)])) {
        return;
    }
    auto known = std::ranges::find_if(late_readings_, [&](const LateReading& one) {
        return one.member == seen.member && one.topic == seen.topic && one.partition == seen.partition;
    });
    if (known == late_readings_.end() && late_readings_.size() < kLateReadingsMax) {
        late_readings_.push_back(std::move(seen));
        return;
    }
    if (known == late_readings_.end()) {
        known = std::ranges::min_element(late_readings_, {}, [](const LateReading& one) { return one.last.value; });
    } else if (known->owner == seen.owner && known->since == seen.since && seen.first.value - known->last.value <= kLateSpellMs) {
        seen.fetches += known->fetches;
        seen.from = known->from;
        seen.first = known->first;
    }
    *known = std::move(seen);
}

const LateReading* GroupHistory::late_reading_of(std::string_view topic, std::int32_t partition) const {
    const Ownership* ownership = find(topic, partition);
    if (ownership == nullptr || free_since(*ownership)) {
        return nullptr;
    }
    const LateReading* latest = nullptr;
    for (const LateReading& one : late_readings_) {
        const bool is_of_it = one.partition == partition && one.topic == topic && one.owner == ownership->owner &&
                              one.since == ownership->since && was_put_out(members_[static_cast<std::size_t>(one.member)]);
        if (is_of_it && (latest == nullptr || latest->last < one.last)) {
            latest = &one;
        }
    }
    return latest;
}

void GroupHistory::see_after_takeover(std::int32_t member, TimestampMs now) {
    const auto is_of = [&](TakeoverCause cause, TimestampMs seen) {
        return seen == kNoTimestamp && kind_of(cause, now) == TakeoverKind::stolen;
    };
    for (Takeover& takeover : takeovers_) {
        if (takeover.from == member && is_of(takeover.cause, takeover.seen_after)) {
            --takeover_kinds_[static_cast<std::size_t>(kind_of(takeover.cause, kNoTimestamp))];
            ++takeover_kinds_[static_cast<std::size_t>(TakeoverKind::stolen)];
            takeover.seen_after = now;
        }
    }
    for (auto& [name, topic] : topics_) {
        for (Ownership& ownership : topic.partitions) {
            if (ownership.previous == member && is_of(ownership.cause, ownership.previous_seen)) {
                ownership.previous_seen = now;
            }
        }
    }
}

}  // namespace partita::insight
