#include "broker/groups/consumer_group.h"

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

std::string ConsumerGroup::dump() const {
    std::string out = " consumer epoch=" + std::to_string(epoch_) + " hash=" + std::to_string(metadata_hash_) +
                      " assigned=" + std::to_string(assignment_epoch_) + "@" + std::to_string(assignment_timestamp_.value) + "\n";
    for (const auto& [id, member] : members_) {
        out += text_of(member);
    }
    for (const auto& [regex, resolved] : resolved_) {
        out += "  regex '" + regex + "' version=" + std::to_string(resolved.version) +
               " at=" + std::to_string(resolved.timestamp.value) + " topics=";
        for (const std::string& topic : resolved.topics) {
            out += topic + ",";
        }
        out += "\n";
    }
    return out;
}

}  // namespace partita::groups
