#include <cstdio>
#include <utility>

#include "broker/groups/consumer_records.h"
#include "broker/groups/core.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

void append_hex(std::string& out, Bytes bytes) {
    for (const std::byte byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
        out += digits;
    }
}

std::string dump_of(const ClassicGroup& group) {
    if (!group.is(GroupState::empty) && !group.is(GroupState::stable)) {
        return " rebalancing\n";
    }
    std::string out = " type=" + group.protocol_type.value_or("") + " generation=" + std::to_string(group.generation);
    out += " protocol=" + group.protocol.value_or("-");
    out += " leader=" + (group.leader == nullptr ? std::string("-") : group.leader->id);
    // A group without type counts from its commits, so when it became Empty is nowhere written.
    out += " since=" + (group.protocol_type ? std::to_string(group.state_since.value) : std::string("-"));
    out += "\n";
    for (const auto& [order, member] : group.members()) {
        out += "  member " + member->id + " instance=" + member->instance_id.value_or("-") + " client=" + member->client_id +
               "@" + member->client_host + " session=" + std::to_string(member->session_timeout_ms) +
               " rebalance=" + std::to_string(member->rebalance_timeout_ms) + " metadata=";
        if (const OwnedBytes* metadata = member->metadata(group.protocol.value_or(""))) {
            append_hex(out, *metadata);
        }
        out += " assignment=";
        append_hex(out, member->assignment());
        out += "\n";
    }
    return out;
}

}  // namespace

void GroupCoordinator::Core::replay(const Record& record) {
    PARTITA_ASSERT(!loaded_, "records are replayed before the coordinator is used");
    std::visit([this](const auto& one) { replay_one(one); }, record);
}

void GroupCoordinator::Core::replay_one(const OffsetCommitRecord& record) {
    Group* group = find_group(record.group_id);
    if (group == nullptr) {
        // Offsets of a group that was never joined are all there is of it.
        group = &create_group(record.group_id, record.commit_timestamp);
    }
    const auto topic = group->offsets.find_or_add(record.topic);
    topic->second.insert_or_assign(record.partition, CommittedOffset{.offset = record.offset,
                                                                     .commit_timestamp = record.commit_timestamp,
                                                                     .expire_timestamp = record.expire_timestamp,
                                                                     .topic_id = record.topic_id,
                                                                     .leader_epoch = record.leader_epoch,
                                                                     .metadata = std::string(record.metadata)});
}

void GroupCoordinator::Core::replay_one(const OffsetTombstone& record) {
    Group* group = find_group(record.group_id);
    if (group == nullptr) {
        return;
    }
    const auto topic = group->offsets.find(record.topic);
    if (topic != group->offsets.end() && topic->second.erase(record.partition) > 0 && topic->second.empty()) {
        group->offsets.erase(topic);
    }
}

void GroupCoordinator::Core::replay_one(const GroupMetadataRecord& record) {
    // The record says all that it is now; its offsets have records of their own.
    Group* known = find_group(record.group_id);
    ClassicGroup& group = known != nullptr ? known->become_classic(record.current_state_timestamp)
                                           : *create_group(record.group_id, record.current_state_timestamp).classic();
    group.generation = record.generation.value;
    if (!record.protocol_type.empty()) {
        group.protocol_type = std::string(record.protocol_type);
    }
    group.protocol = owned_text(record.protocol);
    for (const MemberRecord& stored : record.members) {
        // A log that another program wrote may say a member twice; the first is as good as the second.
        if (group.find(stored.member_id) != nullptr ||
            (stored.group_instance_id && group.find_static(*stored.group_instance_id) != nullptr)) {
            continue;
        }
        std::vector<MemberProtocol> protocols;
        protocols.push_back({group.protocol.value_or(""), {stored.subscription.begin(), stored.subscription.end()}});
        Member& member = group.add(stored.member_id, stored.group_instance_id, record.protocol_type, std::move(protocols));
        member.client_id = stored.client_id;
        member.client_host = stored.client_host;
        member.session_timeout_ms = stored.session_timeout_ms;
        member.rebalance_timeout_ms = stored.rebalance_timeout_ms == -1 ? stored.session_timeout_ms : stored.rebalance_timeout_ms;
        group.assign(member, stored.assignment);
    }
    if (record.leader) {
        if (Member* leader = group.find(*record.leader)) {
            group.leader = leader;
        }
    }
    group.restore_state(group.size() == 0 ? GroupState::empty : GroupState::stable, record.current_state_timestamp);
    group.update_topics();
}

void GroupCoordinator::Core::replay_one(const GroupTombstone& record) {
    const auto known = groups_.find(record.group_id);
    if (known == groups_.end() || known->second->consumer() != nullptr) {
        // A classic group that became a consumer group ended before the records of what it became.
        return;
    }
    // Offsets have tombstones of their own and live on in a group without members when those are missing.
    if (known->second->offsets.empty()) {
        groups_.erase(known);
    } else {
        known->second->become_classic(kNoTimestamp);
    }
}

void GroupCoordinator::Core::loaded(Now now, Effects& effects) {
    PARTITA_ASSERT(!loaded_, "a coordinator is loaded once");
    loaded_ = true;
    for (Group* group : groups_in_order()) {
        if (group->consumer() != nullptr) {
            restart_consumer_timers(*group, now);
            continue;
        }
        ClassicGroup& classic = *group->classic();
        for (const auto& [order, member] : classic.members()) {
            restart_session(*member, now);
        }
        if (std::cmp_greater(classic.size(), config_.max_size)) {
            // The limit was lowered. Rejoining sorts out who may stay, and lets everybody commit before.
            prepare_rebalance(classic, now, effects);
        }
    }
    timers_.schedule(expiration_timer_, now.monotonic + config_.offsets_retention_check_interval_ms);
}

void GroupCoordinator::Core::persist_group(const ClassicGroup& group, Effects& effects) {
    Arena& arena = effects.arena;
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
    effects.records.push_back(std::move(record));
}

std::string GroupCoordinator::Core::dump() const {
    std::string out;
    for (const Group* group : groups_in_order()) {
        out += "group " + group->id + std::visit([](const auto& kind) { return dump_of(kind); }, group->kind());
        for (const auto& [topic, partitions] : group->offsets) {
            for (const auto& [partition, committed] : partitions) {
                out += "  offset " + group->id + "/" + topic + "-" + std::to_string(partition.value) + " " +
                       std::to_string(committed.offset.value) + " epoch=" + std::to_string(committed.leader_epoch.value) +
                       " at=" + std::to_string(committed.commit_timestamp.value) +
                       " expires=" + std::to_string(committed.expire_timestamp.value) +
                       " topic_id=" + committed.topic_id.to_string() + " '" + committed.metadata + "'\n";
            }
        }
    }
    return out;
}

}  // namespace partita::groups
