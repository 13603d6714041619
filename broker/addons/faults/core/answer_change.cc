#include "broker/addons/faults/core/answer_change.h"

#include <algorithm>

#include "protocol/arena.h"
#include "protocol/big_endian.h"
#include "protocol/codec.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch.h"
#include "protocol/request_header.h"

namespace partita::faults {
namespace {

constexpr std::size_t kFrameSizeBytes = 4;

bool is_of(const AnswerPart& part, std::string_view topic, const Uuid& topic_id) {
    return part.topic.empty() || (topic_id.is_zero() ? part.topic == topic : part.topic_id == topic_id);
}

/// The size of the first batch, which may be more than `records` has. Sets of old messages begin alike.
std::size_t first_batch_bytes(Bytes records) {
    constexpr std::size_t kLengthPosition = 8;
    if (records.size() < kBatchPrefixBytes) {
        return records.size();
    }
    const auto length = load_big_endian<std::int32_t>(records.data() + kLengthPosition);
    return kBatchPrefixBytes + static_cast<std::size_t>(std::max(length, 0));
}

/// Changes a byte that the checksum of the first batch covers. In the middle of the records it is mostly a part of a value.
bool corrupt(Records& records, ByteBuffer& frame) {
    if (records.bytes().empty()) {
        return false;
    }
    const std::size_t start = static_cast<std::size_t>(records.data - frame.data());
    const std::size_t size = std::min(first_batch_bytes(records.bytes()), records.bytes().size());
    const std::size_t place = size > kBatchHeaderBytes ? kBatchHeaderBytes + (size - kBatchHeaderBytes) / 2 : size - 1;
    frame.data()[start + place] ^= std::byte{0x01};
    return true;
}

/// Ends the records in the middle of the last batch. The first batch stays whole: Kafka promises it (KIP-74).
bool truncate(Records& records) {
    const Bytes bytes = records.bytes();
    std::size_t last = 0;
    for (std::size_t next = first_batch_bytes(bytes); next < bytes.size(); next += first_batch_bytes(bytes.subspan(next))) {
        last = next;
    }
    if (last == 0) {
        return false;
    }
    records = Records(bytes.first(last + (bytes.size() - last) / 2));
    return true;
}

bool change(FetchResponse& response, const Action& action, const AnswerPart& part, ByteBuffer& frame) {
    bool has_changed = false;
    for (FetchResponse::FetchableTopicResponse& topic : response.responses) {
        if (!is_of(part, topic.topic, topic.topic_id)) {
            continue;
        }
        for (FetchResponse::PartitionData& partition : topic.partitions) {
            if (!part.partition || part.partition == partition.partition_index) {
                const bool is_changed = action.corrupt_records ? corrupt(partition.records, frame) : truncate(partition.records);
                has_changed = has_changed || is_changed;
            }
        }
    }
    return has_changed;
}

}  // namespace

bool change_answer(const ApiInfo& api, std::int16_t version, const Action& action, const AnswerPart& part, ByteBuffer& frame) {
    if (frame.size() < kFrameSizeBytes) {
        return false;
    }
    const auto header = parse_response_header(api, version, frame.bytes().subspan(kFrameSizeBytes));
    if (!header || api.key != ApiKey::fetch) {
        return false;
    }
    Arena arena;
    auto response = decode<FetchResponse>(frame.bytes().subspan(kFrameSizeBytes + header->size), version, arena);
    if (!response || !change(*response, action, part, frame)) {
        return false;
    }
    ByteBuffer changed;
    changed.append_big_endian(std::int32_t{0});
    append_response_header(api, version, header->correlation_id, changed);
    if (!encode(*response, version, changed)) {
        return false;
    }
    changed.patch_big_endian(0, static_cast<std::int32_t>(changed.size() - kFrameSizeBytes));
    frame = std::move(changed);
    return true;
}

}  // namespace partita::faults
