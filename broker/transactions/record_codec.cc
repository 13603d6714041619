#include "broker/transactions/record_codec.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/messages/transaction_log_record.h"
#include "protocol/producer_ids.h"
#include "protocol/try.h"

namespace partita::transactions {
namespace {

using PartitionsSchema = TransactionLogValue::PartitionsSchema;

constexpr std::int16_t kTransactionType = 0;
constexpr std::int16_t kHighestValueVersion = 1;
constexpr std::int16_t kFirstVersionOfOtherProducerIds = 1;

std::expected<EncodedRecord, EncodeError> encode_one(const TransactionRecord& record, ByteBuffer& buffer) {
    std::vector<std::vector<std::int32_t>> numbers;
    std::vector<PartitionsSchema> topics;
    numbers.reserve(record.partitions.size());
    topics.reserve(record.partitions.size());
    for (const PartitionsOfTopic& topic : record.partitions) {
        std::vector<std::int32_t>& of_topic = numbers.emplace_back();
        of_topic.reserve(topic.partitions.size());
        for (const PartitionIndex partition : topic.partitions) {
            of_topic.push_back(partition.value);
        }
        topics.push_back({.topic = topic.topic, .partition_ids = of_topic});
    }
    TransactionLogValue value{.producer_id = record.producer.id.value,
                              .producer_epoch = record.producer.epoch.value,
                              .transaction_timeout_ms = record.timeout_ms,
                              .transaction_status = static_cast<std::int8_t>(record.state),
                              .transaction_partitions = topics,
                              .transaction_last_update_timestamp_ms = record.last_update_timestamp.value,
                              .transaction_start_timestamp_ms = record.start_timestamp.value};
    if (record.value_version >= kFirstVersionOfOtherProducerIds) {
        value.previous_producer_id = record.previous_producer_id.value;
        value.next_producer_id = record.next_producer_id.value;
        value.client_transaction_version = static_cast<std::int16_t>(record.client_version);
    }
    if (record.state == TransactionState::empty) {
        value.transaction_partitions = nullptr;
    }
    return coordination::entry(kTransactionType, TransactionLogKey{record.transactional_id}, record.value_version, value, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const TransactionTombstone& record, ByteBuffer& buffer) {
    return coordination::tombstone(kTransactionType, TransactionLogKey{record.transactional_id}, buffer);
}

/// A level that only a later broker knows counts as the highest level that this one knows.
TransactionVersion version_of(std::int16_t level) {
    return static_cast<TransactionVersion>(std::clamp<std::int16_t>(level, 0, static_cast<std::int16_t>(TransactionVersion::v2)));
}

/// Topics and partitions in the order that TransactionRecord promises, for any order in the log.
std::vector<PartitionsOfTopic> sorted_partitions(const Array<PartitionsSchema>& topics) {
    std::vector<PartitionsOfTopic> result;
    result.reserve(topics.count());
    for (const PartitionsSchema& topic : topics) {
        PartitionsOfTopic& of_topic = result.emplace_back(PartitionsOfTopic{.topic = topic.topic, .partitions = {}});
        of_topic.partitions.reserve(topic.partition_ids.count());
        for (const std::int32_t partition : topic.partition_ids) {
            of_topic.partitions.push_back({partition});
        }
        std::ranges::sort(of_topic.partitions);
    }
    std::ranges::sort(result, {}, &PartitionsOfTopic::topic);
    return result;
}

/// The first field with a value that no coordinator writes; empty if all are possible. An id in one of the two states that no
/// client ever sees could not leave it. A marker without a producer ends nothing. Invented ids could use up all others.
std::string_view impossible_field(const TransactionLogValue& value) {
    const std::optional<TransactionState> state = state_numbered(value.transaction_status);
    if (!state || *state == TransactionState::dead || *state == TransactionState::prepare_epoch_fence) {
        return "TransactionStatus";
    }
    if (!may_have_been_given({value.producer_id})) {
        return "ProducerId";
    }
    if (ProducerId{value.next_producer_id} != kNoProducerId && !may_have_been_given({value.next_producer_id})) {
        return "NextProducerId";
    }
    return value.producer_epoch < 0 ? "ProducerEpoch" : "";
}

}  // namespace

std::expected<EncodedRecord, EncodeError> encode_record(const Record& record, ByteBuffer& buffer) {
    buffer.clear();
    return std::visit([&](const auto& one) { return encode_one(one, buffer); }, record);
}

std::expected<std::optional<Record>, DecodeError> decode_record(Bytes key, std::optional<Bytes> value, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key_parts, coordination::split(key));
    if (key_parts.prefix != kTransactionType) {
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(const auto id, decode<TransactionLogKey>(key_parts.rest, coordination::kKeyVersion, arena));
    if (!value) {
        return TransactionTombstone{id.transactional_id};
    }
    PARTITA_TRY_ASSIGN(const auto value_parts, coordination::split(*value));
    if (value_parts.prefix < 0 || value_parts.prefix > kHighestValueVersion) {
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(const auto found, decode<TransactionLogValue>(value_parts.rest, value_parts.prefix, arena));
    if (const auto impossible = impossible_field(found); !impossible.empty()) {
        return std::unexpected(DecodeError{DecodeFailure::unknown_value, 0, impossible});
    }
    return TransactionRecord{.transactional_id = id.transactional_id,
                             .producer = {{found.producer_id}, {found.producer_epoch}},
                             .previous_producer_id = {found.previous_producer_id},
                             .next_producer_id = {found.next_producer_id},
                             .timeout_ms = found.transaction_timeout_ms,
                             .state = *state_numbered(found.transaction_status),
                             .partitions = sorted_partitions(found.transaction_partitions),
                             .start_timestamp = {found.transaction_start_timestamp_ms},
                             .last_update_timestamp = {found.transaction_last_update_timestamp_ms},
                             .client_version = version_of(found.client_transaction_version),
                             .value_version = value_parts.prefix};
}

}  // namespace partita::transactions
