// A member of a group of the new protocol (KIP-848): ConsumerGroupHeartbeat.

#include "broker/client/consumer_member.h"

#include <algorithm>

#include "protocol/messages/03_metadata.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

constexpr std::int32_t kJoining = 0;
constexpr std::int32_t kLeaving = -1;
constexpr std::int32_t kLeavingForAWhile = -2;

std::optional<std::string_view> optional_view(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

/// The names of topics by their ids. Leaves out topics that a broker does not know (yet).
Result<std::map<TopicId, std::string>> names_of(Cluster& cluster, const std::vector<TopicId>& ids) {
    std::vector<MetadataRequest::Topic> wanted;
    for (const TopicId& id : ids) {
        wanted.push_back({.topic_id = id, .name = std::nullopt});
    }
    constexpr std::int16_t kFindsById = 12;
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<MetadataResponse>(Route::any(), {.name = "metadata", .versions = {kFindsById}},
                                                     MetadataRequest{.topics = wanted, .allow_auto_topic_creation = false}));
    std::map<TopicId, std::string> names;
    for (const auto& topic : reply->topics) {
        if (topic.error_code == ErrorCode::none && topic.name) {
            names[topic.topic_id] = *topic.name;
        }
    }
    return names;
}

}  // namespace

ConsumerGroupMember::ConsumerGroupMember(Cluster& cluster, const MemberSettings& settings, Reader& reader)
    : cluster_(cluster),
      settings_(settings),
      reader_(reader),
      coordinator_(Route::coordinator(CoordinatorOf::group, settings.group)),
      member_id_(random_value<Uuid>().to_string()) {}

CommittingMember ConsumerGroupMember::identity() const { return {member_id_, epoch_, settings_.instance_id}; }

void ConsumerGroupMember::forget_membership() {
    if (!owned_.empty()) {
        reader_.lose(std::exchange(owned_, {}));
    }
    epoch_ = kJoining;
    news_ = News::everything;
    target_.clear();
    is_target_new_ = false;
}

Result<void> ConsumerGroupMember::keep(const SubscribedTopics& topics) {
    if (topics.names != topics_.names) {
        news_ = News::everything;
    }
    topics_ = topics;
    while (true) {
        if (std::exchange(is_fenced_, false)) {
            forget_membership();
        }
        PARTITA_TRY(reconcile());
        if (news_ == News::none && cluster_.network().clock().now().monotonic < next_beat_) {
            return {};
        }
        const bool was_joining = epoch_ == kJoining;
        PARTITA_TRY(heartbeat());
        // A fenced member joins anew; if joining got it fenced, it pauses first.
        if (was_joining && is_fenced_) {
            cluster_.network().pause(cluster_.settings().retry_backoff_ms);
        }
    }
}

Result<bool> ConsumerGroupMember::beat() {
    if (news_ != News::none || is_target_new_ || is_fenced_) {
        return false;
    }
    if (cluster_.network().clock().now().monotonic < next_beat_) {
        return true;
    }
    PARTITA_TRY(heartbeat());
    return !is_target_new_ && !is_fenced_;
}

Result<void> ConsumerGroupMember::heartbeat() {
    std::map<TopicId, std::vector<std::int32_t>> held;
    for (const auto& [id, name] : names_) {
        for (auto at = owned_.lower_bound({name, 0}); at != owned_.end() && at->topic == name; ++at) {
            held[id].push_back(at->partition);
        }
    }
    std::vector<ConsumerGroupHeartbeatRequest::TopicPartitions> partitions;
    for (auto& [id, list] : held) {
        partitions.push_back({.topic_id = id, .partitions = list});
    }
    const std::vector<std::string_view> names(topics_.names.begin(), topics_.names.end());
    ConsumerGroupHeartbeatRequest request{.group_id = settings_.group,
                                          .member_id = member_id_,
                                          .member_epoch = epoch_,
                                          .instance_id = optional_view(settings_.instance_id)};
    if (news_ == News::everything) {
        request.rack_id = optional_view(settings_.rack);
        request.rebalance_timeout_ms = static_cast<std::int32_t>(settings_.rebalance_timeout_ms);
        request.subscribed_topic_names = names;
        request.server_assignor = optional_view(settings_.remote_assignor);
    }
    if (news_ != News::none) {
        request.topic_partitions = partitions;
    }
    const auto make = [&](std::int16_t) { return request; };
    auto reply =
        cluster_.ask<ConsumerGroupHeartbeatResponse>(coordinator_, {.name = "consumerGroupHeartbeat"}, make,
                                                     [](const ConsumerGroupHeartbeatResponse& r) { return r.error_code; });
    PARTITA_TRY(reply);
    if ((*reply)->error_code != ErrorCode::none) {
        return take_answer((*reply)->error_code, (*reply)->error_message.value_or(""));
    }
    news_ = News::none;
    epoch_ = (*reply)->member_epoch;
    interval_ms_ = (*reply)->heartbeat_interval_ms;
    next_beat_ = cluster_.network().clock().now().monotonic + interval_ms_;
    if ((*reply)->assignment != nullptr) {
        target_.clear();
        is_target_new_ = true;
        for (const auto& topic : (*reply)->assignment->topic_partitions) {
            target_[topic.topic_id].assign(topic.partitions.begin(), topic.partitions.end());
        }
    }
    return {};
}

Result<void> ConsumerGroupMember::take_answer(ErrorCode code, std::string_view text) {
    if (code == ErrorCode::unknown_member_id || code == ErrorCode::fenced_member_epoch) {
        // The reader may be processing a record of a lost partition: `keep` tells it later.
        is_fenced_ = true;
        return {};
    }
    return std::unexpected(refusal(code, text));
}

Result<std::set<TopicPartition>> ConsumerGroupMember::named_target() {
    std::vector<TopicId> unknown;
    for (const auto& [id, partitions] : target_) {
        if (!names_.contains(id)) {
            unknown.push_back(id);
        }
    }
    if (!unknown.empty()) {
        PARTITA_TRY_ASSIGN(auto found, names_of(cluster_, unknown));
        names_.merge(found);
    }
    std::set<TopicPartition> named;
    for (const auto& [id, partitions] : target_) {
        const auto name = names_.find(id);
        if (name == names_.end()) {
            continue;
        }
        for (const std::int32_t partition : partitions) {
            named.insert({name->second, partition});
        }
    }
    return named;
}

Result<bool> ConsumerGroupMember::reconcile() {
    if (!is_target_new_) {
        return false;
    }
    PARTITA_TRY_ASSIGN(const auto target, named_target());
    // The next heartbeat looks again for a topic that no broker knows yet.
    is_target_new_ = std::ranges::any_of(target_, [&](const auto& topic) { return !names_.contains(topic.first); });
    std::set<TopicPartition> gone;
    std::set<TopicPartition> added;
    std::ranges::set_difference(owned_, target, std::inserter(gone, gone.end()));
    std::ranges::set_difference(target, owned_, std::inserter(added, added.end()));
    if (!gone.empty()) {
        reader_.let_go(gone);
    }
    owned_ = target;
    if (news_ == News::none) {
        news_ = News::partitions;
    }
    if (!added.empty()) {
        PARTITA_TRY(reader_.take(added));
    }
    return true;
}

Result<void> ConsumerGroupMember::leave() {
    if (epoch_ == kJoining) {
        return {};
    }
    const ConsumerGroupHeartbeatRequest request{.group_id = settings_.group,
                                                .member_id = member_id_,
                                                .member_epoch = settings_.instance_id ? kLeavingForAWhile : kLeaving,
                                                .instance_id = optional_view(settings_.instance_id)};
    auto reply = cluster_.ask<ConsumerGroupHeartbeatResponse>(
        coordinator_, {.name = "consumerGroupHeartbeat"}, [&](std::int16_t) { return request; },
        [](const ConsumerGroupHeartbeatResponse& r) { return r.error_code; });
    epoch_ = kJoining;
    PARTITA_TRY(reply);
    if ((*reply)->error_code != ErrorCode::none) {
        return std::unexpected(refusal((*reply)->error_code, (*reply)->error_message.value_or("")));
    }
    return {};
}

}  // namespace partita::client
