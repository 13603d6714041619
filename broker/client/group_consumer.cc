#include "broker/client/group_consumer.h"

#include <algorithm>

#include "broker/client/classic_member.h"
#include "broker/client/consumer_member.h"
#include "broker/client/topics.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/try.h"

namespace partita::client {

namespace {

/// The group does not know the committing member, or knows it under another generation.
bool is_of_membership(ErrorCode code) {
    return code == ErrorCode::unknown_member_id || code == ErrorCode::illegal_generation ||
           code == ErrorCode::rebalance_in_progress || code == ErrorCode::stale_member_epoch ||
           code == ErrorCode::fenced_instance_id;
}

}  // namespace

std::unique_ptr<GroupMember> GroupMember::make(Cluster& cluster, const MemberSettings& settings, Reader& reader) {
    switch (settings.protocol) {
        case GroupProtocol::classic:
            return std::make_unique<ClassicGroupMember>(cluster, settings, reader);
        case GroupProtocol::consumer:
            break;
    }
    return std::make_unique<ConsumerGroupMember>(cluster, settings, reader);
}

Result<std::map<std::string, std::int32_t>> partition_counts(Cluster& cluster, const std::vector<std::string>& names,
                                                             bool may_create) {
    std::map<std::string, std::int32_t> counts;
    if (names.empty()) {
        return counts;
    }
    std::vector<MetadataRequest::Topic> wanted;
    for (const std::string& name : names) {
        wanted.push_back({.name = name});
    }
    MetadataRequest request{.topics = wanted};
    const auto make = [&](std::int16_t version) {
        constexpr std::int16_t kHasCreation = 4;
        request.allow_auto_topic_creation = version < kHasCreation || may_create;
        return request;
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<MetadataResponse>(Route::any(), {.name = "metadata", .versions = {1}}, make,
                                                                 [](const MetadataResponse&) { return ErrorCode::none; }));
    for (const auto& topic : reply->topics) {
        if (topic.error_code == ErrorCode::none) {
            counts[std::string(topic.name.value_or(""))] = static_cast<std::int32_t>(topic.partitions.size);
        } else if (topic.error_code != ErrorCode::unknown_topic_or_partition && !is_leader_moving(topic.error_code)) {
            return std::unexpected(refusal(topic.error_code));
        }
    }
    return counts;
}

GroupConsumer::GroupConsumer(Cluster& cluster, GroupConsumerSettings settings)
    : cluster_(cluster),
      settings_(std::move(settings)),
      fetcher_(cluster, settings_.fetch),
      member_(GroupMember::make(cluster, settings_.member, *this)) {}

void GroupConsumer::warn(const std::string& line) const {
    if (settings_.warn) {
        settings_.warn(line);
    }
}

Result<void> GroupConsumer::look_for_topics() {
    const Instant now = cluster_.network().clock().now().monotonic;
    if (next_look_ && now < *next_look_) {
        return {};
    }
    std::vector<std::string> names = settings_.topics;
    if (settings_.matches) {
        PARTITA_TRY_ASSIGN(const auto listed, list_topics(cluster_));
        for (const ListedTopic& topic : listed) {
            if (settings_.matches(topic.name)) {
                names.push_back(topic.name);
            }
        }
    }
    std::ranges::sort(names);
    PARTITA_TRY_ASSIGN(auto counts, partition_counts(cluster_, names, settings_.may_create_topics && !settings_.matches));
    const bool is_complete = counts.size() == names.size();
    for (const std::string& name : names) {
        if (counts.contains(name) || !warned_.insert(name).second) {
            continue;
        }
        warn("Error while fetching metadata: {" + name + "=UNKNOWN_TOPIC_OR_PARTITION}");
    }
    topics_ = {std::move(names), std::move(counts)};
    // Look again soon while a wanted topic is missing.
    next_look_ = now + (is_complete ? settings_.metadata_max_age_ms : cluster_.settings().retry_backoff_max_ms);
    return {};
}

Result<std::int64_t> GroupConsumer::poll(const Fetcher::Taker& take, std::int64_t wait_ms) {
    PARTITA_TRY(look_for_topics());
    Clock& clock = cluster_.network().clock();
    const Instant begin = clock.now().monotonic;
    if (!next_commit_) {
        next_commit_ = begin + settings_.commit_interval_ms;
    }
    if (settings_.commits && begin >= *next_commit_) {
        commit(assigned_);
        next_commit_ = begin + settings_.commit_interval_ms;
    }
    PARTITA_TRY(member_->keep(topics_));
    const std::int64_t until_beat_ms = std::max<std::int64_t>(0, member_->next_beat() - clock.now().monotonic);
    if (!fetcher_.has_partitions()) {
        const std::int64_t until_look_ms = std::max<std::int64_t>(0, *next_look_ - clock.now().monotonic);
        cluster_.network().pause(std::min({wait_ms, until_beat_ms, until_look_ms}));
        return 0;
    }
    std::optional<Failure> failure;
    auto taken = fetcher_.poll(
        [&](const FetchedRecord& record) {
            const bool wants_more = take(record);
            // A slow taker must not cost the membership.
            const auto alive = member_->beat();
            if (!alive) {
                failure = alive.error();
            }
            return wants_more && alive && *alive;
        },
        std::min(wait_ms, until_beat_ms));
    if (taken && failure) {
        return std::unexpected(std::move(*failure));
    }
    return taken;
}

void GroupConsumer::let_go(const std::set<TopicPartition>& partitions) {
    if (settings_.commits) {
        commit(partitions);
    }
    lose(partitions);
}

void GroupConsumer::lose(const std::set<TopicPartition>& partitions) {
    for (const TopicPartition& partition : partitions) {
        fetcher_.leave(partition);
        assigned_.erase(partition);
        committed_.erase(partition);
    }
    if (settings_.on_revoked) {
        settings_.on_revoked(partitions);
    }
}

Result<std::map<TopicPartition, CommittedOffset>> GroupConsumer::committed(const std::set<TopicPartition>& partitions) {
    Clock& clock = cluster_.network().clock();
    const Instant deadline = clock.now().monotonic + cluster_.settings().default_api_timeout_ms;
    while (true) {
        // Wait for offsets that a transaction is about to commit: they decide where to continue.
        auto offsets = stable_offsets(cluster_, settings_.member.group, partitions);
        if (offsets || offsets.error().code != ErrorCode::unstable_offset_commit || clock.now().monotonic >= deadline) {
            return offsets;
        }
        cluster_.network().pause(cluster_.settings().retry_backoff_ms);
    }
}

Result<void> GroupConsumer::take(const std::set<TopicPartition>& partitions) {
    if (settings_.on_assigned) {
        settings_.on_assigned(partitions);
    }
    PARTITA_TRY_ASSIGN(const auto offsets, committed(partitions));
    std::vector<TopicPartition> fresh;
    for (const TopicPartition& partition : partitions) {
        if (const auto found = offsets.find(partition); found != offsets.end()) {
            fetcher_.seek(partition, found->second.offset);
            committed_[partition] = found->second.offset;
        } else {
            fresh.push_back(partition);
        }
    }
    if (!fresh.empty()) {
        const auto time = settings_.fetch.reset.time_at(cluster_.network().clock().now().wall.value);
        if (!time) {
            return std::unexpected(Failure{.kind = Failure::Kind::refused,
                                           .code = ErrorCode::offset_out_of_range,
                                           .message = "Undefined offset with no reset policy for partitions: [" +
                                                      to_string(fresh.front()) + (fresh.size() > 1 ? ", ...]" : "]")});
        }
        PARTITA_TRY_ASSIGN(const auto found, list_offsets(cluster_, fresh, *time));
        std::vector<TopicPartition> at_end;
        for (const auto& [partition, offset] : found) {
            PARTITA_TRY(offset);
            if (*offset < 0) {
                at_end.push_back(partition);
            }
            fetcher_.seek(partition, *offset);
        }
        // No record is as young as by_duration demands: continue at the end.
        if (!at_end.empty()) {
            PARTITA_TRY_ASSIGN(const auto ends, list_offsets(cluster_, at_end, kLatest));
            for (const auto& [partition, offset] : ends) {
                PARTITA_TRY(offset);
                fetcher_.seek(partition, *offset);
            }
        }
    }
    assigned_.insert(partitions.begin(), partitions.end());
    return {};
}

void GroupConsumer::commit(const std::set<TopicPartition>& partitions) {
    std::map<TopicPartition, CommittedOffset> positions;
    for (const TopicPartition& partition : partitions) {
        if (!fetcher_.reads(partition)) {
            continue;
        }
        const std::int64_t offset = fetcher_.position(partition);
        if (const auto known = committed_.find(partition); known != committed_.end() && known->second == offset) {
            continue;
        }
        const std::int32_t epoch = fetcher_.leader_epoch(partition);
        positions[partition] = {offset, epoch < 0 ? std::nullopt : std::optional(epoch)};
    }
    if (positions.empty()) {
        return;
    }
    auto done = commit_offsets(cluster_, settings_.member.group, member_->identity(), positions);
    if (!done && done.error().code == ErrorCode::stale_member_epoch) {
        // The group has moved on; the member learns of it with its next heartbeat.
        member_->doubt();
        if (member_->beat()) {
            done = commit_offsets(cluster_, settings_.member.group, member_->identity(), positions);
        }
    }
    if (done) {
        for (const auto& [partition, position] : positions) {
            committed_[partition] = position.offset;
        }
        return;
    }
    if (is_of_membership(done.error().code)) {
        member_->doubt();
    }
    warn("Offset commit of group " + settings_.member.group + " failed: " + done.error().message);
}

Result<void> GroupConsumer::close() {
    if (settings_.commits) {
        commit(assigned_);
    }
    lose(std::set<TopicPartition>(assigned_));
    return member_->leave();
}

}  // namespace partita::client
