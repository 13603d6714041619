#include "broker/insight/history/group_history.h"

#include <algorithm>
#include <numeric>

#include "protocol/assert.h"

namespace partita::insight {

namespace {

/// The names of Kafka's assignors whose members keep their partitions during a rebalance begin with this (KIP-429).
constexpr std::string_view kCooperative = "cooperative";

}  // namespace

std::string_view to_string(RebalanceCause cause) {
    constexpr std::array<std::string_view, kRebalanceCauses> kNames = {
        "joined",         "rejoined",     "restarted",      "left",     "session_expired",
        "did_not_rejoin", "did_not_sync", "did_not_revoke", "left_out", "subscription_changed",
        "topics_changed", "converted",    "fenced"};
    return kNames.at(static_cast<std::size_t>(cause));
}

bool is_departure(RebalanceCause cause) {
    switch (cause) {
        case RebalanceCause::left:
        case RebalanceCause::session_expired:
        case RebalanceCause::did_not_rejoin:
        case RebalanceCause::did_not_sync:
        case RebalanceCause::did_not_revoke:
        case RebalanceCause::left_out:
            return true;
        case RebalanceCause::joined:
        case RebalanceCause::rejoined:
        case RebalanceCause::restarted:
        case RebalanceCause::subscription_changed:
        case RebalanceCause::topics_changed:
        case RebalanceCause::converted:
        case RebalanceCause::fenced:
            return false;
    }
    return false;
}

std::string_view to_string(TakeoverCause cause) {
    constexpr std::array<std::string_view, kTakeoverCauses> kNames = {"normal", "left", "restarted", "lost", "stolen"};
    return kNames.at(static_cast<std::size_t>(cause));
}

std::string_view to_string(TakeoverKind kind) {
    constexpr std::array<std::string_view, kTakeoverKinds> kNames = {"normal", "lost", "stolen"};
    return kNames.at(static_cast<std::size_t>(kind));
}

TakeoverKind kind_of(TakeoverCause cause, TimestampMs seen_after) {
    if (cause == TakeoverCause::normal || cause == TakeoverCause::left) {
        return TakeoverKind::normal;
    }
    if (seen_after != kNoTimestamp || cause == TakeoverCause::stolen) {
        return TakeoverKind::stolen;
    }
    return cause == TakeoverCause::lost ? TakeoverKind::lost : TakeoverKind::normal;
}

std::int32_t GroupHistory::find_member(std::string_view member_id) const {
    const auto found = member_indexes_.find(member_id);
    return found == member_indexes_.end() ? kNobody : found->second;
}

std::int32_t GroupHistory::member(const MemberNames& names, TimestampMs joined) {
    if (const std::int32_t known = find_member(names.member_id); known != kNobody) {
        return known;
    }
    const auto index = static_cast<std::int32_t>(members_.size());
    members_.push_back({.member_id = std::string(names.member_id),
                        .instance_id = names.instance_id ? std::optional(std::string(*names.instance_id)) : std::nullopt,
                        .client_id = std::string(names.client_id),
                        .client_host = std::string(names.client_host),
                        .joined = joined,
                        .gone = std::nullopt});
    member_indexes_.emplace(names.member_id, index);
    return index;
}

void GroupHistory::know(const MemberNames& names) { member(names, kNoTimestamp); }

void GroupHistory::note(RebalanceCause cause, const std::optional<MemberNames>& names, TimestampMs now,
                        std::string_view replaces) {
    std::int32_t index = kNobody;
    if (names) {
        // A refused client need not be a member, and the refusal does not make it one.
        index = cause == RebalanceCause::fenced ? find_member(names->member_id) : member(*names, now);
    }
    if (index != kNobody) {
        KnownMember& known = members_[static_cast<std::size_t>(index)];
        if (is_departure(cause)) {
            known.gone = KnownMember::Gone{now, cause};
        } else if (cause == RebalanceCause::joined || cause == RebalanceCause::restarted) {
            known.joined = now;
            known.gone.reset();
        }
    }
    if (const std::int32_t before = find_member(replaces); before != kNobody && before != index) {
        members_[static_cast<std::size_t>(before)].gone = KnownMember::Gone{now, cause};
    }
    const Event event{.cause = cause, .time = now, .member = index};
    if (is_open()) {
        count_cause(event);
        add_event(rebalances_.back(), event);
    } else if (cause == RebalanceCause::fenced) {
        if (!rebalances_.empty()) {
            count_cause(event);
            add_event(rebalances_.back(), event);
        }
    } else {
        // A call notes at most as many events as the group has members.
        pending_.push_back(event);
    }
}

void GroupHistory::note_arrival(const MemberNames& names, TimestampMs now) { last_arrival_ = member(names, now); }

std::optional<GroupHistory::Unrest> GroupHistory::unrest(TimestampMs now) const {
    const bool is_restless = is_open() || (unsettled_until_ && now.value - unsettled_until_->value <= kCalmMs);
    return is_restless ? std::optional(unrest_) : std::nullopt;
}

void GroupHistory::count_cause(const Event& event) { unrest_.causes[static_cast<std::size_t>(event.cause)] += event.times; }

void GroupHistory::add_event(Rebalance& rebalance, const Event& event) {
    const auto same = std::ranges::find_if(
        rebalance.events, [&](const Event& known) { return known.cause == event.cause && known.member == event.member; });
    if (same != rebalance.events.end()) {
        same->times += event.times;
    } else if (rebalance.events.size() < kEventsMax) {
        rebalance.events.push_back(event);
    } else {
        ++rebalance.events_left_out;
    }
}

bool GroupHistory::make_room(std::size_t partitions) {
    if (partition_count_ + partitions > kPartitionsMax) {
        // Topics that no member has any more belong to the past.
        std::erase_if(topics_, [this](const auto& entry) {
            const bool is_unused = std::ranges::all_of(entry.second.partitions, [this](const Ownership& one) {
                return one.owner == kNobody || free_since(one).has_value();
            });
            partition_count_ -= is_unused ? entry.second.partitions.size() : 0;
            return is_unused;
        });
    }
    partitions_left_out_ |= partition_count_ + partitions > kPartitionsMax;
    return partition_count_ + partitions <= kPartitionsMax;
}

GroupHistory::Ownership* GroupHistory::place(std::string_view topic, const TopicId& topic_id, std::int32_t partition) {
    PARTITA_ASSERT(partition >= 0, "partitions are counted from 0");
    const auto needed = static_cast<std::size_t>(partition) + 1;
    auto found = topics_.find(topic);
    if (found != topics_.end() && found->second.topic_id != topic_id) {
        // This is an earlier topic of the same name.
        partition_count_ -= found->second.partitions.size();
        topics_.erase(found);
        found = topics_.end();
    }
    if (found != topics_.end() && found->second.partitions.size() >= needed) {
        return &found->second.partitions[needed - 1];
    }
    const std::size_t more = needed - (found == topics_.end() ? 0 : found->second.partitions.size());
    if (!make_room(more)) {
        return nullptr;
    }
    Topic& known = topics_.try_emplace(std::string(topic)).first->second;
    known.topic_id = topic_id;
    partition_count_ += needed - known.partitions.size();
    known.partitions.resize(needed);
    return &known.partitions.back();
}

std::optional<TimestampMs> GroupHistory::free_since(const Ownership& ownership) const {
    if (ownership.owner == kNobody) {
        return std::nullopt;
    }
    const auto& gone = members_[static_cast<std::size_t>(ownership.owner)].gone;
    if (ownership.released == kNoTimestamp) {
        return gone ? std::optional(gone->time) : std::nullopt;
    }
    return ownership.released;
}

const GroupHistory::Ownership* GroupHistory::find(std::string_view topic, std::int32_t partition) const {
    const auto found = topics_.find(topic);
    if (found == topics_.end() || partition < 0 || std::cmp_greater_equal(partition, found->second.partitions.size())) {
        return nullptr;
    }
    return &found->second.partitions[static_cast<std::size_t>(partition)];
}

void GroupHistory::acquire(std::string_view topic, const TopicId& topic_id, std::int32_t partition, std::string_view member_id,
                           TimestampMs known_since, std::int32_t claim) {
    const std::int32_t to = find_member(member_id);
    Ownership* ownership = to == kNobody ? nullptr : place(topic, topic_id, partition);
    if (ownership == nullptr) {
        return;
    }
    if (sealing_) {
        auto known = sealing_->find(topic);
        if (known == sealing_->end()) {
            known = sealing_->try_emplace(std::string(topic)).first;
        }
        std::vector<bool>& kept = known->second;
        if (std::cmp_less_equal(kept.size(), partition)) {
            kept.resize(static_cast<std::size_t>(partition) + 1);
        }
        // Leaders make assignments, and a leader may give a partition to two members. The history shows the first.
        if (kept[static_cast<std::size_t>(partition)]) {
            return;
        }
        kept[static_cast<std::size_t>(partition)] = true;
    }
    if (ownership->owner == to) {
        const std::optional<TimestampMs> free = free_since(*ownership);
        if (free && *free != known_since) {
            ownership->since = known_since;
        }
        ownership->released = kNoTimestamp;
    } else if (ownership->owner == kNobody) {
        ownership->owner = to;
        ownership->since = known_since;
        if (known_since != kNoTimestamp) {
            ++(is_open() ? rebalances_.back().first_owned : pending_first_);
        }
    } else {
        take_over(topic, partition, *ownership, {.time = known_since, .to = to, .claim = claim});
    }
    ownership->claim = claim;
}

bool GroupHistory::is_flapping(const Ownership& ownership, TimestampMs now) {
    const TimestampMs first = ownership.returns.front();
    return first != kNoTimestamp && now.value - first.value <= kFlappingWindowMs;
}

std::uint64_t GroupHistory::takeover_total() const {
    return std::accumulate(takeover_counts_.begin(), takeover_counts_.end(), std::uint64_t{0});
}

void GroupHistory::take_over(std::string_view topic, std::int32_t partition, Ownership& ownership, Takeover takeover) {
    const KnownMember& before = members_[static_cast<std::size_t>(ownership.owner)];
    const KnownMember& after = members_[static_cast<std::size_t>(takeover.to)];
    const TimestampMs now = takeover.time;
    if (before.instance_id && before.instance_id == after.instance_id) {
        takeover.cause = TakeoverCause::restarted;
    } else if (before.gone) {
        takeover.cause = before.gone->cause == RebalanceCause::left ? TakeoverCause::left : TakeoverCause::lost;
    }
    TimestampMs free = free_since(ownership).value_or(now);
    if (is_open() && stands_still(rebalances_.back())) {
        free = std::min(free, rebalances_.back().began);
    }
    if (takeover.cause != TakeoverCause::restarted) {
        takeover.unowned_ms = std::max<std::int64_t>(0, now.value - free.value);
    }
    if (takeover.to == ownership.previous) {
        std::ranges::rotate(ownership.returns, ownership.returns.begin() + 1);
        ownership.returns.back() = now;
    }
    takeover.topic = topic;
    takeover.partition = partition;
    takeover.from = ownership.owner;
    takeover.claim_before = ownership.claim;
    takeover.is_flapping = is_flapping(ownership, now);
    ownership.previous = ownership.owner;
    ownership.previous_until = free;
    ownership.previous_seen = kNoTimestamp;
    ownership.owner = takeover.to;
    ownership.since = now;
    ownership.released = kNoTimestamp;
    ownership.cause = takeover.cause;
    ++takeover_counts_[static_cast<std::size_t>(takeover.cause)];
    ++takeover_kinds_[static_cast<std::size_t>(kind_of(takeover.cause, kNoTimestamp))];
    if (takeover.is_flapping) {
        ++flapping_count_;
        last_flapping_ = now;
    }
    ++(is_open() ? rebalances_.back().moved : pending_moved_);
    takeovers_.push_back(std::move(takeover));
    if (takeovers_.size() > kTakeoversMax) {
        takeovers_.pop_front();
    }
}

void GroupHistory::release(std::string_view topic, std::int32_t partition, std::string_view member_id, TimestampMs now) {
    const auto found = topics_.find(topic);
    if (found == topics_.end() || std::cmp_greater_equal(partition, found->second.partitions.size()) || partition < 0) {
        return;
    }
    Ownership& ownership = found->second.partitions[static_cast<std::size_t>(partition)];
    if (ownership.owner != kNobody && ownership.owner == find_member(member_id) && ownership.released == kNoTimestamp) {
        ownership.released = now;
    }
}

void GroupHistory::forget_topic(const TopicId& topic_id) {
    const auto gone = std::ranges::find_if(topics_, [&](const auto& entry) { return entry.second.topic_id == topic_id; });
    if (gone == topics_.end()) {
        return;
    }
    for (LateMember& late : late_members_) {
        if (late.overlap.topic == gone->first) {
            late.overlap = {};
        }
    }
    std::erase_if(late_readings_, [&](const LateReading& one) { return one.topic == gone->first; });
    partition_count_ -= gone->second.partitions.size();
    topics_.erase(gone);
}

void GroupHistory::begin_sealing() { sealing_.emplace(); }

void GroupHistory::end_sealing(TimestampMs now) {
    const auto sealed = std::exchange(sealing_, std::nullopt);
    for (auto& [name, topic] : topics_) {
        const auto kept = sealed->find(name);
        for (std::size_t partition = 0; partition < topic.partitions.size(); ++partition) {
            Ownership& ownership = topic.partitions[partition];
            const bool is_kept = kept != sealed->end() && partition < kept->second.size() && kept->second[partition];
            if (!is_kept && ownership.owner != kNobody && !free_since(ownership)) {
                ownership.released = now;
            }
        }
    }
}

// A static member that comes back to a settled group under another id keeps its partitions, and so do all others: nothing is
// shared out anew.
bool GroupHistory::stays_settled(const GroupPhase& phase) const {
    return phase.step == GroupPhase::Step::settled &&
           std::ranges::all_of(pending_, [](const Event& event) { return event.cause == RebalanceCause::restarted; });
}

void GroupHistory::open(const GroupPhase& phase, TimestampMs now) {
    const TimestampMs began = pending_.empty() ? now : pending_.front().time;
    if (!stays_settled(phase)) {
        if (!unrest(began)) {
            unrest_ = {.since = began};
        }
        ++unrest_.rebalances;
        std::ranges::for_each(pending_, [this](const Event& event) { count_cause(event); });
    }
    Rebalance& rebalance = rebalances_.emplace_back();
    ++rebalance_count_;
    if (rebalances_.size() > kRebalancesMax) {
        rebalances_.pop_front();
    }
    rebalance.generation = phase.generation;
    rebalance.type = phase.type;
    rebalance.began = began;
    for (const Event& event : pending_) {
        add_event(rebalance, event);
    }
    pending_.clear();
    rebalance.moved = std::exchange(pending_moved_, 0);
    rebalance.first_owned = std::exchange(pending_first_, 0);
}

void GroupHistory::settle(const GroupPhase& phase, TimestampMs now) {
    using Step = GroupPhase::Step;
    bool is_calm = false;
    if (!is_open()) {
        if (phase.step == Step::settled && pending_.empty()) {
            pending_moved_ = pending_first_ = 0;
            return;
        }
        is_calm = stays_settled(phase);
        open(phase, now);
    }
    Rebalance& rebalance = rebalances_.back();
    rebalance.type = phase.type;
    rebalance.members = phase.members;
    rebalance.protocol = phase.protocol;
    if (phase.step == Step::waiting_for_members && rebalance.joined) {
        ++rebalance.interruptions;
        rebalance.joined.reset();
    } else if (phase.step == Step::waiting_for_assignment && !rebalance.joined) {
        rebalance.joined = now;
        rebalance.slowest = last_arrival_;
    } else if (phase.step == Step::settled) {
        rebalance.generation = phase.generation;
        rebalance.ended = now;
        if (!is_calm) {
            unsettled_until_ = now;
        }
        if (phase.type != GroupType::classic) {
            rebalance.slowest = last_arrival_;
        }
        forget_gone_members();
    }
}

template <class Visit>
void GroupHistory::each_index(Visit visit) {
    for (auto& [topic, known] : topics_) {
        for (Ownership& ownership : known.partitions) {
            visit(ownership.owner);
            visit(ownership.previous);
            visit(ownership.committed_by);
        }
    }
    for (Takeover& takeover : takeovers_) {
        visit(takeover.from);
        visit(takeover.to);
    }
    for (Rebalance& rebalance : rebalances_) {
        visit(rebalance.slowest);
        for (Event& event : rebalance.events) {
            visit(event.member);
        }
    }
    for (Event& event : pending_) {
        visit(event.member);
    }
    for (LateMember& late : late_members_) {
        visit(late.member);
        visit(late.overlap.owner);
    }
    for (LateReading& reading : late_readings_) {
        visit(reading.member);
        visit(reading.owner);
    }
    visit(last_arrival_);
}

void GroupHistory::forget_gone_members() {
    const auto gone = std::ranges::count_if(members_, [](const KnownMember& one) { return one.gone.has_value(); });
    if (std::cmp_less_equal(gone, kGoneMembersMax)) {
        return;
    }
    std::vector<bool> is_named(members_.size());
    each_index([&](std::int32_t index) {
        if (index != kNobody) {
            is_named[static_cast<std::size_t>(index)] = true;
        }
    });
    std::vector<std::int32_t> places(members_.size(), kNobody);
    std::vector<KnownMember> kept;
    member_indexes_.clear();
    for (std::size_t index = 0; index < members_.size(); ++index) {
        if (members_[index].gone && !is_named[index]) {
            continue;
        }
        places[index] = static_cast<std::int32_t>(kept.size());
        member_indexes_.emplace(members_[index].member_id, places[index]);
        kept.push_back(std::move(members_[index]));
    }
    members_ = std::move(kept);
    each_index([&](std::int32_t& index) {
        if (index != kNobody) {
            index = places[static_cast<std::size_t>(index)];
        }
    });
}

bool stands_still(const GroupHistory::Rebalance& rebalance) {
    return rebalance.type == GroupType::classic && !rebalance.protocol.starts_with(kCooperative);
}

GroupHistories::Found GroupHistories::touch(std::string_view group_id) {
    if (news_.empty() || news_.back() != group_id) {
        news_.emplace_back(group_id);
    }
    if (const auto known = by_id_.find(group_id); known != by_id_.end()) {
        entries_.splice(entries_.begin(), entries_, known->second);
        return {entries_.front().history, false};
    }
    if (entries_.size() == kGroupsMax) {
        by_id_.erase(entries_.back().id);
        entries_.pop_back();
    }
    entries_.push_front({.id = std::string(group_id), .history = {}});
    by_id_.emplace(group_id, entries_.begin());
    return {entries_.front().history, true};
}

const GroupHistory* GroupHistories::find(std::string_view group_id) const {
    const auto known = by_id_.find(group_id);
    return known == by_id_.end() ? nullptr : &known->second->history;
}

GroupHistory* GroupHistories::find_to_change(std::string_view group_id) {
    const auto known = by_id_.find(group_id);
    return known == by_id_.end() ? nullptr : &known->second->history;
}

void GroupHistories::forget(std::string_view group_id) {
    if (const auto known = by_id_.find(group_id); known != by_id_.end()) {
        entries_.erase(known->second);
        by_id_.erase(known);
    }
}

void GroupHistories::forget_topic(const TopicId& topic_id) {
    for (Entry& entry : entries_) {
        entry.history.forget_topic(topic_id);
    }
}

void GroupHistories::settle(std::string_view group_id, const GroupPhase& phase, TimestampMs now) {
    if (const auto known = by_id_.find(group_id); known != by_id_.end()) {
        known->second->history.settle(phase, now);
    }
}

}  // namespace partita::insight
