#include <cstdio>
#include <variant>

#include "broker/groups/group_table.h"

/// What is durable, as text.

namespace partita::groups {
namespace {

void append_hex(std::string& out, Bytes bytes) {
    for (const std::byte byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
        out += digits;
    }
}

std::string text_of(const ClassicGroup& group) {
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

std::string text_of(const ConsumerGroup& group) {
    std::string out = " consumer epoch=" + std::to_string(group.epoch()) + " hash=" + std::to_string(group.metadata_hash()) +
                      " assigned=" + std::to_string(group.assignment_epoch()) + "@" +
                      std::to_string(group.assignment_timestamp().value) + "\n";
    for (const auto& [id, member] : group.members()) {
        out += text_of(member);
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

}  // namespace

std::string GroupTable::dump() const {
    std::string out;
    for (const Group* group : in_order()) {
        out += "group " + group->id + std::visit([](const auto& kind) { return text_of(kind); }, group->kind());
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
    return out + pending_.dump();
}

}  // namespace partita::groups
