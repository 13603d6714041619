// Gives members of a group of either protocol their partitions.

#include <algorithm>
#include <array>
#include <chrono>

#include "protocol/byte_buffer.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "tests/histories/client.h"
#include "tests/support/plain_client.h"

namespace partita::test::histories {
namespace {

using namespace std::chrono_literals;

/// Members live as long as their history, however slow the machine is.
constexpr std::int32_t kSessionTimeoutMs = 1'800'000;
constexpr int kAttempts = 40;

void put(std::string& out, std::int32_t value, int bytes) {
    for (int byte = bytes - 1; byte >= 0; --byte) {
        out += static_cast<char>(value >> (8 * byte));
    }
}

/// The consumer's Subscription, version 0. The note makes it differ from the one before, so that the group meets.
std::string subscription(const std::string& topic, int note) {
    std::string out;
    put(out, 0, 2);
    put(out, 1, 4);
    put(out, static_cast<std::int32_t>(topic.size()), 2);
    out += topic;
    put(out, 4, 4);
    put(out, note, 4);
    return out;
}

/// The consumer's Assignment, version 0.
std::string assignment(const std::string& topic, const Partitions& partitions) {
    std::string out;
    put(out, 0, 2);
    put(out, partitions.empty() ? 0 : 1, 4);
    if (!partitions.empty()) {
        put(out, static_cast<std::int32_t>(topic.size()), 2);
        out += topic;
        put(out, static_cast<std::int32_t>(partitions.size()), 4);
        for (const int partition : partitions) {
            put(out, partition, 4);
        }
    }
    put(out, -1, 4);
    return out;
}

/// Cuts as Kafka's range assignor does.
Partitions range_of(int member, int members, int partitions) {
    const int least = partitions / members;
    const int larger = partitions % members;
    const int begin = member * least + std::min(member, larger);
    Partitions range;
    for (int partition = begin; partition < begin + least + (member < larger ? 1 : 0); ++partition) {
        range.insert(partition);
    }
    return range;
}

}  // namespace

void GroupDriver::rebalance(const std::vector<Member>& members, int partition_count) {
    if (members.empty()) {
        return;
    }
    if (is_consumer_protocol_) {
        settle_consumer(members, partition_count);
    } else {
        join_classic(members);
        sync_classic(members, partition_count);
    }
}

void GroupDriver::join_classic(const std::vector<Member>& members) {
    const std::string metadata = subscription(topic_, ++meetings_);
    std::array protocols{JoinGroupRequest::Protocol{.name = "range", .metadata = as_bytes(metadata)}};
    const auto request_of = [&](const Member& member) {
        return JoinGroupRequest{.group_id = group_,
                                .session_timeout_ms = kSessionTimeoutMs,
                                .rebalance_timeout_ms = kSessionTimeoutMs,
                                .member_id = member.membership->member_id,
                                .protocol_type = "consumer",
                                .protocols = protocols};
    };
    for (const Member& member : members) {
        if (!member.membership->member_id.empty()) {
            continue;
        }
        const auto& response = Client::call<JoinGroupResponse>(member.client->coordinator(), 9, request_of(member));
        if (response.error_code != ErrorCode::member_id_required) {
            expect_none(response.error_code, "JoinGroup without a member id");
        }
        member.membership->member_id = response.member_id;
    }
    // One member may complete a generation before the others have joined; then it joins again.
    std::vector<std::int32_t> generations(members.size(), -1);
    std::vector<std::int32_t> waiting(members.size(), -1);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::int32_t newest = *std::ranges::max_element(generations);
        const bool is_complete = std::ranges::count(waiting, -1) == std::ssize(waiting) &&
                                 std::ranges::count(generations, newest) == std::ssize(generations);
        if (newest >= 0 && is_complete) {
            return;
        }
        for (std::size_t index = 0; index < members.size(); ++index) {
            const bool is_behind =
                generations[index] < newest || std::ranges::any_of(waiting, [](std::int32_t id) { return id >= 0; });
            if (waiting[index] < 0 && (generations[index] < 0 || is_behind)) {
                waiting[index] = members[index].client->coordinator().send_request(9, request_of(members[index]));
            }
        }
        for (std::size_t index = 0; index < members.size(); ++index) {
            if (waiting[index] < 0) {
                continue;
            }
            const auto* response =
                members[index].client->coordinator().read_reply<JoinGroupResponse, JoinGroupRequest>(9, waiting[index], 250ms);
            if (response == nullptr) {
                continue;
            }
            expect_none(response->error_code, "JoinGroup");
            waiting[index] = -1;
            generations[index] = response->generation_id;
            members[index].membership->generation = response->generation_id;
            leader_ = response->leader;
        }
    }
    throw Failure{"the members of " + group_ + " do not meet"};
}

void GroupDriver::sync_classic(const std::vector<Member>& members, int partition_count) {
    std::vector<Partitions> shares;
    std::vector<std::string> encoded;
    for (std::size_t index = 0; index < members.size(); ++index) {
        shares.push_back(range_of(static_cast<int>(index), static_cast<int>(members.size()), partition_count));
        encoded.push_back(assignment(topic_, shares.back()));
    }
    std::vector<SyncGroupRequest::Assignment> assignments;
    for (std::size_t index = 0; index < members.size(); ++index) {
        assignments.push_back({.member_id = members[index].membership->member_id, .assignment = as_bytes(encoded[index])});
    }
    std::vector<std::int32_t> waiting;
    for (const Member& member : members) {
        SyncGroupRequest request{.group_id = group_,
                                 .generation_id = member.membership->generation,
                                 .member_id = member.membership->member_id,
                                 .protocol_type = "consumer",
                                 .protocol_name = "range"};
        if (member.membership->member_id == leader_) {
            request.assignments = assignments;
        }
        waiting.push_back(member.client->coordinator().send_request(5, request));
    }
    for (std::size_t index = 0; index < members.size(); ++index) {
        const auto* response =
            members[index].client->coordinator().read_reply<SyncGroupResponse, SyncGroupRequest>(5, waiting[index]);
        if (response == nullptr) {
            throw Failure{"SyncGroup found no answer"};
        }
        expect_none(response->error_code, "SyncGroup");
        members[index].membership->assigned = shares[index];
    }
}

void GroupDriver::beat(const Member& member, bool joins) {
    Membership& own = *member.membership;
    std::vector<std::int32_t> partitions(own.assigned.begin(), own.assigned.end());
    std::vector<ConsumerGroupHeartbeatRequest::TopicPartitions> owned;
    if (!partitions.empty()) {
        owned.push_back({.topic_id = topic_id_, .partitions = partitions});
    }
    std::array<std::string_view, 1> names{topic_};
    ConsumerGroupHeartbeatRequest request{
        .group_id = group_, .member_id = own.member_id, .member_epoch = joins ? 0 : own.generation};
    if (joins) {
        request.rebalance_timeout_ms = kSessionTimeoutMs;
        request.subscribed_topic_names = names;
    }
    if (joins || own.owes_answer) {
        request.topic_partitions = owned;
    }
    own.owes_answer = false;
    const auto& response = Client::call<ConsumerGroupHeartbeatResponse>(member.client->coordinator(), 1, request);
    expect_none(response.error_code, "ConsumerGroupHeartbeat " + std::string(response.error_message.value_or("")));
    own.generation = response.member_epoch;
    if (response.assignment == nullptr) {
        return;
    }
    own.owes_answer = true;
    own.assigned.clear();
    for (const auto& topic : response.assignment->topic_partitions) {
        own.assigned.insert(topic.partitions.begin(), topic.partitions.end());
    }
}

void GroupDriver::settle_consumer(const std::vector<Member>& members, int partition_count) {
    for (const Member& member : members) {
        if (!member.membership->member_id.empty()) {
            continue;
        }
        member.membership->member_id = group_ + "-member-" + std::to_string(++meetings_);
        member.membership->assigned.clear();
        beat(member, true);
    }
    const bool settled = eventually([&] {
        for (const Member& member : members) {
            beat(member, false);
        }
        std::size_t assigned = 0;
        bool is_quiet = true;
        for (const Member& member : members) {
            assigned += member.membership->assigned.size();
            is_quiet &=
                !member.membership->owes_answer && member.membership->generation == members.front().membership->generation;
        }
        return is_quiet && assigned == static_cast<std::size_t>(partition_count);
    });
    if (!settled) {
        throw Failure{"the members of " + group_ + " do not get their partitions"};
    }
}

void GroupDriver::leave(const Member& member) {
    if (is_consumer_protocol_) {
        ConsumerGroupHeartbeatRequest request{.group_id = group_, .member_id = member.membership->member_id, .member_epoch = -1};
        expect_none(Client::call<ConsumerGroupHeartbeatResponse>(member.client->coordinator(), 1, request).error_code, "leaving");
    } else {
        return remove(member.client->coordinator(), member);
    }
    *member.membership = {};
}

void GroupDriver::remove(WireClient& administrator, const Member& member) {
    std::array leaving{LeaveGroupRequest::MemberIdentity{.member_id = member.membership->member_id}};
    const auto& response =
        Client::call<LeaveGroupResponse>(administrator, 5, LeaveGroupRequest{.group_id = group_, .members = leaving});
    expect_none(response.error_code, "LeaveGroup");
    expect_none(response.members[0].error_code, "LeaveGroup of a member");
    *member.membership = {};
}

std::map<int, ErrorCode> GroupDriver::commit_as_of(std::int32_t generation, const Member& member, const Offsets& offsets) {
    std::vector<OffsetCommitRequest::Partition> partitions;
    for (const auto& [partition, offset] : offsets) {
        partitions.push_back({.partition_index = partition, .committed_offset = offset});
    }
    std::array topics{OffsetCommitRequest::Topic{.name = topic_, .partitions = partitions}};
    const OffsetCommitRequest request{.group_id = group_,
                                      .generation_id_or_member_epoch = generation,
                                      .member_id = member.membership->member_id,
                                      .topics = topics};
    const auto& response = Client::call<OffsetCommitResponse>(member.client->coordinator(), 9, request);
    std::map<int, ErrorCode> errors;
    for (const auto& partition : response.topics[0].partitions) {
        errors[partition.partition_index] = partition.error_code;
    }
    return errors;
}

void GroupDriver::commit(const Member& member, const Offsets& offsets) {
    for (const auto& [partition, error] : commit_as_of(member.membership->generation, member, offsets)) {
        expect_none(error, "OffsetCommit");
    }
}

Offsets GroupDriver::commit_late(const Member& member, const Offsets& offsets) {
    Offsets accepted = offsets;
    for (const auto& [partition, error] : commit_as_of(member.membership->generation - 1, member, offsets)) {
        if (error == ErrorCode::none && is_consumer_protocol_) {
            continue;
        }
        const ErrorCode expected = is_consumer_protocol_ ? ErrorCode::stale_member_epoch : ErrorCode::illegal_generation;
        if (error != expected) {
            throw Failure{"a late commit is answered with error " + std::to_string(static_cast<int>(error))};
        }
        accepted.erase(partition);
    }
    return accepted;
}

}  // namespace partita::test::histories
