#include <algorithm>

#include "broker/groups/consumer_metadata.h"
#include "tests/simulation/consumers_world.h"

/// Members that speak the classic protocol. In a consumer group the coordinator leads them like the others. When the last member
/// of the new protocol leaves, they rebalance among themselves.

namespace partita::groups::simulation {
namespace {

constexpr std::string_view kGroup = "g";
constexpr std::int32_t kSessionMs = 20'000;
constexpr std::int32_t kRebalanceMs = 30'000;

void append(std::string& out, std::int64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i > 0; --i) {
        out += static_cast<char>(value >> (8 * (i - 1)));
    }
}

}  // namespace

/// ConsumerProtocolSubscription, version 0.
std::string ConsumersWorld::subscription(const Member& member) const {
    std::string out;
    append(out, 0, 2);
    append(out, static_cast<std::int64_t>(member.topics.size()), 4);
    for (const std::string& topic : member.topics) {
        append(out, static_cast<std::int64_t>(topic.size()), 2);
        out += topic;
    }
    append(out, -1, 4);
    return out;
}

void ConsumersWorld::ask(Member& member, const std::function<void(ReplyToken, Effects&)>& call) {
    if (faulty_ && chance(loss_percent_)) {
        return;
    }
    const ReplyToken token{++tokens_};
    waiting_[token.value] = {member.index, member.life};
    Effects effects;
    if (deliver([&](Effects& out) { call(token, out); }, effects)) {
        dispatch(effects);
    }
    check_owners();
}

void ConsumersWorld::dispatch(const Effects& effects) {
    for (const Reply& reply : effects.replies) {
        const auto found = waiting_.find(reply.token.value);
        if (found == waiting_.end()) {
            continue;
        }
        const auto [index, life] = found->second;
        waiting_.erase(found);
        Member& member = members_[index];
        if (!member.is_on || member.life != life || (faulty_ && chance(loss_percent_))) {
            continue;
        }
        // The member's next step is a separate call.
        at(0, [this, &member, life, result = reply.result] {
            if (!member.is_on || member.life != life) {
                return;
            }
            if (const auto* joined = std::get_if<JoinResult>(&result)) {
                on_joined(member, *joined);
            }
            if (const auto* synced = std::get_if<SyncResult>(&result)) {
                on_synced(member, *synced);
            }
            if (const auto* beaten = std::get_if<HeartbeatResult>(&result); beaten && beaten->error != ErrorCode::none) {
                rejoin_classic(member, beaten->error);
            }
        });
    }
}

void ConsumersWorld::classic_join(Member& member) {
    ++statistics_.classic_joins;
    member.owned.clear();
    member.is_waiting = true;
    const std::string metadata = subscription(member);
    const JoinGroup::Protocol protocol{"range", as_bytes(metadata)};
    const std::string suffix = "classic" + std::to_string(++ids_);
    // An answer that does not come makes the member ask again.
    at(kRebalanceMs + 10'000, [this, &member, life = ++member.life] {
        if (member.is_on && member.life == life && member.is_waiting) {
            classic_join(member);
        }
    });
    ask(member, [&](ReplyToken token, Effects& out) {
        coordinator_->decide(JoinGroup{.group_id = kGroup,
                                       .member_id = member.id,
                                       .protocol_type = "consumer",
                                       .protocols = {&protocol, 1},
                                       .session_timeout_ms = kSessionMs,
                                       .rebalance_timeout_ms = kRebalanceMs,
                                       .client_id = "client",
                                       .client_host = "/127.0.0.1",
                                       .api_version = 9,
                                       .fresh_member_suffix = suffix,
                                       .reply_to = token},
                             now_, out);
    });
}

void ConsumersWorld::on_joined(Member& member, const JoinResult& result) {
    if (result.error == ErrorCode::member_id_required) {
        member.id = result.member_id;
        classic_join(member);
        return;
    }
    if (result.error != ErrorCode::none) {
        rejoin_classic(member, result.error);
        return;
    }
    member.id = result.member_id;
    member.epoch = result.generation.value;
    classic_sync(member, result);
}

void ConsumersWorld::classic_sync(Member& member, const JoinResult& joined) {
    // The leader of a classic group deals the partitions out, one by one.
    std::map<std::string, assignors::Assignment> dealt;
    std::size_t next = 0;
    for (const auto& [name, topic] : cluster_->topics()) {
        std::vector<std::string> takers;
        for (const JoinResult::Member& other : joined.members) {
            const auto said = read_subscription(other.metadata, *cluster_);
            if (said && std::ranges::binary_search(said->topic_names, name)) {
                takers.push_back(other.member_id);
            }
        }
        for (std::int32_t partition = 0; !takers.empty() && partition < topic.partition_count; ++partition) {
            dealt[takers[next++ % takers.size()]].push_back({topic.topic_id, {partition}});
        }
    }
    std::vector<OwnedBytes> bytes;
    std::vector<SyncGroup::Assignment> assignments;
    bytes.reserve(dealt.size());
    for (auto& [id, assignment] : dealt) {
        bytes.push_back(write_assignment(assignors::normalized(std::move(assignment)), 0, *cluster_));
        assignments.push_back({id, bytes.back()});
    }
    ask(member, [&](ReplyToken token, Effects& out) {
        coordinator_->decide(SyncGroup{.group_id = kGroup,
                                       .generation = {member.epoch},
                                       .member_id = member.id,
                                       .protocol_type = "consumer",
                                       .protocol_name = "range",
                                       .assignments = assignments,
                                       .reply_to = token},
                             now_, out);
    });
}

void ConsumersWorld::on_synced(Member& member, const SyncResult& result) {
    if (result.error != ErrorCode::none) {
        rejoin_classic(member, result.error);
        return;
    }
    member.is_waiting = false;
    member.owned.clear();
    const auto assignment = read_assignment(result.assignment, *cluster_);
    if (!assignment) {
        violate("an assignment cannot be read");
        return;
    }
    for (const assignors::TopicPartitions& topic : assignment->assignment) {
        for (const std::int32_t partition : topic.partitions) {
            member.owned.emplace(topic.topic_id, partition);
        }
    }
    check_owners();
    classic_beat(member);
}

void ConsumersWorld::classic_beat(Member& member) {
    at(between(1'000, 4'000), [this, &member, life = member.life] {
        if (!member.is_on || member.life != life || member.is_waiting) {
            return;
        }
        ++statistics_.heartbeats;
        classic_beat(member);
        ask(member, [&](ReplyToken token, Effects& out) {
            coordinator_->decide(
                Heartbeat{.group_id = kGroup, .generation = {member.epoch}, .member_id = member.id, .reply_to = token}, now_,
                out);
        });
    });
}

void ConsumersWorld::rejoin_classic(Member& member, ErrorCode error) {
    switch (error) {
        case ErrorCode::unknown_member_id:
            ++statistics_.fenced;
            member.id.clear();
            break;
        case ErrorCode::rebalance_in_progress:
        case ErrorCode::illegal_generation:
            break;
        default:
            violate("a classic member was answered " + std::string(error_name(error)));
            return;
    }
    member.owned.clear();
    member.is_waiting = true;
    at(between(0, 100), [this, &member, life = ++member.life] {
        if (member.is_on && member.life == life) {
            classic_join(member);
        }
    });
}

}  // namespace partita::groups::simulation
