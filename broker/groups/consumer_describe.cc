#include <algorithm>
#include <utility>

#include "broker/groups/consumer_rules.h"
#include "broker/groups/replies.h"

namespace partita::groups {
namespace {

/// Leaves out deleted topics, which have no name any more.
std::vector<ConsumerGroupDescribeResult::Topic> named(const assignors::Assignment& assignment, const ClusterView& cluster) {
    std::vector<ConsumerGroupDescribeResult::Topic> result;
    for (const assignors::TopicPartitions& held : assignment) {
        if (const auto topic = cluster.find(held.topic_id)) {
            result.push_back({held.topic_id, std::string(topic->name), held.partitions});
        }
    }
    return result;
}

/// Within a topic the partitions that the member may keep come first, as in Kafka.
assignors::Assignment everything_held(const MemberProgress& progress) {
    assignors::Assignment held = without_epochs(progress.assigned);
    assignors::Assignment pending = without_epochs(progress.pending_revocation);
    for (assignors::TopicPartitions& topic : pending) {
        const auto place = std::ranges::lower_bound(held, topic.topic_id, {}, &assignors::TopicPartitions::topic_id);
        if (place != held.end() && place->topic_id == topic.topic_id) {
            place->partitions.insert(place->partitions.end(), topic.partitions.begin(), topic.partitions.end());
        } else {
            held.insert(place, std::move(topic));
        }
    }
    return held;
}

ConsumerGroupDescribeResult::Member described(const ConsumerMember& member, const ClusterView& cluster) {
    const MemberSubscription& subscription = member.subscription;
    return {
        .member_id = member.id,
        .instance_id = subscription.instance_id,
        .rack_id = subscription.rack_id,
        .member_epoch = member.progress.epoch,
        .client_id = subscription.client_id,
        .client_host = subscription.client_host,
        .topic_names = subscription.topic_names,
        .topic_regex = subscription.topic_regex,
        .assignment = named(everything_held(member.progress), cluster),
        .target_assignment = member.target ? named(*member.target, cluster) : std::vector<ConsumerGroupDescribeResult::Topic>(),
        .protocol = member.protocol()};
}

}  // namespace

void ConsumerRules::decide(const ConsumerGroupDescribe& command, Now, Effects& effects) {
    ConsumerGroupDescribeResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        ConsumerGroupDescribeResult::Group& described_group = result.groups.emplace_back();
        described_group.group_id = group_id;
        const Group* group = table_.find(group_id);
        const ConsumerGroup* consumer = group == nullptr ? nullptr : group->as<ConsumerGroup>();
        if (consumer == nullptr) {
            described_group.error = ErrorCode::group_id_not_found;
            described_group.error_message =
                "Group " + std::string(group_id) + (group == nullptr ? " not found." : " is not a consumer group.");
            continue;
        }
        described_group.state = consumer->state_text();
        described_group.epoch = consumer->epoch();
        described_group.assignment_epoch = consumer->assignment_epoch();
        described_group.assignor = consumer->preferred_assignor().value_or(environment_.config.consumer_assignors.value.front());
        described_group.members.reserve(consumer->size());
        for (const auto& [id, member] : consumer->members()) {
            described_group.members.push_back(described(member, *environment_.cluster));
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
