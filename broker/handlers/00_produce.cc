// Produce: v3-13.
//
//   v8: errors of single records; v9: flexible; v10: leader hints (never needed on one broker, all
//   partitions are here); v12: implicit AddPartitionsToTxn; v13: topics by id only.
//
// acks=0 is answered with nothing, and with a closed connection when a partition failed. Appends of all
// requests in a loop turn are staged and written together; the reply is made after that
// (finish_produce), or, with flush.messages, after the sync.
//
// With a limit on capacity (SharedCapacity) what the request sends is charged before it is staged, and what is refused is given
// back. A request that would have to wait for longer than its client does is refused: POLICY_VIOLATION.
//
// Batches of transactions are verified with their coordinator before any batch of the request is staged: see
// produce_verification.h. Requests without such batches pass that by.

#include <atomic>
#include <vector>

#include "broker/access/offer.h"
#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/catalog/internal_topics.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/client_roles.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/produce_capacity.h"
#include "broker/handlers/produce_verification.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/logs/append_error_code.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/assert.h"
#include "protocol/messages/00_produce.h"
#include "protocol/produce_validation.h"
#include "protocol/record_batch_builder.h"
#include "storage/log_flusher.h"

namespace partita::handlers {

PARTITA_SERVES(produce, access::kWriteTransactionalId, access::kWriteTopic);

namespace {

using runtime::StagedPartition;
using runtime::StagedRequest;
using runtime::TopicState;
using runtime::Turn;
using PartitionResponse = ProduceResponse::PartitionProduceResponse;

constexpr std::string_view kAdminClientId = "__admin_client";

/// For requests that have nothing to verify.
constexpr PartitionVerification kNothingVerified{};

/// What a produce remembers until its appends are written; in the turn's arena.
struct ProduceInProgress {
    runtime::Services* services = nullptr;
    /// Of the client's principal, if that is counted. What is counted stays as long as the broker.
    access::Usage* usage = nullptr;
    ProduceResponse response;
    Array<PartitionResponse> partitions;  ///< All of the reply's partitions, in order.
    std::int16_t acks = -1;
    bool failed = false;
    /// The topics, while capacity is counted; otherwise empty.
    Array<MeteredTopic> metered;
};

void fail(PartitionResponse& response, ErrorCode code) {
    response.error_code = code;
    response.base_offset = -1;
    response.log_append_time_ms = -1;
}

/// A batch that reached the log is refused with where the log begins; what Kafka finds before that, or takes for
/// damage, is refused without.
bool reaches_the_log(ProduceError error) {
    switch (error) {
        case ProduceError::no_batch:
        case ProduceError::old_magic:
        case ProduceError::zstd_before_version_7:
        case ProduceError::more_than_one_batch:
        case ProduceError::malformed_batch:
        case ProduceError::batch_too_large:
        case ProduceError::crc_mismatch:
        case ProduceError::batch_exceeds_segment:
            return false;
        case ProduceError::base_offset_not_zero:
        case ProduceError::unknown_codec:
        case ProduceError::invalid_offset_range:
        case ProduceError::invalid_record_count:
        case ProduceError::inconsistent_count:
        case ProduceError::control_batch:
        case ProduceError::invalid_sequence:
        case ProduceError::invalid_record:
        case ProduceError::invalid_offset_delta:
        case ProduceError::corrupt_compression:
        case ProduceError::decompressed_too_large:
        case ProduceError::record_without_key:
        case ProduceError::invalid_timestamp:
            return true;
    }
    return true;
}

void fail_validation(PartitionResponse& response, const ProduceFailure& failure, const ProduceRules& rules,
                     std::string_view topic_partition, Arena& arena) {
    fail(response, produce_error_code(failure.error));
    if (const auto message = produce_error_message(failure, rules, topic_partition)) {
        response.error_message = arena.copy(*message);
    }
    ArenaVector<ProduceResponse::BatchIndexAndErrorMessage> faults(arena, failure.record_faults.size());
    for (const RecordFault& fault : failure.record_faults) {
        faults.push_back({.batch_index = fault.batch_index,
                          .batch_index_error_message = arena.copy(record_fault_message(failure, fault, rules, topic_partition))});
    }
    response.record_errors = faults;
}

ProduceRules rules_for(const config::TopicConfig& config, TimestampMs now, std::int16_t version) {
    return {
        .max_message_bytes = config.max_message_bytes,
        .segment_bytes = config.segment_bytes,
        .timestamp_before_max_ms = config.message_timestamp_before_max_ms,
        .timestamp_after_max_ms = config.message_timestamp_after_max_ms,
        .now = now,
        .timestamp_type = config.message_timestamp_type == config::TimestampType::log_append_time ? TimestampType::log_append_time
                                                                                                  : TimestampType::create_time,
        .compacted = config.cleanup_compact,
        .produce_version = version,
    };
}

std::optional<Codec> forced_codec(config::CompressionSetting setting) {
    switch (setting) {
        case config::CompressionSetting::producer:
            return std::nullopt;
        case config::CompressionSetting::uncompressed:
            return Codec::none;
        case config::CompressionSetting::gzip:
            return Codec::gzip;
        case config::CompressionSetting::snappy:
            return Codec::snappy;
        case config::CompressionSetting::lz4:
            return Codec::lz4;
        case config::CompressionSetting::zstd:
            return Codec::zstd;
    }
    return std::nullopt;
}

std::optional<int> compression_level(const config::TopicConfig& config, Codec codec) {
    switch (codec) {
        case Codec::gzip:
            return config.compression_gzip_level;
        case Codec::lz4:
            return config.compression_lz4_level;
        case Codec::zstd:
            return config.compression_zstd_level;
        case Codec::none:
        case Codec::snappy:
            return std::nullopt;
    }
    return std::nullopt;
}

/// The bytes to store: those received, or, where the topic's compression.type is another codec, a new
/// batch in the turn's arena.
std::expected<MutableBytes, BatchError> bytes_to_store(MutableBytes received, const ProducedBatch& produced,
                                                       const config::TopicConfig& config, Arena& arena) {
    const std::optional<Codec> wanted = forced_codec(config.compression_type);
    if (!wanted || produced.batch.header.attributes.codec() == wanted) {
        return received.first(produced.batch.bytes.size());
    }
    std::vector<std::byte> recompressed;
    if (auto done = recompress_batch(produced.batch, *wanted, compression_level(config, *wanted), recompressed); !done) {
        return std::unexpected(done.error());
    }
    auto* stored = static_cast<std::byte*>(arena.allocate_unlimited(recompressed.size(), 1));
    std::memcpy(stored, recompressed.data(), recompressed.size());
    return MutableBytes(stored, recompressed.size());
}

/// As with Kafka, an administrator's client is one that says so.
bool may_write_internal(const runtime::RequestContext& context, std::string_view topic) {
    return context.client_id == kAdminClientId && catalog::takes_records_of_administrators(topic);
}

/// Whether the records are compressed in a way that is not accepted instead of Kafka's.
bool is_refused_by_profile(const runtime::RequestContext& context, const Records& records) {
    const access::Offer* const offer = context.services.extensions.offer;
    if (offer == nullptr) [[likely]] {
        return false;
    }
    const Bytes bytes = records.bytes();
    if (bytes.size() < kBatchHeaderBytes) {
        return false;
    }
    const auto header = parse_batch_header(bytes);
    const std::optional<Codec> codec = header ? header->attributes.codec() : std::nullopt;
    return codec && !offer->accepts(*codec);
}

/// Validates and stages one partition. Fills `response` when that fails.
void stage_partition(runtime::RequestContext& context, StagedRequest& staged, const TopicState& topic,
                     runtime::Partition* partition, const ProduceRequest::PartitionProduceData& data, std::size_t reply_index,
                     const std::optional<TransactionVerification>& verification, PartitionResponse& response) {
    if (topic.topic->internal && !may_write_internal(context, topic.topic->name)) {
        return fail(response, ErrorCode::invalid_topic_exception);
    }
    if (is_refused_by_profile(context, data.records)) [[unlikely]] {
        return fail(response, ErrorCode::unsupported_for_message_format);
    }
    const config::TopicConfig& config = *topic.config;
    const TimestampMs now = context.now().wall;
    const ProduceRules rules = rules_for(config, now, context.version());
    const std::expected<ProducedBatch, ProduceFailure> produced = validate_produced_batch(data.records.bytes(), rules);
    if (!produced) {
        if (reaches_the_log(produced.error().error)) {
            response.log_start_offset = partition->log->log_start_offset().value;
        }
        return fail_validation(response, produced.error(), rules, partition->log->directory_name(), context.arena());
    }
    // The request's bytes are ours to change: they lie in the connection's read buffer.
    const MutableBytes received(const_cast<std::byte*>(data.records.data), static_cast<std::size_t>(data.records.size));
    const auto stored = bytes_to_store(received, *produced, config, context.arena());
    if (!stored) {
        return fail(response, ErrorCode::corrupt_message);
    }
    if (produced->changes_timestamps()) {
        patch_max_timestamp(*stored, produced->timestamp_type, produced->max_timestamp);
    }
    if (topic.expansion != nullptr) [[unlikely]] {
        tell_when_closed(context, topic.expansion);
        topic.expansion->on_produce(topic, PartitionIndex{data.index},
                                    {.producer_id = produced->batch.header.producer_id,
                                     .connection = context.client.id,
                                     .client_id = context.client_id,
                                     .address = context.client.host},
                                    context.now());
    }
    auto append =
        partition->log->stage(*stored, {.leader_epoch = partition->leader_epoch(), .now = now, .verification = verification});
    if (!append) {
        if (append.error().failure != AppendFailure::storage_error && append.error().failure != AppendFailure::closed) {
            response.log_start_offset = partition->log->log_start_offset().value;
        }
        return fail(response, runtime::append_error_code(append.error().failure));
    }
    context.turn.mark_dirty(*partition);
    runtime::KeySamples& samples = context.services.keys.samples();
    if (samples.is_open() && !append->duplicate) {
        samples.offer(topic, PartitionIndex{data.index}, context.client, context.client_id, *stored, now);
    }
    response.base_offset = append->base_offset.value;
    response.log_append_time_ms = rules.timestamp_type == TimestampType::log_append_time ? now.value : -1;
    if (append->duplicate) {
        // Whatever the topic's timestamps are: Kafka keeps one time of a batch, and answers with that.
        response.log_append_time_ms = append->duplicate_timestamp.value;
    }
    staged.partitions.push_back({.partition = partition,
                                 .topic = &topic,
                                 .append = std::move(*append),
                                 .size_bytes = stored->size(),
                                 .record_count = produced->batch.header.record_count,
                                 .reply_index = reply_index});
}

void send_reply(runtime::Services& services, const runtime::PendingReply& pending, const ProduceInProgress& progress) {
    if (progress.acks == 0) {
        runtime::Reply nothing;
        nothing.close = progress.failed;
        nothing.rest_ms = pending.throttle_ms;
        services.turns.deliver(pending.target, std::move(nothing));
        return;
    }
    services.turns.deliver(pending.target, runtime::encode_reply(pending, progress.response));
}

/// A reply that waits until the data it acknowledges is synced (flush.messages).
struct SyncWait {
    std::atomic<std::size_t> outstanding;
    std::atomic<bool> failed = false;
    runtime::PendingReply pending;
    runtime::Reply reply;

    /// One partition's sync is done, or will not be.
    void finish_one(runtime::Services& services, bool is_synced) {
        if (!is_synced) {
            failed.store(true, std::memory_order_relaxed);
        }
        if (outstanding.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            return;
        }
        if (failed.load(std::memory_order_relaxed)) {
            // The data may or may not reach the device, so nothing can be said: the connection is closed
            // and the producer asks again.
            reply = {};
            reply.close = true;
        }
        services.turns.deliver(pending.target, std::move(reply));
    }
};

/// True when the topic asks for a sync before this append may be acknowledged.
bool needs_sync(const StagedPartition& staged) {
    const std::int64_t limit = staged.topic->config->flush_messages;
    if (limit == std::numeric_limits<std::int64_t>::max()) {
        return false;
    }
    std::atomic<std::int64_t>& unsynced = staged.partition->unsynced_records;
    if (unsynced.fetch_add(staged.record_count, std::memory_order_relaxed) + staged.record_count < limit) {
        return false;
    }
    unsynced.store(0, std::memory_order_relaxed);
    return true;
}

void sync_then_send(const StagedRequest& request, const ProduceInProgress& progress,
                    const std::vector<const StagedPartition*>& to_sync) {
    auto wait = std::make_shared<SyncWait>();
    wait->outstanding = to_sync.size();
    wait->pending = request.pending;
    if (progress.acks == 0) {
        wait->reply.close = progress.failed;
        wait->reply.rest_ms = request.pending.throttle_ms;
    } else {
        wait->reply = runtime::encode_reply(request.pending, progress.response);
    }
    runtime::Services& services = *progress.services;
    for (const StagedPartition* staged : to_sync) {
        const bool queued =
            services.flusher.request_sync(staged->partition->log, [wait, &services](const StorageResult<Offset>& synced) {
                if (!synced && synced.error().kind == StorageError::Kind::sync_failed) {
                    runtime::fail_stop(synced.error());
                }
                // A topic that was deleted meanwhile has nothing left to sync, and nothing to promise.
                const bool is_gone = !synced && synced.error().kind == StorageError::Kind::closed;
                if (!synced && !is_gone) {
                    services.failures.append_failed(synced.error().message);
                }
                wait->finish_one(services, synced.has_value() || is_gone);
            });
        if (!queued) {
            services.failures.append_failed("too many produce requests wait for a sync");
            wait->finish_one(services, false);
        }
    }
}

void finish_produce(StagedRequest& request, Turn&) {
    auto& progress = *static_cast<ProduceInProgress*>(request.message);
    runtime::Services& services = *progress.services;
    runtime::Counters& counters = services.counters;
    thread_local std::vector<const StagedPartition*> to_sync;
    to_sync.clear();
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
    for (StagedPartition& staged : request.partitions) {
        PartitionResponse& response = progress.partitions[staged.reply_index];
        if (const auto result = staged.append.result(); !result) {
            fail(response, runtime::append_error_code(result.error().failure));
            if (result.error().failure == AppendFailure::storage_error) {
                services.failures.append_failed(result.error().message);
            }
            progress.failed = true;
            counters.failed_produces.fetch_add(1, std::memory_order_relaxed);
            continue;
        }
        response.log_start_offset = staged.partition->log->log_start_offset().value;
        if (!staged.append.duplicate) {
            bytes += staged.size_bytes;
            records += static_cast<std::uint64_t>(staged.record_count);
        }
        if (needs_sync(staged)) {
            to_sync.push_back(&staged);
        }
    }
    counters.produced_bytes.fetch_add(bytes, std::memory_order_relaxed);
    counters.produced_records.fetch_add(records, std::memory_order_relaxed);
    if (progress.usage != nullptr) {
        progress.usage->produced_bytes.fetch_add(bytes, std::memory_order_relaxed);
    }
    if (!request.partitions.empty()) {
        services.upkeep.data_written();
    }
    if (!progress.metered.empty()) [[unlikely]] {
        note_produced(services, request, {progress.metered.begin(), progress.metered.count()},
                      {progress.partitions.begin(), progress.partitions.count()});
    }
    if (to_sync.empty()) {
        send_reply(services, request.pending, progress);
    } else {
        sync_then_send(request, progress, to_sync);
    }
}

/// Every partition is refused with the same error.
void refuse(runtime::RequestContext& context, const ProduceRequest& request, ErrorCode error) {
    if (context.services.capacity.is_limited()) [[unlikely]] {
        note_refused(context, request, error);
    }
    if (request.acks == 0) {
        // What cannot be told by an answer is told by the end of the connection.
        return context.close_connection("a produce request without answer was refused: " + std::string(error_name(error)));
    }
    ArenaVector<ProduceResponse::TopicProduceResponse> topics(context.arena(), request.topic_data.count());
    for (const ProduceRequest::TopicProduceData& topic : request.topic_data) {
        ArenaVector<PartitionResponse> partitions(context.arena(), topic.partition_data.count());
        for (const ProduceRequest::PartitionProduceData& data : topic.partition_data) {
            PartitionResponse& response = partitions.emplace_back();
            response.index = data.index;
            fail(response, error);
            if (error == ErrorCode::invalid_producer_id_mapping) {
                response.error_message = "Transactional records contained more than one producer ID";
            }
        }
        topics.push_back({.name = topic.name, .topic_id = topic.topic_id, .partition_responses = partitions});
    }
    ProduceResponse response;
    response.responses = topics;
    context.reply(response);
}

/// Nothing tells a client that asks for no answer to wait, so only the bytes count that it sends, and its connection rests.
void hold_to_quota(runtime::RequestContext& context, std::int16_t acks) {
    runtime::ClientThrottles& throttles = context.services.throttles;
    if (throttles.limits(runtime::Throttled::produced_bytes)) [[unlikely]] {
        context.throttle(throttles.use(runtime::Throttled::produced_bytes, context.quota_client(),
                                       static_cast<double>(context.request_bytes), context.now()));
    }
    if (acks == 0) {
        context.forget_time();
    }
}

bool is_valid_acks(std::int16_t acks) { return acks >= -1 && acks <= 1; }

}  // namespace

void produce(runtime::RequestContext& context) {
    const ProduceRequest* request = context.decode<ProduceRequest>();
    if (request == nullptr) {
        return;
    }
    std::size_t partition_count = 0;
    bool has_transactional = false;
    for (const ProduceRequest::TopicProduceData& topic : request->topic_data) {
        partition_count += topic.partition_data.count();
        for (const ProduceRequest::PartitionProduceData& data : topic.partition_data) {
            has_transactional = has_transactional || is_transactional(data.records);
        }
    }
    Arena& arena = context.arena();
    Array<PartitionVerification> verified;
    if (has_transactional) {
        if (!request->transactional_id || !authorize(context, access::kWriteTransactionalId, *request->transactional_id)) {
            return refuse(context, *request, ErrorCode::transactional_id_authorization_failed);
        }
        const auto rows = verify_transactions(context, *request, partition_count);
        if (!rows) {
            return refuse(context, *request, rows.error());
        }
        verified = *rows;
    }
    const bool is_metered = context.services.capacity.is_limited();
    std::int64_t wait_ms = 0;
    if (is_metered) [[unlikely]] {
        const auto admitted = admit_to_capacity(context, *request);
        if (!admitted) {
            return refuse(context, *request, ErrorCode::policy_violation);
        }
        wait_ms = *admitted;
    }
    note_producer(context);
    auto* progress = new (arena.allocate_unlimited(sizeof(ProduceInProgress), alignof(ProduceInProgress))) ProduceInProgress;
    progress->services = &context.services;
    progress->usage = context.principal().usage();
    progress->acks = request->acks;
    StagedRequest& staged = context.turn.begin_staged_request();
    staged.message = progress;
    staged.finish = finish_produce;

    ArenaVector<PartitionResponse> partitions(arena, partition_count);
    ArenaVector<ProduceResponse::TopicProduceResponse> topics(arena, request->topic_data.count());
    ArenaVector<MeteredTopic> metered(arena, is_metered ? request->topic_data.count() : 0);
    capacity::Load refused;
    for (const ProduceRequest::TopicProduceData& topic_data : request->topic_data) {
        const TopicLookup topic =
            find_topic(context, topic_data.name, topic_data.topic_id, context.version() >= 13, access::kWriteTopic);
        const std::size_t first = partitions.size();
        for (const ProduceRequest::PartitionProduceData& data : topic_data.partition_data) {
            PartitionResponse& response = partitions.emplace_back();
            response.index = data.index;
            runtime::Partition* partition = topic.state == nullptr ? nullptr : topic.state->partition(data.index);
            const PartitionVerification& verification = has_transactional ? verified[partitions.size() - 1] : kNothingVerified;
            if (topic.state == nullptr) {
                fail(response, topic.error);
            } else if (partition == nullptr) {
                fail(response, ErrorCode::unknown_topic_or_partition);
            } else if (verification.error != ErrorCode::none) {
                fail(response, verification.error);
                if (!verification.message.empty()) {
                    response.error_message = verification.message;
                }
            } else if (!is_valid_acks(request->acks)) {
                fail(response, ErrorCode::invalid_required_acks);
            } else {
                stage_partition(context, staged, *topic.state, partition, data, partitions.size() - 1, verification.verification,
                                response);
            }
            if (response.error_code != ErrorCode::none) {
                progress->failed = true;
                context.services.counters.failed_produces.fetch_add(1, std::memory_order_relaxed);
                if (is_metered) {
                    refused = refused + load_of(data.records);
                }
            }
        }
        if (is_metered) [[unlikely]] {
            metered.push_back({.name = topic.state == nullptr ? std::string_view() : std::string_view(topic.state->topic->name),
                               .first = first,
                               .end = partitions.size()});
        }
        ProduceResponse::TopicProduceResponse& response = topics.emplace_back();
        response.name = topic_data.name;
        response.topic_id = topic_data.topic_id;
        response.partition_responses = Array<PartitionResponse>(partitions.begin() + first, partitions.size() - first);
    }
    progress->partitions = partitions;
    progress->response.responses = topics;
    progress->metered = metered;
    if (is_metered) [[unlikely]] {
        context.services.capacity.give_back_incoming(refused);
        // Nothing passed: nobody waits for it.
        context.throttle(staged.partitions.empty() ? 0 : wait_ms);
    }
    hold_to_quota(context, request->acks);
    staged.pending = context.defer();
}

}  // namespace partita::handlers
