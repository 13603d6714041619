#include "broker/addons/faults/core/answer_change.h"

#include <algorithm>
#include <utility>

#include "protocol/arena.h"
#include "protocol/big_endian.h"
#include "protocol/codec.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "protocol/record_batch.h"
#include "protocol/request_header.h"

namespace partita::faults {
namespace {

constexpr std::size_t kFrameSizeBytes = 4;

bool is_of(const AnswerPart& part, std::string_view topic, const Uuid& topic_id) {
    return part.topic.empty() || (topic.empty() ? !topic_id.is_zero() && part.topic_id == topic_id : part.topic == topic);
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

/// Refuses the read if its first batch lies before `log_start`, and the log reaches so far.
bool lose_before(FetchResponse::PartitionData& partition, std::int64_t log_start) {
    const auto first = parse_log_header(partition.records.bytes());
    if (!first || first->next_offset().value > log_start || partition.high_watermark < log_start) {
        return false;
    }
    partition.error_code = ErrorCode::offset_out_of_range;
    partition.log_start_offset = log_start;
    partition.records = Records(Bytes());
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
                const bool is_changed = action.log_start         ? lose_before(partition, *action.log_start)
                                        : action.corrupt_records ? corrupt(partition.records, frame)
                                                                 : truncate(partition.records);
                has_changed = has_changed || is_changed;
            }
        }
    }
    return has_changed;
}

bool change(ListOffsetsResponse& response, const Action& action, const AnswerPart& part, ByteBuffer& /*frame*/) {
    bool has_changed = false;
    for (ListOffsetsResponse::ListOffsetsTopicResponse& topic : response.topics) {
        for (ListOffsetsResponse::ListOffsetsPartitionResponse& partition : topic.partitions) {
            const bool is_meant = is_of(part, topic.name, {}) && (!part.partition || part.partition == partition.partition_index);
            if (is_meant && partition.offset >= 0 && partition.offset < *action.log_start) {
                partition.offset = *action.log_start;
                has_changed = true;
            }
        }
    }
    return has_changed;
}

/// Keeps the elements for which `is_kept` is true.
template <class Element, class Condition>
bool keep(Array<Element>& elements, Condition is_kept) {
    const auto dropped = std::remove_if(elements.begin(), elements.end(), [&](Element& each) { return !is_kept(each); });
    const auto count = static_cast<std::int32_t>(dropped - elements.begin());
    return std::exchange(elements.size, count) != count;
}

/// As Kafka answers for a topic that it does not know.
template <class Topic>
void become_unknown(Topic& topic, bool is_by_id) {
    Topic unknown;
    if (is_by_id) {
        unknown.error_code = ErrorCode::unknown_topic_id;
        unknown.name = std::nullopt;
        unknown.topic_id = topic.topic_id;
    } else {
        unknown.error_code = ErrorCode::unknown_topic_or_partition;
        unknown.name = topic.name;
    }
    topic = unknown;
}

template <class Topic>
bool make_older(Topic& topic, const StaleMetadata& stale, const AnswerPart& part) {
    if (stale.missing) {
        become_unknown(topic, part.is_by_id);
        return true;
    }
    bool has_changed = false;
    if (stale.partitions) {
        has_changed = keep(topic.partitions, [&](const auto& each) { return each.partition_index < *stale.partitions; });
    }
    for (auto& partition : topic.partitions) {
        if (stale.leader && (!part.partition || part.partition == partition.partition_index)) {
            has_changed = has_changed || partition.leader_id != *stale.leader;
            partition.leader_id = *stale.leader;
            if (*stale.leader == StaleMetadata::kNoLeader) {
                partition.error_code = ErrorCode::leader_not_available;
            }
        }
    }
    if (stale.shuffled && topic.partitions.count() > 1) {
        std::reverse(topic.partitions.begin(), topic.partitions.end());
        has_changed = true;
    }
    return has_changed;
}

template <class Response>
bool make_topics_older(Response& response, const StaleMetadata& stale, const AnswerPart& part) {
    const auto is_meant = [&](const auto& topic) {
        // A topic with an error has no partitions.
        return topic.error_code == ErrorCode::none && is_of(part, topic.name.value_or(""), topic.topic_id);
    };
    if (stale.missing && part.is_of_all) {
        return keep(response.topics, [&](const auto& topic) { return !is_meant(topic); });
    }
    bool has_changed = false;
    for (auto& topic : response.topics) {
        if (is_meant(topic)) {
            has_changed = make_older(topic, stale, part) || has_changed;
        }
    }
    return has_changed;
}

bool change(MetadataResponse& response, const Action& action, const AnswerPart& part, ByteBuffer& /*frame*/) {
    return make_topics_older(response, *action.stale_metadata, part);
}

bool change(DescribeTopicPartitionsResponse& response, const Action& action, const AnswerPart& part, ByteBuffer& /*frame*/) {
    const StaleMetadata& stale = *action.stale_metadata;
    const bool has_changed = make_topics_older(response, stale, part);
    const auto* next = response.next_cursor;
    // Nothing follows behind the partitions that the topic has.
    if (has_changed && next != nullptr && stale.partitions && next->partition_index >= *stale.partitions) {
        response.next_cursor = nullptr;
    }
    return has_changed;
}

template <class Response>
bool change_response(const ApiInfo& api, std::int16_t version, const Action& action, const AnswerPart& part, ByteBuffer& frame) {
    if (frame.size() < kFrameSizeBytes) {
        return false;
    }
    const auto header = parse_response_header(api, version, frame.bytes().subspan(kFrameSizeBytes));
    if (!header) {
        return false;
    }
    Arena arena;
    auto response = decode<Response>(frame.bytes().subspan(kFrameSizeBytes + header->size), version, arena);
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

}  // namespace

bool change_answer(const ApiInfo& api, std::int16_t version, const Action& action, const AnswerPart& part, ByteBuffer& frame) {
    if (!changes_answer(action) || !concerns(action, api.key)) {
        return false;
    }
    if (api.key == ApiKey::fetch) {
        return change_response<FetchResponse>(api, version, action, part, frame);
    }
    if (api.key == ApiKey::list_offsets) {
        return change_response<ListOffsetsResponse>(api, version, action, part, frame);
    }
    return api.key == ApiKey::metadata ? change_response<MetadataResponse>(api, version, action, part, frame)
                                       : change_response<DescribeTopicPartitionsResponse>(api, version, action, part, frame);
}

}  // namespace partita::faults
