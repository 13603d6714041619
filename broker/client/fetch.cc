#include "broker/client/fetch.h"

#include <algorithm>

#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch_builder.h"

namespace partita::client {
namespace {

/// From here on topics have ids and no names.
constexpr Versions kFetchVersions{4, 12};
constexpr std::int32_t kFetchBytes = 50 * 1024 * 1024;
constexpr std::int32_t kPartitionBytes = 1024 * 1024;
/// Of several leaders none is waited for longer: the others may have something.
constexpr std::int64_t kSharedWaitMs = 100;

}  // namespace

std::optional<std::int64_t> OffsetReset::time_at(std::int64_t now_ms) const {
    switch (kind) {
        case Kind::earliest:
            return kEarliest;
        case Kind::latest:
            return kLatest;
        case Kind::none:
            return std::nullopt;
        case Kind::by_duration:
            return std::max<std::int64_t>(0, now_ms - duration_ms);
    }
    return std::nullopt;
}

Result<void> Fetcher::find_leaders() {
    std::set<TopicPartition> unknown;
    for (const auto& [partition, position] : positions_) {
        if (!leaders_.contains(partition)) {
            unknown.insert(partition);
        }
    }
    if (unknown.empty()) {
        return {};
    }
    auto found = leaders_of(cluster_, "metadata", unknown);
    if (!found) {
        return std::unexpected(std::move(found.error()));
    }
    for (auto& [partition, leader] : *found) {
        if (leader) {
            leaders_[partition] = *leader;
        } else if (!is_leader_moving(leader.error().code)) {
            return std::unexpected(std::move(leader.error()));
        }
    }
    return {};
}

Result<std::int64_t> Fetcher::poll(const Taker& take, std::int64_t wait_ms_max) {
    if (auto found = find_leaders(); !found) {
        return std::unexpected(std::move(found.error()));
    }
    std::map<std::int32_t, std::vector<TopicPartition>> by_leader;
    for (const auto& [partition, position] : positions_) {
        if (const auto leader = leaders_.find(partition); leader != leaders_.end()) {
            by_leader[leader->second].push_back(partition);
        }
    }
    if (by_leader.empty()) {
        cluster_.network().pause(cluster_.settings().retry_backoff_ms);
    }
    const std::int64_t most_ms = std::clamp<std::int64_t>(wait_ms_max, 0, settings_.max_wait_ms);
    const std::int64_t wait_ms = by_leader.size() > 1 ? std::min(kSharedWaitMs, most_ms) : most_ms;
    std::int64_t count = 0;
    bool wants_more = true;
    for (const auto& [leader, partitions] : by_leader) {
        if (!wants_more) {
            break;
        }
        auto taken = ask(leader, partitions, wait_ms, take, wants_more);
        if (!taken) {
            return taken;
        }
        count += *taken;
    }
    return count;
}

Result<void> Fetcher::answer(const TopicPartition& partition, ErrorCode code) {
    if (code == ErrorCode::offset_out_of_range) {
        const auto time = settings_.reset.time_at(cluster_.network().clock().now().wall.value);
        if (!time) {
            return std::unexpected(refusal(code));
        }
        const auto offsets = list_offsets(cluster_, {partition}, *time);
        if (!offsets) {
            return std::unexpected(offsets.error());
        }
        if (const auto& offset = offsets->at(partition); offset) {
            positions_[partition].offset = *offset;
        } else {
            return std::unexpected(offset.error());
        }
        return {};
    }
    if (!is_leader_moving(code)) {
        return std::unexpected(refusal(code));
    }
    leaders_.erase(partition);
    cluster_.network().pause(cluster_.settings().retry_backoff_ms);
    return {};
}

Result<std::int64_t> Fetcher::ask(std::int32_t leader, const std::vector<TopicPartition>& partitions, std::int64_t wait_ms,
                                  const Taker& take, bool& wants_more) {
    std::map<std::string_view, std::vector<FetchRequest::FetchPartition>> by_topic;
    for (const TopicPartition& partition : partitions) {
        by_topic[partition.topic].push_back({.partition = partition.partition,
                                             .fetch_offset = positions_.at(partition).offset,
                                             .partition_max_bytes = kPartitionBytes});
    }
    std::vector<FetchRequest::FetchTopic> topics;
    for (auto& [name, list] : by_topic) {
        topics.push_back({.topic = name, .partitions = list});
    }
    const FetchRequest request{.max_wait_ms = static_cast<std::int32_t>(wait_ms),
                               .min_bytes = 1,
                               .max_bytes = kFetchBytes,
                               .isolation_level = static_cast<std::int8_t>(settings_.is_read_committed ? 1 : 0),
                               .topics = topics};
    auto reply = cluster_.ask<FetchResponse>(
        Route::node(leader), {.name = "fetch", .versions = kFetchVersions, .waits_at_broker_ms = wait_ms}, request);
    if (!reply) {
        return std::unexpected(std::move(reply.error()));
    }
    if ((*reply)->error_code != ErrorCode::none) {
        return std::unexpected(refusal((*reply)->error_code));
    }
    std::int64_t count = 0;
    for (const auto& topic : (*reply)->responses) {
        for (const auto& data : topic.partitions) {
            const TopicPartition partition{std::string(topic.topic), data.partition_index};
            const auto position = positions_.find(partition);
            if (position == positions_.end() || !wants_more) {
                continue;
            }
            if (data.error_code != ErrorCode::none) {
                if (auto done = answer(partition, data.error_code); !done) {
                    return std::unexpected(std::move(done.error()));
                }
                continue;
            }
            position->second.end =
                settings_.is_read_committed && data.last_stable_offset >= 0 ? data.last_stable_offset : data.high_watermark;
            std::vector<std::pair<std::int64_t, std::int64_t>> aborted;
            for (const auto& transaction : data.aborted_transactions) {
                aborted.emplace_back(transaction.first_offset, transaction.producer_id);
            }
            std::ranges::sort(aborted);
            auto taken = hand_on(partition, data.records.bytes(), aborted, take, wants_more);
            if (!taken) {
                return taken;
            }
            count += *taken;
        }
    }
    return count;
}

Result<std::int64_t> Fetcher::hand_on(const TopicPartition& partition, Bytes records,
                                      const std::vector<std::pair<std::int64_t, std::int64_t>>& aborted, const Taker& take,
                                      bool& wants_more) {
    Position& position = positions_.at(partition);
    const auto malformed = [&](BatchError error) {
        return std::unexpected(Failure{.kind = Failure::Kind::malformed,
                                       .message = "records of " + to_string(partition) + " at offset " +
                                                  std::to_string(position.offset) + ": " + std::string(batch_error_text(error))});
    };
    std::int64_t count = 0;
    std::set<std::int64_t> aborting;
    std::size_t next_aborted = 0;
    BatchCursor cursor(records);
    while (wants_more && cursor.next()) {
        const Batch& batch = cursor.batch();
        const BatchHeader& header = batch.header;
        if (!check_crc(batch)) {
            return malformed(BatchError::crc_mismatch);
        }
        while (next_aborted < aborted.size() && aborted[next_aborted].first <= header.last_offset().value) {
            aborting.insert(aborted[next_aborted++].second);
        }
        // A marker ends what its producer has aborted, and what it has committed is in no list.
        if (header.attributes.is_control()) {
            aborting.erase(header.producer_id.value);
        }
        const bool is_aborted = header.attributes.is_transactional() && aborting.contains(header.producer_id.value);
        RecordReader reader(batch);
        RecordView record;
        while (wants_more && !header.attributes.is_control() && !is_aborted) {
            const auto more = reader.next(record);
            if (!more) {
                return malformed(more.error());
            }
            if (!*more) {
                break;
            }
            if (record.offset.value < position.offset) {
                continue;
            }
            wants_more = take({.topic = partition.topic,
                               .partition = partition.partition,
                               .offset = record.offset.value,
                               .timestamp_ms = record.timestamp.value,
                               .timestamp_type = header.attributes.timestamp_type(),
                               .leader_epoch = header.partition_leader_epoch.value,
                               .key = record.key,
                               .value = record.value,
                               .headers = record.headers()});
            ++count;
            position.offset = record.offset.value + 1;
            position.leader_epoch = header.partition_leader_epoch.value;
        }
        if (wants_more) {
            position.offset = std::max(position.offset, header.next_offset().value);
        }
    }
    if (cursor.error()) {
        return malformed(*cursor.error());
    }
    return count;
}

}  // namespace partita::client
