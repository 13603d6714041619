#include "broker/client/fetch.h"

#include <algorithm>

#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch_builder.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

/// Newer versions have topic ids instead of names.
constexpr Versions kFetchVersions{4, 12};
/// Limit of one answer, over all its partitions.
constexpr std::int32_t kFetchBytes = 50 * 1024 * 1024;
/// Limits the wait at one leader if there are several: the others may have records.
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
    PARTITA_TRY_ASSIGN(auto found, leaders_of(cluster_, "metadata", unknown));
    for (auto& [partition, leader] : found) {
        if (leader) {
            leaders_[partition] = *leader;
        } else if (!is_leader_moving(leader.error().code)) {
            return std::unexpected(std::move(leader.error()));
        }
    }
    return {};
}

Result<std::int64_t> Fetcher::poll(const Taker& take, std::int64_t wait_ms_max) {
    PARTITA_TRY(find_leaders());
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
        PARTITA_TRY_ASSIGN(auto taken, ask(leader, partitions, wait_ms, take, wants_more));
        count += taken;
    }
    return count;
}

Result<void> Fetcher::answer(const TopicPartition& partition, ErrorCode code) {
    if (code == ErrorCode::offset_out_of_range) {
        const auto time = settings_.reset.time_at(cluster_.network().clock().now().wall.value);
        if (!time) {
            return std::unexpected(refusal(code));
        }
        PARTITA_TRY_ASSIGN(const auto offsets, list_offsets(cluster_, {partition}, *time));
        if (const auto& offset = offsets.at(partition); offset) {
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
                                             .partition_max_bytes = settings_.partition_bytes});
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
    PARTITA_TRY_ASSIGN(auto reply, cluster_.ask<FetchResponse>(
                                       Route::node(leader),
                                       {.name = "fetch", .versions = kFetchVersions, .waits_at_broker_ms = wait_ms}, request));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    std::int64_t count = 0;
    for (const auto& topic : reply->responses) {
        for (const auto& data : topic.partitions) {
            const TopicPartition partition{std::string(topic.topic), data.partition_index};
            const auto position = positions_.find(partition);
            if (position == positions_.end() || !wants_more) {
                continue;
            }
            if (data.error_code != ErrorCode::none) {
                PARTITA_TRY(answer(partition, data.error_code));
                continue;
            }
            position->second.end =
                settings_.is_read_committed && data.last_stable_offset >= 0 ? data.last_stable_offset : data.high_watermark;
            std::vector<std::pair<std::int64_t, std::int64_t>> aborted;
            for (const auto& transaction : data.aborted_transactions) {
                aborted.emplace_back(transaction.first_offset, transaction.producer_id);
            }
            std::ranges::sort(aborted);
            PARTITA_TRY_ASSIGN(auto taken, hand_on(partition, data.records.bytes(), aborted, take, wants_more));
            count += taken;
        }
    }
    return count;
}

/// The aborted transactions of an answer; the caller passes batches in log order and asks which are aborted.
class Fetcher::Aborted {
  public:
    /// `transactions`: ascending pairs of a first offset and a producer.
    explicit Aborted(const std::vector<std::pair<std::int64_t, std::int64_t>>& transactions) : transactions_(transactions) {}

    [[nodiscard]] bool has(const BatchHeader& header) {
        while (next_ < transactions_.size() && transactions_[next_].first <= header.last_offset().value) {
            producers_.insert(transactions_[next_++].second);
        }
        // A marker ends its producer's aborted transaction. Committed transactions are not in the list.
        if (header.attributes.is_control()) {
            producers_.erase(header.producer_id.value);
        }
        return header.attributes.is_transactional() && producers_.contains(header.producer_id.value);
    }

  private:
    const std::vector<std::pair<std::int64_t, std::int64_t>>& transactions_;
    std::size_t next_ = 0;
    std::set<std::int64_t> producers_;
};

/// The records of one partition in an answer while they go to the taker.
struct Fetcher::Handing {
    const TopicPartition& partition;
    Position& position;
    const Taker& take;
    bool wants_more = true;
    std::int64_t count = 0;

    void hand_on(const FetchedRecord& record) {
        if (record.offset < position.offset) {
            return;
        }
        wants_more = take(record);
        ++count;
        position.offset = record.offset + 1;
        position.leader_epoch = record.leader_epoch;
    }
    [[nodiscard]] std::expected<void, BatchError> hand_on(const Batch& batch, Aborted& aborted);
};

std::expected<void, BatchError> Fetcher::Handing::hand_on(const Batch& batch, Aborted& aborted) {
    const BatchHeader& header = batch.header;
    if (!check_crc(batch)) {
        return std::unexpected(BatchError::crc_mismatch);
    }
    const bool is_left_out = aborted.has(header) || header.attributes.is_control();
    const bool has_time = header.magic > 0;
    RecordReader reader(batch);
    RecordView record;
    while (wants_more && !is_left_out) {
        PARTITA_TRY_ASSIGN(const auto more, reader.next(record));
        if (!more) {
            break;
        }
        hand_on({.topic = partition.topic,
                 .partition = partition.partition,
                 .offset = record.offset.value,
                 .timestamp_ms = record.timestamp.value,
                 .timestamp_type = has_time ? std::optional(header.attributes.timestamp_type()) : std::nullopt,
                 .leader_epoch = header.partition_leader_epoch.value,
                 .key = record.key,
                 .value = record.value,
                 .headers = record.headers()});
    }
    if (wants_more) {
        position.offset = std::max(position.offset, header.next_offset().value);
    }
    return {};
}

Result<std::int64_t> Fetcher::hand_on(const TopicPartition& partition, Bytes records,
                                      const std::vector<std::pair<std::int64_t, std::int64_t>>& aborted_transactions,
                                      const Taker& take, bool& wants_more) {
    Aborted aborted(aborted_transactions);
    Handing handing{.partition = partition, .position = positions_.at(partition), .take = take};
    const auto hand_on_next = [&]() -> std::expected<std::size_t, BatchError> {
        const auto batch = parse_log_batch(records);
        const auto done = batch ? handing.hand_on(*batch, aborted) : std::unexpected(batch.error());
        return done ? std::expected<std::size_t, BatchError>(batch->bytes.size()) : std::unexpected(done.error());
    };
    while (handing.wants_more && !records.empty()) {
        const auto used = hand_on_next();
        if (!used && used.error() == BatchError::truncated) {
            // A broker may cut an answer anywhere.
            break;
        }
        if (!used) {
            damage_ = batch_error_text(used.error());
            return std::unexpected(Failure{.kind = Failure::Kind::damaged,
                                           .message = "records of " + to_string(partition) + " at offset " +
                                                      std::to_string(handing.position.offset) + ": " + damage_});
        }
        records = records.subspan(*used);
    }
    wants_more = handing.wants_more;
    return handing.count;
}

}  // namespace partita::client
