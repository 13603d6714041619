#include "tests/support/classic_member.h"

#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/14_sync_group.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

constexpr std::int32_t kSessionMs = 600'000;

}  // namespace

ErrorCode join_alone(WireClient& wire, const std::string& group, const HeldPartitions& held, const std::string& assignor) {
    return join_as_member(wire, group, held, assignor).error;
}

JoinedMember join_as_member(WireClient& wire, const std::string& group, const HeldPartitions& held, const std::string& assignor) {
    std::vector<std::string> topics;
    for (const auto& [topic, partitions] : held) {
        topics.push_back(topic);
    }
    const std::string subscription = subscription_to(topics);
    std::vector<JoinGroupRequest::Protocol> protocols(1);
    protocols[0].name = assignor;
    protocols[0].metadata = as_bytes(subscription);
    JoinGroupRequest join;
    join.group_id = group;
    join.session_timeout_ms = kSessionMs;
    join.rebalance_timeout_ms = kSessionMs;
    join.protocol_type = "consumer";
    join.protocols = protocols;
    const auto* joined = wire.call<JoinGroupResponse>(2, join);
    if (joined == nullptr || joined->error_code != ErrorCode::none) {
        return {.error = joined == nullptr ? ErrorCode::network_exception : joined->error_code};
    }
    JoinedMember member{.member_id = std::string(joined->member_id), .generation_id = joined->generation_id};
    const std::string assignment = assignment_of(held);
    std::vector<SyncGroupRequest::Assignment> assignments(1);
    assignments[0].member_id = member.member_id;
    assignments[0].assignment = as_bytes(assignment);
    SyncGroupRequest sync;
    sync.group_id = group;
    sync.generation_id = member.generation_id;
    sync.member_id = member.member_id;
    sync.assignments = assignments;
    const auto* synced = wire.call<SyncGroupResponse>(1, sync);
    member.error = synced == nullptr ? ErrorCode::network_exception : synced->error_code;
    return member;
}

ErrorCode commit_as_member(WireClient& wire, const std::string& group, const JoinedMember& member, const std::string& topic,
                           std::int32_t partition, std::int64_t offset) {
    OffsetCommitRequest::Partition item{.partition_index = partition, .committed_offset = offset};
    OffsetCommitRequest::Topic wanted{.name = topic};
    wanted.partitions = {&item, 1};
    OffsetCommitRequest request{
        .group_id = group, .generation_id_or_member_epoch = member.generation_id, .member_id = member.member_id};
    request.topics = {&wanted, 1};
    const auto* answer = wire.call<OffsetCommitResponse>(8, request);
    return answer == nullptr ? ErrorCode::network_exception : answer->topics[0].partitions[0].error_code;
}

}  // namespace partita::test
