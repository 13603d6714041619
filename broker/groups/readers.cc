#include "broker/groups/topic_readers.h"

#include <algorithm>
#include <utility>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/core.h"

namespace partita::groups {
namespace {

constexpr std::string_view kSeedMetadata = "seeded by expansion ";

/// What the member told the assignor in force, or its favourite one while there is none.
Bytes subscription_of(const Group& group, const Member& member) {
    const OwnedBytes* metadata = group.protocol ? member.metadata(*group.protocol) : nullptr;
    if (metadata == nullptr && !member.protocols.empty()) {
        metadata = &member.protocols.front().metadata;
    }
    return metadata == nullptr ? Bytes() : Bytes(*metadata);
}

void add_members(const Group& group, std::string_view topic, TopicReader& reader) {
    for (const auto& [order, member] : group.members()) {
        TopicReader::Member one{.member_id = member->id, .client_id = member->client_id, .client_host = member->client_host};
        if (const auto topics = subscribed_topics(subscription_of(group, *member))) {
            for (const std::string_view name : *topics) {
                one.subscribed = one.subscribed || name == topic;
                reader.subscriptions.emplace_back(name);
            }
        }
        one.assigned = assigned_partitions(member->assignment, topic);
        if (one.subscribed || !one.assigned.empty()) {
            reader.members.push_back(std::move(one));
        }
    }
    std::ranges::sort(reader.subscriptions);
    const auto repeated = std::ranges::unique(reader.subscriptions);
    reader.subscriptions.erase(repeated.begin(), repeated.end());
}

/// Members of a group of KIP-848, whose assignments and expressions the coordinator knows itself.
void add_members(const ConsumerGroup& group, std::string_view topic, const TopicId& topic_id, TopicReader& reader) {
    for (const auto& [id, member] : group.members()) {
        const MemberSubscription& wanted = member->subscription;
        TopicReader::Member one{.member_id = id, .client_id = wanted.client_id, .client_host = wanted.client_host};
        const ResolvedRegex* resolved = wanted.topic_regex.empty() ? nullptr : group.resolved(wanted.topic_regex);
        one.subscribed = std::ranges::binary_search(wanted.topic_names, topic) ||
                         (resolved != nullptr && resolved->topics.contains(std::string(topic)));
        for (const OwnedTopic& owned : member->progress.assigned) {
            for (std::size_t index = 0; owned.topic_id == topic_id && index < owned.partitions.size(); ++index) {
                one.assigned.push_back(PartitionIndex{owned.partitions[index].partition});
            }
        }
        if (one.subscribed || !one.assigned.empty()) {
            reader.members.push_back(std::move(one));
        }
    }
    for (const std::string_view name : group.subscribed_topics()) {
        reader.subscriptions.emplace_back(name);
    }
}

}  // namespace

bool TopicReader::holds_the_same_as(const TopicReader& other) const {
    bool any = false;
    for (const Member& member : members) {
        const auto same = std::ranges::find(other.members, member.member_id, &Member::member_id);
        if (same == other.members.end() ? !member.assigned.empty() : same->assigned != member.assigned) return false;
        any = any || !member.assigned.empty();
    }
    return any;
}

std::string seed_metadata(std::int32_t epoch) { return std::string(kSeedMetadata) + std::to_string(epoch); }

std::optional<std::string> GroupCoordinator::Core::protocol_of(std::string_view group_id) const {
    const auto found = groups_.find(group_id);
    if (found == groups_.end()) return std::nullopt;
    return found->second->protocol.value_or("");
}

std::vector<TopicReader> GroupCoordinator::Core::readers_of(std::string_view topic, const TopicId& topic_id) const {
    std::vector<TopicReader> readers;
    for (const Group* group : groups_in_order()) {
        TopicReader reader{.group_id = group->id,
                           .protocol_type = group->protocol_type.value_or(""),
                           .protocol = group->protocol.value_or("")};
        if (group->consumer) {
            reader.protocol_type = kConsumerProtocolType;
            add_members(*group->consumer, topic, topic_id, reader);
        } else if (group->uses_consumer_protocol()) {
            add_members(*group, topic, reader);
        }
        if (const auto known = group->offsets.find(topic); known != group->offsets.end()) {
            for (const auto& [partition, committed] : known->second) {
                if (!committed.is_of_other_topic(topic_id)) {
                    reader.committed.emplace(partition, committed.offset);
                    if (committed.offset == Offset{0} && committed.metadata.starts_with(kSeedMetadata)) {
                        reader.seeds.push_back(partition);
                    }
                }
            }
        }
        if (!reader.members.empty() || !reader.committed.empty()) {
            readers.push_back(std::move(reader));
        }
    }
    return readers;
}

void GroupCoordinator::Core::seed_offsets(const SeedOffsets& command, Now now, Effects& effects) {
    Group* group = find_group(command.group_id);
    if (group == nullptr) {
        // It had members that were never part of a generation, and the process died since. They will be back.
        group = &create_group(command.group_id, now.wall);
    }
    const std::string_view group_id = effects.arena.copy(group->id);
    const std::string_view topic = effects.arena.copy(command.topic);
    const std::string_view metadata = effects.arena.copy(command.metadata);
    PartitionOffsets& offsets = group->offsets.try_emplace(std::string(command.topic)).first->second;
    for (std::int32_t index = command.first.value; index < command.end.value; ++index) {
        const auto [known, is_new] = offsets.try_emplace(PartitionIndex{index});
        CommittedOffset& committed = known->second;
        if (!is_new && !committed.is_of_other_topic(command.topic_id)) {
            continue;
        }
        committed = {.offset = Offset{0},
                     .commit_timestamp = now.wall,
                     .topic_id = command.topic_id,
                     .leader_epoch = LeaderEpoch{0},
                     .metadata = std::string(metadata)};
        effects.records.push_back(OffsetCommitRecord{.group_id = group_id,
                                                     .topic = topic,
                                                     .partition = PartitionIndex{index},
                                                     .offset = Offset{0},
                                                     .leader_epoch = LeaderEpoch{0},
                                                     .metadata = metadata,
                                                     .commit_timestamp = now.wall,
                                                     .topic_id = command.topic_id});
    }
}

std::size_t GroupCoordinator::Core::remove_seeds(const SeedOffsets& command, Effects& effects) {
    Group* group = find_group(command.group_id);
    if (group == nullptr) {
        return 0;
    }
    const auto known = group->offsets.find(command.topic);
    if (known == group->offsets.end()) {
        return 0;
    }
    const std::string_view group_id = effects.arena.copy(group->id);
    const std::string_view topic = effects.arena.copy(command.topic);
    const std::size_t removed = std::erase_if(known->second, [&](const auto& entry) {
        const auto& [partition, committed] = entry;
        const bool as_seeded = partition >= command.first && partition < command.end &&
                               committed.offset == Offset{0} && committed.metadata == command.metadata &&
                               committed.topic_id == command.topic_id;
        if (as_seeded) {
            effects.records.push_back(OffsetTombstone{group_id, topic, partition});
        }
        return as_seeded;
    });
    if (known->second.empty()) {
        group->offsets.erase(known);
    }
    return removed;
}

}  // namespace partita::groups
