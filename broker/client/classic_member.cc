// A member of a classic group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

#include "broker/client/classic_member.h"

#include <algorithm>

#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

constexpr std::string_view kProtocolType = "consumer";
/// Kafka's clients wait this much longer than the rebalance timeout.
constexpr std::int64_t kJoinGraceMs = 5'000;

template <class Version>
std::optional<std::string_view> view_from(Version least, Version version, const std::optional<std::string>& text) {
    return version >= least && text ? std::optional<std::string_view>(*text) : std::nullopt;
}

std::set<TopicPartition> without(const std::set<TopicPartition>& all, const std::set<TopicPartition>& some) {
    std::set<TopicPartition> rest;
    std::ranges::set_difference(all, some, std::inserter(rest, rest.end()));
    return rest;
}

}  // namespace

ClassicGroupMember::ClassicGroupMember(Cluster& cluster, const MemberSettings& settings, Reader& reader)
    : cluster_(cluster),
      settings_(settings),
      reader_(reader),
      coordinator_(Route::coordinator(CoordinatorOf::group, settings.group)),
      // If any assignor may revoke everything, the member must be ready for that.
      is_cooperative_(std::ranges::all_of(
          settings.assignors, [](ClassicAssignor assignor) { return assignor == ClassicAssignor::cooperative_sticky; })) {}

CommittingMember ClassicGroupMember::identity() const { return {member_id_, generation_, settings_.instance_id}; }

void ClassicGroupMember::let_go_of(const std::set<TopicPartition>& partitions) {
    if (partitions.empty()) {
        return;
    }
    reader_.let_go(partitions);
    owned_ = without(owned_, partitions);
}

void ClassicGroupMember::forget_membership(bool keeps_id) {
    if (!owned_.empty()) {
        reader_.lose(std::exchange(owned_, {}));
    }
    if (!keeps_id) {
        member_id_.clear();
    }
    generation_ = -1;
    is_member_ = false;
}

Result<void> ClassicGroupMember::keep(const SubscribedTopics& topics) {
    // Only the leader needs the counts, because it divides the partitions.
    const bool wants_others =
        topics.names != topics_.names || (is_leader_ && topics.partition_counts != topics_.partition_counts);
    topics_ = topics;
    if (is_member_ && !wants_others) {
        PARTITA_TRY(beat());
        if (!is_rebalancing_) {
            return {};
        }
    }
    if (const auto code = std::exchange(expelled_, std::nullopt)) {
        forget_membership(*code == ErrorCode::illegal_generation);
    }
    // Each round ends with a generation, or with an answer that tells the member to join again.
    do {
        if (!is_cooperative_) {
            let_go_of(owned_);
        }
        is_rebalancing_ = false;
        const bool had_id = !member_id_.empty();
        PARTITA_TRY_ASSIGN(auto joined, join());
        if (joined) {
            continue;
        }
        is_rebalancing_ = true;
        // A member that only received an id joins again at once.
        if (had_id || member_id_.empty()) {
            cluster_.network().pause(cluster_.settings().retry_backoff_ms);
        }
    } while (is_rebalancing_);
    return {};
}

/// Interprets a rebalance's refusal: whether the member joins again, with or without its id.
Result<bool> ClassicGroupMember::again(ErrorCode code) {
    if (code == ErrorCode::unknown_member_id || code == ErrorCode::illegal_generation) {
        forget_membership(code == ErrorCode::illegal_generation);
        return false;
    }
    if (code == ErrorCode::rebalance_in_progress) {
        return false;
    }
    return std::unexpected(refusal(code));
}

Result<bool> ClassicGroupMember::join() {
    std::vector<std::vector<std::byte>> metadata;
    std::vector<JoinGroupRequest::Protocol> protocols;
    const ClassicSubscription subscription{topics_.names, {owned_.begin(), owned_.end()}, generation_};
    metadata.reserve(settings_.assignors.size());
    for (const ClassicAssignor assignor : settings_.assignors) {
        metadata.push_back(encode_subscription(subscription, assignor));
        protocols.push_back({.name = to_string(assignor), .metadata = metadata.back()});
    }
    const auto make = [&](std::int16_t version) {
        JoinGroupRequest request{.group_id = settings_.group,
                                 .session_timeout_ms = static_cast<std::int32_t>(settings_.session_timeout_ms),
                                 .member_id = member_id_,
                                 .group_instance_id = view_from(std::int16_t{5}, version, settings_.instance_id),
                                 .protocol_type = kProtocolType,
                                 .protocols = protocols};
        if (version >= 1) {
            request.rebalance_timeout_ms = static_cast<std::int32_t>(settings_.rebalance_timeout_ms);
        }
        return request;
    };
    const CallOptions options{.name = "joinGroup", .waits_at_broker_ms = settings_.rebalance_timeout_ms + kJoinGraceMs};
    auto reply =
        cluster_.ask<JoinGroupResponse>(coordinator_, options, make, [](const JoinGroupResponse& r) { return r.error_code; });
    PARTITA_TRY(reply);
    if ((*reply)->error_code == ErrorCode::member_id_required) {
        member_id_ = (*reply)->member_id;
        return false;
    }
    if ((*reply)->error_code != ErrorCode::none) {
        return again((*reply)->error_code);
    }
    member_id_ = (*reply)->member_id;
    generation_ = (*reply)->generation_id;
    is_leader_ = (*reply)->leader == member_id_;
    const std::string protocol((*reply)->protocol_name.value_or(""));
    Assigned assigned;
    if (is_leader_ && !(*reply)->skip_assignment) {
        std::vector<ClassicMember> members;
        for (const auto& member : (*reply)->members) {
            PARTITA_TRY_ASSIGN(auto decoded, decode_subscription(member.metadata));
            const auto& instance = member.group_instance_id;
            members.push_back({std::string(member.member_id), instance ? std::optional(std::string(*instance)) : std::nullopt,
                               std::move(decoded)});
        }
        PARTITA_TRY_ASSIGN(assigned, divide(protocol, members));
    }
    return sync(protocol, assigned);
}

Result<ClassicGroupMember::Assigned> ClassicGroupMember::divide(const std::string& protocol,
                                                                const std::vector<ClassicMember>& members) {
    const auto assignor = parse_classic_assignor(protocol);
    if (!assignor) {
        return std::unexpected(Failure{.kind = Failure::Kind::malformed,
                                       .message = "the group chose " + protocol + ", which this member did not offer"});
    }
    std::set<std::string> names;
    for (const ClassicMember& member : members) {
        names.insert(member.subscription.topics.begin(), member.subscription.topics.end());
    }
    PARTITA_TRY_ASSIGN(auto counts, partition_counts(cluster_, {names.begin(), names.end()}, false));
    return assign_classic(*assignor, members, counts);
}

Result<bool> ClassicGroupMember::sync(const std::string& protocol, const Assigned& assigned) {
    std::vector<std::vector<std::byte>> encoded;
    std::vector<SyncGroupRequest::Assignment> assignments;
    encoded.reserve(assigned.size());
    for (const auto& [member, partitions] : assigned) {
        encoded.push_back(encode_assignment(partitions));
        assignments.push_back({.member_id = member, .assignment = encoded.back()});
    }
    const auto make = [&](std::int16_t version) {
        constexpr std::int16_t kHasProtocol = 5;
        SyncGroupRequest request{.group_id = settings_.group,
                                 .generation_id = generation_,
                                 .member_id = member_id_,
                                 .group_instance_id = view_from(std::int16_t{3}, version, settings_.instance_id),
                                 .assignments = assignments};
        if (version >= kHasProtocol) {
            request.protocol_type = kProtocolType;
            request.protocol_name = protocol;
        }
        return request;
    };
    const CallOptions options{.name = "syncGroup", .waits_at_broker_ms = settings_.rebalance_timeout_ms + kJoinGraceMs};
    auto reply =
        cluster_.ask<SyncGroupResponse>(coordinator_, options, make, [](const SyncGroupResponse& r) { return r.error_code; });
    PARTITA_TRY(reply);
    if ((*reply)->error_code != ErrorCode::none) {
        return again((*reply)->error_code);
    }
    PARTITA_TRY_ASSIGN(const auto decoded, decode_assignment((*reply)->assignment));
    is_member_ = true;
    next_beat_ = cluster_.network().clock().now().monotonic + settings_.heartbeat_interval_ms;
    const std::set<TopicPartition> target(decoded.begin(), decoded.end());
    if (const auto gone = without(owned_, target); !gone.empty()) {
        let_go_of(gone);
        // The new owners find these partitions free only after this member joined without them.
        is_rebalancing_ = true;
    }
    if (const auto added = without(target, owned_); !added.empty()) {
        owned_ = target;
        PARTITA_TRY(reader_.take(added));
    }
    return true;
}

Result<bool> ClassicGroupMember::beat() {
    if (!is_member_ || is_rebalancing_) {
        return false;
    }
    const Instant now = cluster_.network().clock().now().monotonic;
    if (now < next_beat_) {
        return true;
    }
    next_beat_ = now + settings_.heartbeat_interval_ms;
    const auto make = [&](std::int16_t version) {
        return HeartbeatRequest{.group_id = settings_.group,
                                .generation_id = generation_,
                                .member_id = member_id_,
                                .group_instance_id = view_from(std::int16_t{3}, version, settings_.instance_id)};
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster_.ask<HeartbeatResponse>(coordinator_, {.name = "heartbeat"}, make,
                                                                   [](const HeartbeatResponse& r) { return r.error_code; }));
    if (reply->error_code == ErrorCode::none) {
        return true;
    }
    is_rebalancing_ = true;
    const ErrorCode code = reply->error_code;
    if (code == ErrorCode::rebalance_in_progress) {
        return false;
    }
    if (code != ErrorCode::unknown_member_id && code != ErrorCode::illegal_generation) {
        return std::unexpected(refusal(code));
    }
    // The reader may be processing a record of a lost partition: `keep` tells it later.
    expelled_ = code;
    return false;
}

void ClassicGroupMember::doubt() {
    is_rebalancing_ = true;
    // The next join shows which of the two is wrong; a heartbeat says so before anything is lost.
    next_beat_ = {};
}

Result<void> ClassicGroupMember::leave() {
    if (member_id_.empty() || settings_.instance_id) {
        return {};
    }
    const LeaveGroupRequest::MemberIdentity member{.member_id = member_id_};
    constexpr std::int16_t kHasMembers = 3;
    const auto make = [&](std::int16_t version) {
        LeaveGroupRequest request{.group_id = settings_.group};
        if (version >= kHasMembers) {
            request.members = {const_cast<LeaveGroupRequest::MemberIdentity*>(&member), 1};
        } else {
            request.member_id = member_id_;
        }
        return request;
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster_.ask<LeaveGroupResponse>(coordinator_, {.name = "leaveGroup"}, make,
                                                                    [](const LeaveGroupResponse& r) { return r.error_code; }));
    member_id_.clear();
    is_member_ = false;
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    return {};
}

}  // namespace partita::client
