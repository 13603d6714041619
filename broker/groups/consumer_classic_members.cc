#include <algorithm>
#include <expected>
#include <utility>

#include "broker/groups/consumer_classic_members.h"
#include "broker/groups/consumer_metadata.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/limits.h"
#include "broker/groups/replies.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

/// Kafka creates ids of 22 characters here; `uuid` is the same number in the usual 36.
std::string short_id(std::string_view uuid) {
    Uuid number;
    std::size_t digits = 0;
    for (const char c : uuid) {
        const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value >= 0 && digits < 2 * number.bytes.size()) {
            std::uint8_t& byte = number.bytes[digits / 2];
            byte = static_cast<std::uint8_t>(byte << 4 | value);
            ++digits;
        }
    }
    return digits == 2 * number.bytes.size() ? number.to_string() : std::string(uuid);
}

std::vector<MemberSubscription::Protocol> owned_protocols(std::span<const JoinGroup::Protocol> protocols) {
    std::vector<MemberSubscription::Protocol> result;
    for (MemberProtocol& protocol : owned(protocols)) {
        result.push_back({std::move(protocol.name), std::move(protocol.metadata)});
    }
    return result;
}

std::expected<const ConsumerMember*, ErrorCode> find_member(const ConsumerGroup& group, std::string_view member_id,
                                                            const std::optional<std::string_view>& instance_id) {
    const ConsumerMember* member = instance_id ? group.find_static(*instance_id) : group.find(member_id);
    if (member == nullptr) {
        return std::unexpected(ErrorCode::unknown_member_id);
    }
    if (member->id != member_id) {
        return std::unexpected(ErrorCode::fenced_instance_id);
    }
    return member;
}

/// The same for a request that only classic members send.
std::expected<const ConsumerMember*, ErrorCode> find_classic_member(const ConsumerGroup& group, std::string_view member_id,
                                                                    const std::optional<std::string_view>& instance_id,
                                                                    Generation generation) {
    const auto found = find_member(group, member_id, instance_id);
    if (found && !(*found)->speaks_classic()) {
        return std::unexpected(ErrorCode::unknown_member_id);
    }
    if (found && (*found)->progress.epoch != generation.value) {
        return std::unexpected(ErrorCode::illegal_generation);
    }
    return found;
}

/// Other members still hold a part of its target.
bool waits_for_others(const ConsumerGroup& group, const ConsumerMember& member) {
    if (member.progress.state != MemberState::unreleased_partitions || !member.target) {
        return false;
    }
    return std::ranges::any_of(*member.target, [&](const assignors::TopicPartitions& topic) {
        return std::ranges::any_of(topic.partitions, [&](std::int32_t partition) {
            return find_partition(member.progress.assigned, topic.topic_id, partition) == nullptr &&
                   group.owner(topic.topic_id, partition) != nullptr;
        });
    });
}

}  // namespace

void ConsumerClassicMembers::join(const JoinGroup& command, const ConsumerGroup& group, Now now, Effects& effects) {
    // Kafka's exceptions contain no member id, so every refusal has an empty one.
    const auto refuse = [&](ErrorCode error) { reply(effects, command.reply_to, join_error(error, "")); };
    if (environment_.config.migration_policy == MigrationPolicy::disabled) {
        return refuse(ErrorCode::inconsistent_group_protocol);
    }
    const std::string member_id =
        command.member_id.empty() ? short_id(command.fresh_member_suffix) : std::string(command.member_id);
    if (std::cmp_greater_equal(group.size(), environment_.config.consumer_max_size.value) && group.find(member_id) == nullptr) {
        return refuse(ErrorCode::group_max_size_reached);
    }
    std::vector<std::string_view> names;
    for (const JoinGroup::Protocol& protocol : command.protocols) {
        names.push_back(protocol.name);
    }
    if (names.empty() || !group.supports_classic(command.protocol_type, names)) {
        return refuse(ErrorCode::inconsistent_group_protocol);
    }
    if (command.member_id.empty() && !command.group_instance_id && command.api_version >= kJoinVersionRequiringMemberId) {
        // Kafka does not remember the id here: it accepts any joiner with an id.
        return reply(effects, command.reply_to, join_error(ErrorCode::member_id_required, member_id));
    }
    if (command.group_instance_id && !command.member_id.empty()) {
        if (const auto found = find_member(group, command.member_id, command.group_instance_id); !found) {
            return refuse(found.error());
        }
    }
    if (!read_subscription(command.protocols.front().metadata, *environment_.cluster)) {
        // Kafka fails with an exception here.
        return refuse(ErrorCode::unknown_server_error);
    }
    accept_join(command, member_id, group, now, effects);
}

void ConsumerClassicMembers::accept_join(const JoinGroup& command, std::string_view member_id, const ConsumerGroup& group,
                                         Now now, Effects& effects) {
    const auto said = read_subscription(command.protocols.front().metadata, *environment_.cluster);
    PARTITA_ASSERT(said.has_value(), "what a member says was looked at before");
    const ConsumerMember* place =
        command.group_instance_id ? group.find_static(*command.group_instance_id) : group.find(member_id);
    // This replaces the last member of the new protocol; then only classic members remain.
    const bool downgrades = command.group_instance_id && place != nullptr && !place->speaks_classic() &&
                            group.classic_member_count() + 1 == group.size() &&
                            (environment_.config.migration_policy == MigrationPolicy::bidirectional ||
                             environment_.config.migration_policy == MigrationPolicy::downgrade) &&
                            std::cmp_less_equal(group.size(), environment_.config.max_size.value);
    if (place != nullptr && command.group_instance_id && command.member_id.empty()) {
        place = &steps_.take_place(member_id, *place, group, effects);
    }

    MemberSubscription subscription = place == nullptr ? MemberSubscription() : place->subscription;
    const std::string regex_before = subscription.topic_regex;
    if (command.group_instance_id) {
        subscription.instance_id = std::string(*command.group_instance_id);
    }
    if (said->rack_id) {
        subscription.rack_id = said->rack_id;
    }
    subscription.rebalance_timeout_ms = command.rebalance_timeout_ms;
    subscription.topic_names = said->topic_names;
    subscription.topic_regex.clear();
    subscription.client_id = command.client_id;
    subscription.client_host = command.client_host;
    subscription.classic = {command.session_timeout_ms, owned_protocols(command.protocols)};
    const std::string protocol = subscription.classic->protocols.front().name;
    const bool names_changed = steps_.update_subscription(group.id(), member_id, std::move(subscription), effects);
    const ConsumerMember& member = *group.find(member_id);
    const ConsumerSteps::RegexUpdate regex = steps_.update_regex(group, regex_before, "", now, effects);
    const bool changed = names_changed || regex.changed;
    steps_.update_group_epoch(group, changed, effects);
    if (!downgrades) {
        steps_.update_target_assignment(group, now, effects);
    }
    if (!downgrades || !changed) {
        steps_.lead_on(group, member, changed, said->owned, now, effects);
    }
    JoinResult result{.generation = {member.progress.epoch},
                      .protocol_type = std::string(kConsumerProtocolType),
                      .protocol_name = protocol,
                      .member_id = member.id};
    member.rebalance_timer.cancel();
    member.join_timer.cancel();
    if (downgrades) {
        migration_.downgrade(group, {}, changed, now, effects);
    } else {
        steps_.restart_session(group, member, now);
        table_.timers().schedule(member.sync_timer, now.monotonic + std::max(command.rebalance_timeout_ms, 1));
    }
    reply(effects, command.reply_to, std::move(result));
    if (regex.resolve && !downgrades) {
        steps_.resolve_group_regexes(group, command.may_describe, now, effects);
    }
}

void ConsumerClassicMembers::sync(const SyncGroup& command, const ConsumerGroup& group, Now now, Effects& effects) {
    const auto refuse = [&](ErrorCode error) { reply(effects, command.reply_to, SyncResult{.error = error}); };
    const auto found = find_classic_member(group, command.member_id, command.group_instance_id, command.generation);
    if (!found) {
        return refuse(found.error());
    }
    const ConsumerMember& member = **found;
    const MemberSubscription::Protocol& protocol = member.subscription.classic->protocols.front();
    if ((command.protocol_type && *command.protocol_type != kConsumerProtocolType) ||
        (command.protocol_name && *command.protocol_name != protocol.name)) {
        return refuse(ErrorCode::inconsistent_group_protocol);
    }
    // Compare with the assignment's epoch, not the group's. While assignments are batched (KIP-1263) the group is ahead, and
    // rejoining would give the member nothing new. A member with partitions to give up has rejoined already and must give them up
    // first.
    if (group.assignment_epoch() > member.progress.epoch && member.progress.state != MemberState::unrevoked_partitions) {
        if (!member.join_timer.is_scheduled()) {
            table_.timers().schedule(member.join_timer, now.monotonic + std::max(member.subscription.rebalance_timeout_ms, 1));
        }
        return refuse(ErrorCode::rebalance_in_progress);
    }
    const auto said = read_subscription(protocol.metadata, *environment_.cluster);
    if (!said) {
        return refuse(ErrorCode::unknown_server_error);
    }
    member.sync_timer.cancel();
    steps_.restart_session(group, member, now);
    SyncResult result{.assignment =
                          write_assignment(without_epochs(member.progress.assigned), said->version, *environment_.cluster)};
    if (command.protocol_type) {
        result.protocol_type = std::string(*command.protocol_type);
    }
    if (command.protocol_name) {
        result.protocol_name = std::string(*command.protocol_name);
    }
    reply(effects, command.reply_to, std::move(result));
}

ErrorCode ConsumerClassicMembers::heartbeat(const Heartbeat& command, const ConsumerGroup& group, Now now) {
    const auto found = find_classic_member(group, command.member_id, command.group_instance_id, command.generation);
    if (!found) {
        return found.error();
    }
    const ConsumerMember& member = **found;
    steps_.restart_session(group, member, now);
    const MemberState state = member.progress.state;
    const bool must_rejoin = member.progress.epoch < group.assignment_epoch() || state == MemberState::unrevoked_partitions ||
                             (state == MemberState::unreleased_partitions && !waits_for_others(group, member));
    if (!must_rejoin) {
        return ErrorCode::none;
    }
    if (!member.join_timer.is_scheduled()) {
        table_.timers().schedule(member.join_timer, now.monotonic + std::max(member.subscription.rebalance_timeout_ms, 1));
    }
    return ErrorCode::rebalance_in_progress;
}

void ConsumerClassicMembers::leave(const LeaveGroup& command, const ConsumerGroup& group, Now now, Effects& effects) {
    LeaveResult result;
    std::vector<const ConsumerMember*> leaving;
    for (const LeaveGroup::Member& one : command.members) {
        LeaveResult::Member& answer = result.members.emplace_back();
        answer.member_id = one.member_id;
        if (one.group_instance_id) {
            answer.group_instance_id = std::string(*one.group_instance_id);
        }
        const ConsumerMember* member =
            one.group_instance_id ? group.find_static(*one.group_instance_id) : group.find(one.member_id);
        if (member == nullptr) {
            answer.error = ErrorCode::unknown_member_id;
        } else if (one.group_instance_id && !one.member_id.empty() && member->id != one.member_id) {
            answer.error = ErrorCode::fenced_instance_id;
        } else if (std::ranges::find(leaving, member) == leaving.end()) {
            table_.notes().note(group.group(), RebalanceCause::left, names_of(*member));
            leaving.push_back(member);
        }
    }
    consumers_.fence_members(group, leaving, now, effects);
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
