#include <algorithm>
#include <utility>

#include "broker/groups/consumer_membership.h"
#include "broker/groups/limits.h"
#include "broker/groups/replies.h"

namespace partita::groups {
namespace {

std::string quoted_epochs(std::int32_t received, std::int32_t known) {
    return "epoch (" + std::to_string(received) + ") than the one known by the group coordinator (" + std::to_string(known) +
           "). The member must abandon all its partitions and rejoin.";
}

std::optional<Refusal> refuse_epoch(const ConsumerGroupHeartbeat& command, const MemberProgress& progress) {
    if (command.member_epoch == kJoiningEpoch) {
        // A fenced or restarted member returns without partitions.
        return std::nullopt;
    }
    if (command.member_epoch > progress.epoch) {
        return Refusal{ErrorCode::fenced_member_epoch,
                       "The consumer group member has a greater member " + quoted_epochs(command.member_epoch, progress.epoch)};
    }
    // The previous epoch is valid once more: the answer with the new one may have been lost.
    const bool missed_answer = command.member_epoch == progress.previous_epoch && is_subset(command.owned, progress.assigned);
    if (command.member_epoch < progress.epoch && !missed_answer) {
        return Refusal{ErrorCode::fenced_member_epoch,
                       "The consumer group member has a smaller member " + quoted_epochs(command.member_epoch, progress.epoch)};
    }
    return std::nullopt;
}

Refusal refuse_instance(std::string_view member_id, std::string_view instance_id, const ConsumerMember& holder) {
    return {ErrorCode::fenced_instance_id, "Static member " + std::string(member_id) + " with instance id " +
                                               std::string(instance_id) + " was fenced by member " + holder.id + "."};
}

std::optional<Refusal> refuse_static(const ConsumerGroupHeartbeat& command, const ConsumerGroup& group) {
    const std::string instance_id(*command.instance_id);
    const ConsumerMember* holder = group.find_static(instance_id);
    if (command.member_epoch != kJoiningEpoch) {
        if (holder == nullptr) {
            return Refusal{ErrorCode::unknown_member_id, "Instance id " + instance_id + " is unknown."};
        }
        return holder->id != command.member_id ? refuse_instance(command.member_id, instance_id, *holder)
                                               : refuse_epoch(command, holder->progress);
    }
    // The place is free once its holder left it; a classic holder cannot say so.
    if (holder != nullptr && !holder->speaks_classic() && holder->progress.epoch != kStaticLeavingEpoch) {
        return Refusal{ErrorCode::unreleased_instance_id,
                       "Static member " + std::string(command.member_id) + " with instance id " + instance_id +
                           " cannot join the group because the instance id is owned by " + holder->id + " member."};
    }
    return std::nullopt;
}

/// Ascending, without repetition.
std::vector<std::string> sorted_names(std::span<const std::string_view> names) {
    std::vector<std::string> sorted(names.begin(), names.end());
    std::ranges::sort(sorted);
    const auto repeated = std::ranges::unique(sorted);
    sorted.erase(repeated.begin(), repeated.end());
    return sorted;
}

/// The member's earlier subscription, updated by this heartbeat.
MemberSubscription updated(MemberSubscription subscription, const ConsumerGroupHeartbeat& command) {
    if (command.instance_id) {
        subscription.instance_id = owned_text(command.instance_id);
    }
    if (command.rack_id) {
        subscription.rack_id = owned_text(command.rack_id);
    }
    if (command.rebalance_timeout_ms != -1) {
        subscription.rebalance_timeout_ms = command.rebalance_timeout_ms;
    }
    if (command.server_assignor) {
        subscription.server_assignor = owned_text(command.server_assignor);
    }
    if (command.topic_names) {
        subscription.topic_names = sorted_names(*command.topic_names);
    }
    if (command.topic_regex) {
        subscription.topic_regex = *command.topic_regex;
    }
    subscription.client_id = command.client_id;
    subscription.client_host = command.client_host;
    subscription.classic.reset();
    return subscription;
}

/// True if the heartbeat reports only known facts, like most heartbeats, which are then cheap.
bool says_nothing_new(const ConsumerGroupHeartbeat& command, const MemberSubscription& known) {
    return !command.topic_names && !known.classic && (!command.topic_regex || *command.topic_regex == known.topic_regex) &&
           (!command.instance_id || command.instance_id == known.instance_id) &&
           (!command.rack_id || command.rack_id == known.rack_id) &&
           (!command.server_assignor || command.server_assignor == known.server_assignor) &&
           (command.rebalance_timeout_ms == -1 || command.rebalance_timeout_ms == known.rebalance_timeout_ms) &&
           command.client_id == known.client_id && command.client_host == known.client_host;
}

/// The member reported everything, as it does after any error, so it expects a full answer.
bool is_full(const ConsumerGroupHeartbeat& command) {
    return command.rebalance_timeout_ms != -1 && (command.topic_names || command.topic_regex) && command.owned;
}

}  // namespace

void ConsumerMembership::heartbeat(const ConsumerGroupHeartbeat& command, Now now, Effects& effects) {
    std::optional<Refusal> refusal = find_fault(command);
    if (!refusal && command.member_epoch < kJoiningEpoch) {
        leave(command, now, effects);
        return;
    }
    Group* group = table_.find(command.group_id);
    if (!refusal) {
        refusal = refuse_heartbeat(command, group);
    }
    if (refusal) {
        const bool is_fenced =
            refusal->error == ErrorCode::fenced_member_epoch || refusal->error == ErrorCode::fenced_instance_id;
        if (is_fenced && group != nullptr) {
            table_.notes().note(*group, RebalanceCause::fenced,
                                MemberNames{command.member_id, command.instance_id, command.client_id, command.client_host});
        }
        if (group != nullptr) {
            table_.notes().note_late(*group, command.member_id, LateRequest::heartbeat, command.member_epoch, refusal->error);
        }
        reply(effects, command.reply_to,
              ConsumerHeartbeatResult{.error = refusal->error, .error_message = std::move(refusal->message)});
        return;
    }
    if (group != nullptr && group->as<ConsumerGroup>() == nullptr) {
        migration_.upgrade(*group, now, effects);
    }
    accept_heartbeat(command, command.member_id.empty() ? command.fresh_member_id : command.member_id, now, effects);
}

/// Checks of a request that do not depend on the group.
std::optional<Refusal> ConsumerMembership::find_fault(const ConsumerGroupHeartbeat& command) const {
    const auto fault = [](std::string_view text) { return Refusal{ErrorCode::invalid_request, std::string(text)}; };
    const bool is_empty_text = command.member_id.empty();
    const bool may_lack_id = command.api_version < kHeartbeatVersionWithMemberIds && command.member_epoch <= 0 &&
                             command.member_epoch != kLeavingEpoch;
    if (is_empty_text && !may_lack_id) {
        return fault("MemberId can't be empty.");
    }
    if (command.group_id.empty()) {
        return fault("GroupId can't be empty.");
    }
    if (command.instance_id && command.instance_id->empty()) {
        return fault("InstanceId can't be empty.");
    }
    if (command.rack_id && command.rack_id->empty()) {
        return fault("RackId can't be empty.");
    }
    if (command.member_epoch == kJoiningEpoch) {
        if (command.rebalance_timeout_ms == -1) {
            return fault("RebalanceTimeoutMs must be provided in first request.");
        }
        if (!command.owned || !command.owned->empty()) {
            return fault("TopicPartitions must be empty when (re-)joining.");
        }
        if (!command.topic_names && !command.topic_regex) {
            return fault("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.");
        }
    } else if (command.member_epoch == kStaticLeavingEpoch) {
        if (!command.instance_id) {
            return fault("InstanceId can't be null.");
        }
    } else if (command.member_epoch < kStaticLeavingEpoch) {
        return fault("MemberEpoch is invalid.");
    }
    if (command.server_assignor && std::ranges::find(environment_.config.consumer_assignors.value, *command.server_assignor) ==
                                       environment_.config.consumer_assignors.value.end()) {
        return Refusal{ErrorCode::unsupported_assignor, "ServerAssignor " + std::string(*command.server_assignor) +
                                                            " is not supported. Supported assignors: " + supported_assignors() +
                                                            "."};
    }
    return std::nullopt;
}

std::string ConsumerMembership::supported_assignors() const {
    std::string names;
    for (const std::string& name : environment_.config.consumer_assignors.value) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

/// Checks everything before anything changes.
std::optional<Refusal> ConsumerMembership::refuse_heartbeat(const ConsumerGroupHeartbeat& command, const Group* group) const {
    const bool joins = command.member_epoch == kJoiningEpoch;
    const std::string group_id(command.group_id);
    if (group == nullptr && !joins) {
        return Refusal{ErrorCode::group_id_not_found, "Consumer group " + group_id + " not found."};
    }
    const ConsumerGroup* consumer = group == nullptr ? nullptr : group->as<ConsumerGroup>();
    if (group != nullptr && consumer == nullptr) {
        if (!joins) {
            return Refusal{ErrorCode::group_id_not_found, "Group " + group_id + " is not a consumer group."};
        }
        if (auto refusal = migration_.refuse_upgrade(*group)) {
            return refusal;
        }
    }
    const bool is_member = group != nullptr && group->kind().has_member(command.member_id);
    const std::size_t size = group == nullptr ? 0 : group->kind().size();
    if (std::cmp_greater_equal(size, environment_.config.consumer_max_size.value) && !is_member) {
        return Refusal{ErrorCode::group_max_size_reached, "The consumer group has reached its maximum capacity of " +
                                                              std::to_string(environment_.config.consumer_max_size.value) +
                                                              " members."};
    }
    const ConsumerMember* member = nullptr;
    if (consumer != nullptr) {
        member = command.instance_id ? consumer->find_static(*command.instance_id) : consumer->find(command.member_id);
        if (command.instance_id) {
            if (auto refusal = refuse_static(command, *consumer)) {
                return refusal;
            }
        } else if (member == nullptr && !joins) {
            return Refusal{ErrorCode::unknown_member_id,
                           "Member " + std::string(command.member_id) + " is not a member of group " + group_id + "."};
        } else if (member != nullptr) {
            if (auto refusal = refuse_epoch(command, member->progress)) {
                return refusal;
            }
        }
        // A newer broker wrote its state: such a member has to start anew.
        if (member != nullptr && member->progress.state == MemberState::unknown && (!command.owned || !command.owned->empty())) {
            return Refusal{ErrorCode::fenced_member_epoch,
                           "The consumer group member is in a unknown state. The member "
                           "must abandon all its partitions and rejoin."};
        }
    }
    if (command.topic_regex) {
        const std::string before = member == nullptr ? std::string() : member->subscription.topic_regex;
        return ConsumerSteps::refuse_regex(before, *command.topic_regex, consumer);
    }
    return std::nullopt;
}

void ConsumerMembership::accept_heartbeat(const ConsumerGroupHeartbeat& command, std::string_view member_id, Now now,
                                          Effects& effects) {
    // Null for a new group, also for one that replaces an empty classic group, which has just ended.
    const ConsumerGroup* known = table_.find_as<ConsumerGroup>(command.group_id);
    const ConsumerMember* place = known == nullptr      ? nullptr
                                  : command.instance_id ? known->find_static(*command.instance_id)
                                                        : known->find(member_id);
    // A joining static member replaces its predecessor even under the same id, and holds no partitions.
    if (place != nullptr && command.instance_id && command.member_epoch == kJoiningEpoch) {
        place = &steps_.take_place(member_id, *place, *known, effects);
    } else if (place == nullptr && known != nullptr) {
        // The predecessor may have been a dynamic member.
        place = known->find(member_id);
    }
    static const MemberSubscription kNothing;
    const MemberSubscription& said = place == nullptr ? kNothing : place->subscription;
    const std::string regex_before = said.topic_regex;
    const OwnedAssignment before = place == nullptr ? OwnedAssignment() : place->progress.assigned;

    bool names_changed = false;
    if (place == nullptr || !says_nothing_new(command, said)) {
        names_changed = steps_.update_subscription(command.group_id, member_id, updated(said, command), effects);
        // The subscription record creates the member, and the first member's record creates the group.
        known = table_.find_as<ConsumerGroup>(command.group_id);
        place = known->find(member_id);
    }
    const ConsumerGroup& group = *known;
    const ConsumerMember& member = *place;
    const ConsumerSteps::RegexUpdate regex =
        steps_.update_regex(group, regex_before, member.subscription.topic_regex, now, effects);
    steps_.update_group_epoch(group, names_changed || regex.is_resolved, effects);
    steps_.update_target_assignment(group, now, effects);
    steps_.lead_on(group, member, names_changed || regex.changed, command.owned, now, effects);
    steps_.restart_session(group, member, now);

    const auto overrides = environment_.cluster->overrides(group.id());
    ConsumerHeartbeatResult result{
        .member_id = member.id,
        .member_epoch = member.progress.epoch,
        .heartbeat_interval_ms = overrides.heartbeat_interval_ms.value_or(environment_.config.consumer_heartbeat_interval_ms)};
    if (command.member_epoch == kJoiningEpoch || is_full(command) || member.progress.assigned != before) {
        result.assignment = without_epochs(member.progress.assigned);
    }
    reply(effects, command.reply_to, std::move(result));
    if (regex.resolve) {
        // As in Kafka, the member that brings an expression does not wait for its topics; it gets them with a later heartbeat.
        steps_.resolve_group_regexes(group, command.may_describe, now, effects);
    }
}

}  // namespace partita::groups
