#include "broker/groups/classic_group.h"

#include <algorithm>
#include <cstring>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_table.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

bool same_bytes(Bytes left, Bytes right) {
    return left.size() == right.size() && (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

bool is_allowed(GroupState from, GroupState to) {
    using enum GroupState;
    switch (to) {
        case preparing_rebalance:
            return from == empty || from == completing_rebalance || from == stable;
        case completing_rebalance:
            return from == preparing_rebalance;
        case empty:
        case stable:
        case dead:
            break;
    }
    return false;
}

}  // namespace

std::string_view state_name(GroupState state) {
    switch (state) {
        case GroupState::empty:
            return "Empty";
        case GroupState::preparing_rebalance:
            return "PreparingRebalance";
        case GroupState::completing_rebalance:
            return "CompletingRebalance";
        case GroupState::stable:
            return "Stable";
        case GroupState::dead:
            return "Dead";
    }
    return "";
}

std::vector<MemberProtocol> owned(std::span<const JoinGroup::Protocol> protocols) {
    std::vector<MemberProtocol> result;
    result.reserve(protocols.size());
    for (const JoinGroup::Protocol& protocol : protocols) {
        // A repeated name counts once, with its first metadata.
        if (std::ranges::find(result, protocol.name, &MemberProtocol::name) == result.end()) {
            result.push_back({std::string(protocol.name), {protocol.metadata.begin(), protocol.metadata.end()}});
        }
    }
    return result;
}

const OwnedBytes* Member::metadata(std::string_view protocol) const {
    const auto found = std::ranges::find(protocols, protocol, &MemberProtocol::name);
    return found == protocols.end() ? nullptr : &found->metadata;
}

bool Member::has_protocols(std::span<const JoinGroup::Protocol> others) const {
    return std::ranges::equal(protocols, others, [](const MemberProtocol& mine, const JoinGroup::Protocol& other) {
        return mine.name == other.name && same_bytes(mine.metadata, other.metadata);
    });
}

void ClassicGroup::transition_to(GroupState next, TimestampMs now) {
    PARTITA_ASSERT(is_allowed(state_, next), "the group state machine has this transition");
    previous_state_ = state_;
    state_ = next;
    state_since = now;
}

void ClassicGroup::apply(const GroupMetadataRecord& record) {
    generation = record.generation.value;
    if (record.protocol_type.empty() && record.members.empty()) {
        protocol_type.reset();
    } else {
        protocol_type = std::string(record.protocol_type);
    }
    protocol = owned_text(record.protocol);
    if (has_members_of(record)) {
        auto stored = record.members.begin();
        for (const auto& [order, member] : members_) {
            apply_to(*member, *stored++, protocol.value_or(""));
        }
    } else {
        replace_members(record);
    }
    leader = record.leader ? find(*record.leader) : nullptr;
    if (leader == nullptr && !members_.empty()) {
        leader = members_.begin()->second.get();
    }
    previous_state_ = state_;
    state_ = members_.empty() ? GroupState::empty : GroupState::stable;
    state_since = record.current_state_timestamp;
    update_topics();
}

bool ClassicGroup::has_members_of(const GroupMetadataRecord& record) const {
    return std::ranges::equal(record.members, members_, [](const MemberRecord& stored, const auto& known) {
        return stored.member_id == known.second->id && stored.group_instance_id == known.second->instance_id;
    });
}

/// Only a replay comes here: a live group that seals a generation already has its members.
void ClassicGroup::replace_members(const GroupMetadataRecord& record) {
    for (const auto& [order, member] : members_) {
        PARTITA_ASSERT(!member->waiting_join && !member->waiting_sync, "a member is answered before it is removed");
    }
    by_id_.clear();
    by_instance_id_.clear();
    supported_.clear();
    leader = nullptr;
    owed_syncs = 0;
    members_.clear();
    for (const MemberRecord& stored : record.members) {
        // A log of another program may repeat a member; the first entry is as good as the second.
        if (find(stored.member_id) != nullptr ||
            (stored.group_instance_id && find_static(*stored.group_instance_id) != nullptr)) {
            continue;
        }
        apply_to(add(stored.member_id, stored.group_instance_id, record.protocol_type, {}), stored, protocol.value_or(""));
    }
}

void ClassicGroup::apply_to(Member& member, const MemberRecord& stored, std::string_view chosen) {
    member.client_id = stored.client_id;
    member.client_host = stored.client_host;
    member.session_timeout_ms = stored.session_timeout_ms;
    member.rebalance_timeout_ms = stored.rebalance_timeout_ms == -1 ? stored.session_timeout_ms : stored.rebalance_timeout_ms;
    member.assignment_.assign(stored.assignment.begin(), stored.assignment.end());
    const OwnedBytes* said = member.metadata(chosen);
    if (said == nullptr || !same_bytes(*said, stored.subscription)) {
        count_protocols(member, -1);
        member.protocols = {{std::string(chosen), {stored.subscription.begin(), stored.subscription.end()}}};
        count_protocols(member, 1);
    }
}

Member* ClassicGroup::find(std::string_view member_id) const {
    const auto found = by_id_.find(member_id);
    return found == by_id_.end() ? nullptr : found->second;
}

Member* ClassicGroup::find_static(std::string_view instance_id) const {
    const auto found = by_instance_id_.find(instance_id);
    return found == by_instance_id_.end() ? nullptr : found->second;
}

ErrorCode ClassicGroup::validate(std::string_view member_id, std::optional<std::string_view> instance_id) const {
    if (instance_id) {
        const Member* member = find_static(*instance_id);
        if (member == nullptr) {
            return ErrorCode::unknown_member_id;
        }
        if (member->id != member_id) {
            return ErrorCode::fenced_instance_id;
        }
    }
    return find(member_id) == nullptr ? ErrorCode::unknown_member_id : ErrorCode::none;
}

Member& ClassicGroup::add(std::string_view member_id, std::optional<std::string_view> instance_id,
                          std::string_view member_protocol_type, std::vector<MemberProtocol> protocols) {
    PARTITA_ASSERT(find(member_id) == nullptr, "a member id is added once");
    PARTITA_ASSERT(!instance_id || find_static(*instance_id) == nullptr, "an instance id is added once");
    group().listing.note_change();
    if (members_.empty()) {
        protocol_type = std::string(member_protocol_type);
    }
    const std::uint64_t order = next_order_++;
    Member& member = *members_.emplace(order, std::make_unique<Member>(group(), order)).first->second;
    member.id = member_id;
    by_id_.emplace(member.id, &member);
    if (instance_id) {
        member.instance_id = std::string(*instance_id);
        by_instance_id_.emplace(*member.instance_id, &member);
    }
    member.protocols = std::move(protocols);
    count_protocols(member, 1);
    if (leader == nullptr) {
        leader = &member;
    }
    if (const auto waiting = pending.find(member_id); waiting != pending.end()) {
        pending.erase(waiting);
    }
    return member;
}

void ClassicGroup::remove(std::string_view member_id) {
    if (const auto waiting = pending.find(member_id); waiting != pending.end()) {
        pending.erase(waiting);
        return;
    }
    Member* member = find(member_id);
    if (member == nullptr) {
        return;
    }
    PARTITA_ASSERT(!member->waiting_join && !member->waiting_sync, "a member is answered before it is removed");
    group().listing.note_change();
    count_protocols(*member, -1);
    owed_syncs -= member->owes_sync ? 1 : 0;
    by_id_.erase(member->id);
    if (member->instance_id) {
        by_instance_id_.erase(*member->instance_id);
    }
    const bool was_leader = leader == member;
    members_.erase(member->order);
    if (was_leader) {
        leader = members_.empty() ? nullptr : members_.begin()->second.get();
    }
}

void ClassicGroup::rename(Member& member, std::string_view new_id) {
    by_id_.erase(member.id);
    member.id = new_id;
    by_id_.emplace(member.id, &member);
}

void ClassicGroup::set_protocols(Member& member, std::span<const JoinGroup::Protocol> protocols) {
    if (member.has_protocols(protocols)) {
        return;
    }
    group().listing.note_change();
    count_protocols(member, -1);
    member.protocols = owned(protocols);
    count_protocols(member, 1);
}

void ClassicGroup::withdraw_assignments() {
    group().listing.note_change();
    for (const auto& [order, member] : members_) {
        member->assignment_.clear();
    }
}

const OwnedBytes* ClassicGroup::metadata_of(const Member& member) const {
    const OwnedBytes* metadata = protocol ? member.metadata(*protocol) : nullptr;
    return metadata == nullptr && !member.protocols.empty() ? &member.protocols.front().metadata : metadata;
}

std::int32_t ClassicGroup::rebalance_timeout_ms() const {
    std::int32_t longest = 0;
    for (const auto& [order, member] : members_) {
        longest = std::max(longest, member->rebalance_timeout_ms);
    }
    return longest;
}

bool ClassicGroup::elect_joined_leader() {
    if (leader != nullptr && leader->waiting_join) {
        return true;
    }
    for (const auto& [order, member] : members_) {
        if (member->waiting_join) {
            leader = member.get();
            return true;
        }
    }
    return false;
}

bool ClassicGroup::supports(std::string_view type, std::span<const JoinGroup::Protocol> protocols) const {
    if (is(GroupState::empty)) {
        return !type.empty() && !protocols.empty();
    }
    if (!protocol_type || *protocol_type != type) {
        return false;
    }
    return std::ranges::any_of(protocols, [this](const JoinGroup::Protocol& protocol) {
        const auto found = supported_.find(protocol.name);
        const std::int32_t supporters = found == supported_.end() ? 0 : found->second;
        return std::cmp_equal(supporters, members_.size());
    });
}

std::string ClassicGroup::select_protocol() const {
    PARTITA_ASSERT(!members_.empty(), "only a group with members has a protocol");
    struct Candidate {
        std::string_view name;
        std::int32_t votes = 0;
    };
    std::vector<Candidate> candidates;
    for (const MemberProtocol& protocol : members_.begin()->second->protocols) {
        const auto found = supported_.find(protocol.name);
        if (found != supported_.end() && std::cmp_equal(found->second, members_.size())) {
            candidates.push_back({protocol.name, 0});
        }
    }
    // A member needs a protocol that all others support, so there always is a candidate. A member may leave and return with other
    // protocols; then the group refuses it as inconsistent.
    PARTITA_ASSERT(!candidates.empty(), "members of a group have a protocol in common");
    for (const auto& [order, member] : members_) {
        for (const MemberProtocol& protocol : member->protocols) {
            const auto choice = std::ranges::find(candidates, protocol.name, &Candidate::name);
            if (choice != candidates.end()) {
                ++choice->votes;
                break;
            }
        }
    }
    return std::string(std::ranges::max_element(candidates, {}, &Candidate::votes)->name);
}

bool ClassicGroup::uses_consumer_protocol() const { return protocol_type && *protocol_type == kConsumerProtocolType; }

void ClassicGroup::update_topics() {
    group().listing.note_change();
    topics.reset();
    if (!uses_consumer_protocol()) {
        return;
    }
    if (members_.empty()) {
        topics.emplace();
        return;
    }
    if (!protocol) {
        return;
    }
    TextSet found;
    Bytes previous;
    for (const auto& [order, member] : members_) {
        const OwnedBytes* metadata = member->metadata(*protocol);
        if (metadata == nullptr) {
            return;
        }
        // Most groups consist of many copies of one program.
        if (!metadata->empty() && same_bytes(*metadata, previous)) {
            continue;
        }
        previous = *metadata;
        const auto member_topics = subscribed_topics(*metadata);
        if (!member_topics) {
            return;
        }
        for (const std::string_view topic : *member_topics) {
            if (!found.contains(topic)) {
                found.emplace(topic);
            }
        }
    }
    topics = std::move(found);
}

bool ClassicGroup::is_subscribed_to(std::string_view topic) const {
    return topics ? topics->contains(topic) : uses_consumer_protocol();
}

void ClassicGroup::count_protocols(const Member& member, std::int32_t change) {
    for (const MemberProtocol& protocol : member.protocols) {
        const auto entry = supported_.try_emplace(protocol.name, 0).first;
        entry->second += change;
        if (entry->second == 0) {
            supported_.erase(entry);
        }
    }
}

/// Kafka's rules for commits.
ErrorCode ClassicGroup::refuse_commit(const OffsetCommit& command, CommitKind kind) const {
    if (command.generation.value < 0 && is(GroupState::empty)) {
        // An administrator, or a consumer that assigns itself.
        return ErrorCode::none;
    }
    if (command.generation.value >= 0 || !command.member_id.empty() || command.group_instance_id) {
        if (const ErrorCode error = validate(command.member_id, command.group_instance_id); error != ErrorCode::none) {
            return error;
        }
        if (command.generation.value != generation) {
            return ErrorCode::illegal_generation;
        }
    } else if (kind == CommitKind::plain) {
        return ErrorCode::unknown_member_id;
    }
    // PreparingRebalance accepts commits: clients commit their work before they give up partitions. In CompletingRebalance the
    // generation is already the new one.
    const bool is_too_late = kind == CommitKind::plain && is(GroupState::completing_rebalance);
    return is_too_late ? ErrorCode::rebalance_in_progress : ErrorCode::none;
}

void ClassicGroup::committed(std::string_view member_id, TimerQueue& timers, Now now) {
    if (is(GroupState::stable) || is(GroupState::preparing_rebalance)) {
        Member& member = *find(member_id);
        timers.schedule(member.session_timer, now.monotonic + member.session_timeout_ms);
    }
}

OffsetUse ClassicGroup::offset_use() const {
    if (!protocol_type) {
        return {};
    }
    if (!empty()) {
        const bool unused_topics_are_known = is(GroupState::stable) && uses_consumer_protocol() && topics;
        return {.is_everything_used = !unused_topics_are_known, .unused_since = std::nullopt};
    }
    return {.is_everything_used = false, .unused_since = state_since == kNoTimestamp ? std::nullopt : std::optional(state_since)};
}

void ClassicGroup::end(GroupTable& table, Effects& effects) const {
    table.change(GroupTombstone{effects.arena.copy(id())}, effects);
}

GroupMetadataRecord record_of(const ClassicGroup& group, Arena& arena) {
    GroupMetadataRecord record{.group_id = arena.copy(group.id()),
                               .protocol_type = arena.copy(group.protocol_type.value_or("")),
                               .generation = {group.generation},
                               .current_state_timestamp = group.state_since};
    if (group.protocol) {
        record.protocol = arena.copy(*group.protocol);
    }
    if (group.leader != nullptr) {
        record.leader = arena.copy(group.leader->id);
    }
    record.members.reserve(group.size());
    for (const auto& [order, member] : group.members()) {
        MemberRecord& stored = record.members.emplace_back();
        stored.member_id = arena.copy(member->id);
        if (member->instance_id) {
            stored.group_instance_id = arena.copy(*member->instance_id);
        }
        stored.client_id = arena.copy(member->client_id);
        stored.client_host = arena.copy(member->client_host);
        stored.rebalance_timeout_ms = member->rebalance_timeout_ms;
        stored.session_timeout_ms = member->session_timeout_ms;
        const OwnedBytes* metadata = group.protocol ? member->metadata(*group.protocol) : nullptr;
        PARTITA_ASSERT(metadata != nullptr, "members of a persisted group support its protocol");
        stored.subscription = as_bytes(arena.copy(as_text(*metadata)));
        stored.assignment = as_bytes(arena.copy(as_text(member->assignment())));
    }
    return record;
}

}  // namespace partita::groups
