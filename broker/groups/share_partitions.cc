#include <algorithm>
#include <utility>

#include "broker/groups/replies.h"
#include "broker/groups/share_rules.h"

// The partitions of which the share coordinator keeps state for a share group.

namespace partita::groups {
namespace {

using Topics = std::map<TopicId, SharedPartitions::Topic>;

void unite(Topics& topics, const TopicId& id, std::string_view name, std::span<const std::int32_t> partitions) {
    SharedPartitions::Topic& topic = topics[id];
    topic.name = name;
    topic.partitions.insert(partitions.begin(), partitions.end());
}

void take_out(Topics& topics, const TopicId& id, std::span<const std::int32_t> partitions) {
    const auto found = topics.find(id);
    if (found == topics.end()) {
        return;
    }
    for (const std::int32_t partition : partitions) {
        found->second.partitions.erase(partition);
    }
    if (found->second.partitions.empty()) {
        topics.erase(found);
    }
}

std::string name_of(const ClusterView& cluster, const TopicId& id) {
    const auto topic = cluster.find(id);
    return topic ? std::string(topic->name) : "<UNKNOWN>";
}

assignors::Assignment listed(const Topics& topics) {
    assignors::Assignment result;
    for (const auto& [id, topic] : topics) {
        result.push_back({id, {topic.partitions.begin(), topic.partitions.end()}});
    }
    return result;
}

}  // namespace

void ShareRules::change_partitions(std::string_view group_id, SharedPartitions partitions, Effects& effects) {
    table_.change(group_id, SharedPartitionsRecord{{}, std::move(partitions)}, effects);
}

assignors::Assignment ShareRules::begin_partitions(const ShareGroup& group, Now now, Effects& effects) {
    SharedPartitions partitions = group.shared();
    assignors::Assignment begun;
    for (const std::string_view name : group.subscribed_topics()) {
        const auto topic = environment_.cluster->find(name);
        if (!topic) {
            continue;
        }
        std::set<std::int32_t> known;
        if (const auto found = partitions.initialized.find(topic->topic_id); found != partitions.initialized.end()) {
            known = found->second.partitions;
        }
        // Another heartbeat may be about to initialize them, or has failed to.
        const auto since = group.initializing_since.find(topic->topic_id);
        const auto pending = partitions.initializing.find(topic->topic_id);
        if (pending != partitions.initializing.end() && since != group.initializing_since.end() &&
            now.monotonic - since->second < environment_.config.share_initialize_retry_interval_ms) {
            known.insert(pending->second.partitions.begin(), pending->second.partitions.end());
        }
        assignors::TopicPartitions missing{.topic_id = topic->topic_id, .partitions = {}};
        for (std::int32_t index = 0; index < topic->partition_count; ++index) {
            if (!known.contains(index)) {
                missing.partitions.push_back(index);
            }
        }
        if (!missing.partitions.empty()) {
            unite(partitions.initializing, topic->topic_id, name, missing.partitions);
            partitions.deleting.erase(topic->topic_id);
            group.initializing_since[topic->topic_id] = now.monotonic;
            begun.push_back(std::move(missing));
        }
    }
    if (!begun.empty()) {
        change_partitions(group.id(), std::move(partitions), effects);
    }
    return begun;
}

void ShareRules::decide(const ShareInitialized& command, Now, Effects& effects) {
    const ShareGroup* group = table_.find_as<ShareGroup>(command.group_id);
    if (group != nullptr && !command.partitions.empty()) {
        SharedPartitions partitions = group->shared();
        for (const assignors::TopicPartitions& topic : command.partitions) {
            take_out(partitions.initializing, topic.topic_id, topic.partitions);
            if (command.is_done) {
                unite(partitions.initialized, topic.topic_id, name_of(*environment_.cluster, topic.topic_id), topic.partitions);
            }
            group->initializing_since.erase(topic.topic_id);
        }
        change_partitions(group->id(), std::move(partitions), effects);
    }
    reply(effects, command.reply_to, ShareDoneResult{});
}

void ShareRules::decide(const ShareGroupPartitions& command, Now, Effects& effects) {
    SharePartitionsResult result;
    const Group* known = table_.find(command.group_id);
    const ShareGroup* group = known == nullptr ? nullptr : known->as<ShareGroup>();
    if (group == nullptr) {
        result.error = ErrorCode::group_id_not_found;
        result.error_message =
            "Group " + std::string(command.group_id) + (known == nullptr ? " not found." : " is not a share group.");
    } else {
        result.partitions = listed(group->shared().initialized);
        result.group_epoch = group->epoch();
    }
    reply(effects, command.reply_to, std::move(result));
}

void ShareRules::decide(const AlterShareOffsets& command, Now now, Effects& effects) {
    SharePartitionsResult result;
    const Group* known = table_.find(command.group_id);
    const ShareGroup* group = known == nullptr ? nullptr : known->as<ShareGroup>();
    if (known != nullptr && group == nullptr) {
        result.error = ErrorCode::group_id_not_found;
        result.error_message = "Group " + std::string(command.group_id) + " is not a share group.";
    } else if (group != nullptr && !group->empty()) {
        result.error = ErrorCode::non_empty_group;
    } else {
        SharedPartitions partitions = group == nullptr ? SharedPartitions() : group->shared();
        for (const assignors::TopicPartitions& topic : command.partitions) {
            unite(partitions.initializing, topic.topic_id, name_of(*environment_.cluster, topic.topic_id), topic.partitions);
            partitions.deleting.erase(topic.topic_id);
        }
        if (!command.partitions.empty()) {
            // The record creates the group.
            change_partitions(command.group_id, std::move(partitions), effects);
            group = table_.find_as<ShareGroup>(command.group_id);
            for (const assignors::TopicPartitions& topic : command.partitions) {
                group->initializing_since[topic.topic_id] = now.monotonic;
            }
            result.group_epoch = group->epoch();
        }
        result.partitions.assign(command.partitions.begin(), command.partitions.end());
    }
    reply(effects, command.reply_to, std::move(result));
}

void ShareRules::decide(const DeleteShareOffsets& command, Now, Effects& effects) {
    SharePartitionsResult result;
    const Group* known = table_.find(command.group_id);
    const ShareGroup* group = known == nullptr ? nullptr : known->as<ShareGroup>();
    if (group == nullptr) {
        result.error = ErrorCode::group_id_not_found;
        result.error_message =
            "Group " + std::string(command.group_id) + (known == nullptr ? " not found." : " is not a share group.");
    } else if (!group->empty()) {
        result.error = ErrorCode::non_empty_group;
    } else {
        SharedPartitions partitions = group->shared();
        const auto is_asked_for = [&](const TopicId& id) {
            return !command.topics || std::ranges::find(*command.topics, id) != command.topics->end();
        };
        // A deletion that failed half way is tried again.
        for (const auto& [id, name] : partitions.deleting) {
            const auto topic = environment_.cluster->find(id);
            if (topic && is_asked_for(id)) {
                assignors::TopicPartitions& all = result.partitions.emplace_back();
                all.topic_id = id;
                for (std::int32_t index = 0; index < topic->partition_count; ++index) {
                    all.partitions.push_back(index);
                }
            }
        }
        const auto take = [&](Topics& topics) {
            std::erase_if(topics, [&](const auto& entry) {
                if (!is_asked_for(entry.first)) {
                    return false;
                }
                result.partitions.push_back({entry.first, {entry.second.partitions.begin(), entry.second.partitions.end()}});
                partitions.deleting.insert_or_assign(entry.first, entry.second.name);
                return true;
            });
        };
        take(partitions.initialized);
        if (!command.topics) {
            take(partitions.initializing);
        }
        if (partitions != group->shared()) {
            change_partitions(group->id(), std::move(partitions), effects);
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

void ShareRules::decide(const ShareDeleted& command, Now, Effects& effects) {
    if (const ShareGroup* group = table_.find_as<ShareGroup>(command.group_id)) {
        SharedPartitions partitions = group->shared();
        for (const TopicId& id : command.topics) {
            partitions.deleting.erase(id);
        }
        if (partitions != group->shared()) {
            change_partitions(group->id(), std::move(partitions), effects);
        }
    }
    reply(effects, command.reply_to, ShareDoneResult{});
}

}  // namespace partita::groups
