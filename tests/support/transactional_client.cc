#include "tests/support/transactional_client.h"

#include <algorithm>
#include <array>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/messages/28_txn_offset_commit.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/plain_client.h"

namespace partita::test {

TransactionalClient::TransactionalClient(std::uint16_t port, std::string transactional_id, const std::string& client_id)
    : wire_(port, WireClient::Caller{.client_id = client_id}), id_(std::move(transactional_id)) {}

ErrorCode TransactionalClient::begin(std::int32_t timeout_ms) {
    std::array<std::string_view, 1> keys{id_};
    if (wire_.call<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys}) == nullptr) {
        return ErrorCode::network_exception;
    }
    ErrorCode error = ErrorCode::network_exception;
    // While the broker makes the coordinator, or ends an open transaction, it tells producers to come again.
    (void)eventually([&] {
        const auto* answer = wire_.call<InitProducerIdResponse>(
            4, InitProducerIdRequest{.transactional_id = id_, .transaction_timeout_ms = timeout_ms});
        if (answer == nullptr) {
            return true;
        }
        error = answer->error_code;
        producer_id_ = answer->producer_id;
        epoch_ = answer->producer_epoch;
        return error == ErrorCode::none;
    });
    sequences_.clear();
    return error;
}

ErrorCode TransactionalClient::write(const std::string& topic, std::int32_t partition, const std::string& value,
                                     const std::string& key) {
    const std::pair place(topic, partition);
    auto next = std::ranges::find(sequences_, place, [](const auto& known) { return known.first; });
    if (next == sequences_.end()) {
        next = sequences_.insert(next, {place, 0});
    }
    BatchBuilder builder(
        {.producer_id = {producer_id_}, .producer_epoch = {epoch_}, .base_sequence = {next->second}, .transactional = true});
    builder.append({wall_ms()}, as_bytes(key), as_bytes(value));
    std::vector<std::byte> batch;
    builder.build(batch);
    std::array data{ProduceRequest::PartitionProduceData{.index = partition, .records = Records(Bytes(batch))}};
    std::array topics{ProduceRequest::TopicProduceData{.name = topic, .partition_data = data}};
    const auto* answer = wire_.call<ProduceResponse>(
        12, ProduceRequest{.transactional_id = id_, .acks = -1, .timeout_ms = 30'000, .topic_data = topics});
    if (answer == nullptr) {
        return ErrorCode::network_exception;
    }
    const ErrorCode error = answer->responses[0].partition_responses[0].error_code;
    next->second += error == ErrorCode::none ? 1 : 0;
    return error;
}

ErrorCode TransactionalClient::send_offsets(const std::string& group, const std::string& topic,
                                            const std::vector<std::pair<std::int32_t, std::int64_t>>& offsets,
                                            const CommittingMember& member) {
    std::vector<TxnOffsetCommitRequest::Partition> partitions;
    for (const auto& [partition, offset] : offsets) {
        partitions.push_back({.partition_index = partition, .committed_offset = offset});
    }
    std::array topics{TxnOffsetCommitRequest::Topic{.name = topic, .partitions = partitions}};
    const auto* answer = wire_.call<TxnOffsetCommitResponse>(5, TxnOffsetCommitRequest{.transactional_id = id_,
                                                                                       .group_id = group,
                                                                                       .producer_id = producer_id_,
                                                                                       .producer_epoch = epoch_,
                                                                                       .generation_id = member.generation,
                                                                                       .member_id = member.member_id,
                                                                                       .topics = topics});
    if (answer == nullptr) {
        return ErrorCode::network_exception;
    }
    for (const auto& partition : answer->topics[0].partitions) {
        if (partition.error_code != ErrorCode::none) {
            return partition.error_code;
        }
    }
    return ErrorCode::none;
}

ErrorCode TransactionalClient::end(bool commits) {
    const auto* answer = wire_.call<EndTxnResponse>(
        5, EndTxnRequest{.transactional_id = id_, .producer_id = producer_id_, .producer_epoch = epoch_, .committed = commits});
    if (answer == nullptr) {
        return ErrorCode::network_exception;
    }
    if (answer->error_code == ErrorCode::none) {
        producer_id_ = answer->producer_id;
        epoch_ = answer->producer_epoch;
        sequences_.clear();
    }
    return answer->error_code;
}

}  // namespace partita::test
