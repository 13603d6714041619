#include "tests/support/classic_member.h"

#include "protocol/messages/11_join_group.h"
#include "protocol/messages/14_sync_group.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

constexpr std::int32_t kSessionMs = 600'000;

}  // namespace

ErrorCode join_alone(WireClient& wire, const std::string& group, const HeldPartitions& held, const std::string& assignor) {
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
    if (joined == nullptr) {
        return ErrorCode::network_exception;
    }
    if (joined->error_code != ErrorCode::none) {
        return joined->error_code;
    }
    const std::string member(joined->member_id);
    const std::string assignment = assignment_of(held);
    std::vector<SyncGroupRequest::Assignment> assignments(1);
    assignments[0].member_id = member;
    assignments[0].assignment = as_bytes(assignment);
    SyncGroupRequest sync;
    sync.group_id = group;
    sync.generation_id = joined->generation_id;
    sync.member_id = member;
    sync.assignments = assignments;
    const auto* synced = wire.call<SyncGroupResponse>(1, sync);
    return synced == nullptr ? ErrorCode::network_exception : synced->error_code;
}

}  // namespace partita::test
