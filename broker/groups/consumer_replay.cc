#include <utility>

#include "broker/groups/consumer_records.h"
#include "broker/groups/core.h"
#include "protocol/assert.h"

namespace partita::groups {

namespace {

std::string text_of(const assignors::Assignment& assignment) {
    std::string out;
    for (const assignors::TopicPartitions& topic : assignment) {
        out += " " + topic.topic_id.to_string() + ":";
        for (const std::int32_t partition : topic.partitions) {
            out += std::to_string(partition) + ",";
        }
    }
    return out;
}

std::string text_of(const OwnedAssignment& assignment) {
    std::string out;
    for (const OwnedTopic& topic : assignment) {
        out += " " + topic.topic_id.to_string() + ":";
        for (const OwnedPartition& partition : topic.partitions) {
            out += std::to_string(partition.partition) + "@" + std::to_string(partition.assignment_epoch) + ",";
        }
    }
    return out;
}

std::string text_of(const ConsumerMember& member) {
    const MemberSubscription& said = member.subscription;
    std::string out = "  member " + member.id + " instance=" + said.instance_id.value_or("-") +
                      " rack=" + said.rack_id.value_or("-") + " client=" + said.client_id + "@" + said.client_host +
                      " rebalance=" + std::to_string(said.rebalance_timeout_ms) + " regex='" + said.topic_regex +
                      "' assignor=" + said.server_assignor.value_or("-") + " topics=";
    for (const std::string& name : said.topic_names) {
        out += name + ",";
    }
    if (said.classic) {
        out += " classic session=" + std::to_string(said.classic->session_timeout_ms);
        for (const MemberSubscription::Protocol& protocol : said.classic->protocols) {
            out += " " + protocol.name + "/" + std::to_string(protocol.metadata.size());
        }
    }
    const MemberProgress& progress = member.progress;
    out += "\n    epoch=" + std::to_string(progress.epoch) + " previous=" + std::to_string(progress.previous_epoch) +
           " state=" + std::to_string(static_cast<int>(progress.state)) + " assigned=" + text_of(progress.assigned) +
           " revoked=" + text_of(progress.pending_revocation);
    return out + " target=" + (member.target ? text_of(*member.target) : std::string("-")) + "\n";
}

}  // namespace

std::string dump_of(const ConsumerGroup& group) {
    std::string out = " consumer epoch=" + std::to_string(group.epoch()) + " hash=" + std::to_string(group.metadata_hash()) +
                      " assigned=" + std::to_string(group.assignment_epoch()) + "@" +
                      std::to_string(group.assignment_timestamp().value) + "\n";
    for (const auto& [id, member] : group.members()) {
        out += text_of(*member);
    }
    for (const auto& [regex, resolved] : group.resolved_regexes()) {
        out += "  regex '" + regex + "' version=" + std::to_string(resolved.version) +
               " at=" + std::to_string(resolved.timestamp.value) + " topics=";
        for (const std::string& topic : resolved.topics) {
            out += topic + ",";
        }
        out += "\n";
    }
    return out;
}

ConsumerGroup& GroupCoordinator::Core::replayed_consumer_group(std::string_view group_id) {
    Group* group = find_group(group_id);
    if (group == nullptr) {
        group = &create_group(group_id, kNoTimestamp);
    }
    // What is left of a classic group of that name are its offsets.
    return group->consumer() != nullptr ? *group->consumer() : group->become_consumer();
}

void GroupCoordinator::Core::replay_one(const ConsumerGroupTombstone& record) {
    Group* group = find_group(record.group_id);
    if (group == nullptr || group->consumer() == nullptr) {
        return;
    }
    group->consumer()->apply(record);
    if (record.kind == ConsumerGroupTombstone::Kind::group) {
        if (group->offsets.empty()) {
            groups_.erase(groups_.find(record.group_id));
        } else {
            group->become_classic(kNoTimestamp);
        }
    }
}

void GroupCoordinator::Core::restart_consumer_timers(Group& group, Now now) {
    for (const auto& [id, member] : group.consumer()->members()) {
        restart_consumer_session(group, *member, now);
        if (!member->is_classic() && member->progress.state == MemberState::unrevoked_partitions) {
            timers_.schedule(member->rebalance_timer, now.monotonic + member->subscription.rebalance_timeout_ms);
        }
    }
}

void GroupCoordinator::Core::persist_end_of(ConsumerGroup& consumer, Group& group, Effects& effects) {
    using Kind = ConsumerGroupTombstone::Kind;
    std::vector<std::string> ids;
    for (const auto& [id, member] : consumer.members()) {
        ids.push_back(id);
    }
    for (const Kind kind : {Kind::current_assignment, Kind::target_assignment}) {
        for (const std::string& id : ids) {
            change(group, ConsumerGroupTombstone{kind, {}, id}, effects);
        }
    }
    change(group, ConsumerGroupTombstone{Kind::target_assignment_epoch, {}, {}}, effects);
    for (const std::string& id : ids) {
        change(group, ConsumerGroupTombstone{Kind::member, {}, id}, effects);
    }
    std::vector<std::string> regexes;
    for (const auto& [regex, resolved] : consumer.resolved_regexes()) {
        regexes.push_back(regex);
    }
    for (const std::string& regex : regexes) {
        change(group, ConsumerGroupTombstone{Kind::regular_expression, {}, regex}, effects);
    }
    change(group, ConsumerGroupTombstone{Kind::group, {}, {}}, effects);
}

ClassicGroup& GroupCoordinator::Core::replace_consumer_group(Group& group, TimestampMs since, Effects& effects) {
    persist_end_of(*group.consumer(), group, effects);
    return group.become_classic(since);
}

}  // namespace partita::groups
