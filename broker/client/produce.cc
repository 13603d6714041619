#include "broker/client/produce.h"

#include <algorithm>

#include "broker/partitioners/families.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/random_bytes.h"
#include "protocol/record_batch_builder.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

std::optional<Bytes> bytes_of(const std::optional<std::string>& text) {
    return text ? std::optional(as_bytes(*text)) : std::nullopt;
}

std::size_t size_of(const OwnedRecord& record) {
    constexpr std::size_t kOverhead = 16;
    std::size_t bytes = kOverhead + (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
    for (const auto& [key, value] : record.headers) {
        bytes += key.size() + (value ? value->size() : 0);
    }
    return bytes;
}

}  // namespace

bool is_worth_repeating(const Failure& failure) {
    constexpr ErrorCode kPassing[] = {ErrorCode::request_timed_out,
                                      ErrorCode::not_enough_replicas,
                                      ErrorCode::not_enough_replicas_after_append,
                                      ErrorCode::network_exception,
                                      ErrorCode::unknown_topic_or_partition,
                                      ErrorCode::corrupt_message,
                                      ErrorCode::coordinator_load_in_progress};
    if (failure.kind != Failure::Kind::refused) {
        return failure.kind == Failure::Kind::unreachable || failure.kind == Failure::Kind::timed_out ||
               failure.kind == Failure::Kind::disconnected;
    }
    return is_leader_moving(failure.code) || std::ranges::find(kPassing, failure.code) != std::end(kPassing);
}

Producer::Producer(Cluster& cluster, std::string topic, ProducerSettings settings)
    : cluster_(cluster), topic_(std::move(topic)), settings_(settings) {}

Result<Leaders> find_leaders(Cluster& cluster, const std::string& topic_name, bool may_create) {
    MetadataRequest::Topic wanted{.name = topic_name};
    MetadataRequest request{.topics = {&wanted, 1}};
    const auto make = [&](std::int16_t version) {
        constexpr std::int16_t kHasCreation = 4;
        request.allow_auto_topic_creation = may_create || version < kHasCreation;
        return request;
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<MetadataResponse>(Route::any(), {.name = "metadata", .versions = {1}}, make,
                                                                 [](const MetadataResponse&) { return ErrorCode::none; }));
    Leaders leaders;
    for (const auto& topic : reply->topics) {
        if (topic.error_code != ErrorCode::none) {
            return std::unexpected(refusal(topic.error_code));
        }
        for (const auto& partition : topic.partitions) {
            leaders[partition.partition_index] = partition.leader_id;
        }
    }
    if (leaders.empty()) {
        return std::unexpected(refusal(ErrorCode::unknown_topic_or_partition));
    }
    return leaders;
}

Result<Leaders> await_topic(Cluster& cluster, const std::string& topic) {
    Clock& clock = cluster.network().clock();
    const Instant deadline = clock.now().monotonic + cluster.settings().default_api_timeout_ms;
    while (true) {
        auto found = find_leaders(cluster, topic, true);
        if (found) {
            return found;
        }
        const ErrorCode code = found.error().code;
        const bool may_come = code == ErrorCode::unknown_topic_or_partition || code == ErrorCode::leader_not_available;
        if (!may_come) {
            return found;
        }
        if (deadline - clock.now().monotonic <= cluster.settings().retry_backoff_ms) {
            return std::unexpected(Failure{.kind = Failure::Kind::timed_out,
                                           .code = code,
                                           .message = "Topic " + topic + " not present in metadata after " +
                                                      std::to_string(cluster.settings().default_api_timeout_ms) + " ms."});
        }
        cluster.network().pause(cluster.settings().retry_backoff_ms);
    }
}

Result<void> Producer::open() {
    PARTITA_TRY_ASSIGN(leaders_, await_topic(cluster_, topic_));
    if (settings_.acks != -1) {
        return {};
    }
    const InitProducerIdRequest request{.transactional_id = std::nullopt, .transaction_timeout_ms = 60'000};
    const auto reply = cluster_.ask<InitProducerIdResponse>(
        Route::any(), {.name = "initProducerId"}, [&](std::int16_t) { return request; },
        [](const InitProducerIdResponse& r) { return r.error_code; });
    // Without a producer id it continues like old producers, not idempotent.
    if (reply && (*reply)->error_code == ErrorCode::none) {
        producer_id_ = {(*reply)->producer_id};
        producer_epoch_ = {(*reply)->producer_epoch};
    }
    return {};
}

std::int32_t Producer::place(const OwnedRecord& record) {
    if (record.partition) {
        return *record.partition;
    }
    const auto count = static_cast<std::int32_t>(leaders_.size());
    if (record.key) {
        return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(*record.key), count).value;
    }
    if (!sticky_) {
        sticky_ = static_cast<std::int32_t>(random_value<std::uint32_t>() % static_cast<std::uint32_t>(count));
    }
    return *sticky_;
}

Result<void> Producer::append(OwnedRecord record) {
    const std::int32_t partition = place(record);
    if (!leaders_.contains(partition)) {
        return std::unexpected(Failure{.kind = Failure::Kind::bad_setting,
                                       .message = "Partition " + std::to_string(partition) + " of topic " + topic_ +
                                                  " with partition count " + std::to_string(leaders_.size()) +
                                                  " is not present in metadata"});
    }
    if (!record.timestamp_ms) {
        record.timestamp_ms = cluster_.network().clock().now().wall.value;
    }
    Waiting& waiting = waiting_[partition];
    waiting.bytes += size_of(record);
    waiting.records.push_back(std::move(record));
    if (waiting.bytes < settings_.batch_bytes) {
        return {};
    }
    return send(partition);
}

Result<void> Producer::flush() {
    Result<void> outcome;
    while (!waiting_.empty()) {
        auto sent = send(waiting_.begin()->first);
        if (!sent) {
            outcome = std::move(sent);
        }
    }
    return outcome;
}

std::vector<std::byte> Producer::encode(const Waiting& waiting, std::int32_t partition) const {
    const auto sequence = sequences_.find(partition);
    BatchBuilder builder({.codec = settings_.codec,
                          .producer_id = producer_id_,
                          .producer_epoch = producer_epoch_,
                          .base_sequence = {producer_id_ == kNoProducerId  ? -1
                                            : sequence == sequences_.end() ? 0
                                                                           : sequence->second}});
    std::vector<RecordHeader> headers;
    for (const OwnedRecord& record : waiting.records) {
        headers.clear();
        for (const auto& [key, value] : record.headers) {
            headers.push_back({key, bytes_of(value)});
        }
        builder.append({*record.timestamp_ms}, bytes_of(record.key), bytes_of(record.value), headers);
    }
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

Result<void> Producer::send(std::int32_t partition) {
    const Waiting waiting = std::move(waiting_.at(partition));
    waiting_.erase(partition);
    if (sticky_ == partition) {
        sticky_.reset();
    }
    return send_batch(partition, encode(waiting, partition), static_cast<std::int32_t>(waiting.records.size()));
}

Result<void> Producer::send_batch(std::int32_t partition, const std::vector<std::byte>& batch, std::int32_t records) {
    Clock& clock = cluster_.network().clock();
    const Instant deadline = clock.now().monotonic + settings_.delivery_timeout_ms;
    while (true) {
        auto sent = send_once(partition, batch);
        const bool is_known = !sent && sent.error().code == ErrorCode::duplicate_sequence_number;
        if (sent || is_known) {
            // Sequences wrap from 2^31-1 to 0.
            const std::uint32_t next = static_cast<std::uint32_t>(sequences_[partition]) + static_cast<std::uint32_t>(records);
            sequences_[partition] = static_cast<std::int32_t>(next & 0x7fffffffu);
            return {};
        }
        if (!is_worth_repeating(sent.error()) || deadline - clock.now().monotonic <= cluster_.settings().retry_backoff_max_ms) {
            // The next batch no longer follows this one: start a new sequence.
            producer_id_ = kNoProducerId;
            return sent;
        }
        cluster_.network().pause(cluster_.settings().retry_backoff_ms);
        if (auto found = find_leaders(cluster_, topic_, false)) {
            leaders_ = std::move(*found);
        } else if (!is_worth_repeating(found.error())) {
            return std::unexpected(std::move(found.error()));
        }
    }
}

Result<void> Producer::send_once(std::int32_t partition, const std::vector<std::byte>& batch) {
    const auto leader = leaders_.find(partition);
    if (leader == leaders_.end() || leader->second < 0) {
        return std::unexpected(refusal(ErrorCode::leader_not_available));
    }
    ProduceRequest::PartitionProduceData data{.index = partition, .records = Bytes(batch)};
    ProduceRequest::TopicProduceData topic{.name = topic_, .partition_data = {&data, 1}};
    const std::int64_t timeout_ms = cluster_.settings().request_timeout_ms;
    const ProduceRequest request{.transactional_id = std::nullopt,
                                 .acks = settings_.acks,
                                 .timeout_ms = static_cast<std::int32_t>(timeout_ms),
                                 .topic_data = {&topic, 1}};
    const Instant deadline = cluster_.network().clock().now().monotonic + timeout_ms;
    PARTITA_TRY_ASSIGN(auto connection, cluster_.connection_to(Route::node(leader->second), deadline));
    const ApiInfo& api = *find_api(ApiKey::produce);
    PARTITA_TRY_ASSIGN(const auto version, connection->version_for(api, kProduceVersions));
    if (settings_.acks == 0) {
        auto sent = connection->send(api, version, &request, deadline);
        if (!sent) {
            cluster_.drop(*connection);
        }
        return sent;
    }
    auto raw = connection->call(api, version, &request, deadline);
    if (!raw) {
        cluster_.drop(*connection);
        return std::unexpected(std::move(raw.error()));
    }
    for (const auto& answered : static_cast<const ProduceResponse*>(raw->message)->responses) {
        for (const auto& result : answered.partition_responses) {
            if (result.error_code == ErrorCode::none) {
                continue;
            }
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

}  // namespace partita::client
