#include "tests/bench/replay/coordinator.h"

#include <poll.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "tests/bench/replay/settings.h"

namespace partita::bench {
namespace {

constexpr std::int16_t kFindVersion = 2;
constexpr std::int16_t kFetchVersion = 5;
constexpr std::int16_t kInitProducerIdVersion = 1;
constexpr std::int32_t kTransactionTimeoutMs = 60'000;
constexpr std::int16_t kApiVersionsVersion = 3;
constexpr std::string_view kTransactionFeature = "transaction.version";
constexpr std::int16_t kSecondProtocolLevel = 2;
constexpr std::int16_t kAddPartitionsVersion = 1;
constexpr std::int16_t kEndVersion = 1;
constexpr std::int16_t kEndVersionOfSecondProtocol = 5;
constexpr std::int16_t kProduceVersion = 7;
constexpr std::int16_t kProduceVersionOfSecondProtocol = 12;
constexpr std::int8_t kTransactionKey = 1;
constexpr int kTries = 500;
constexpr int kEndingTries = 30'000;
constexpr int kRetryMs = 20;

bool is_found(Connection& connection, std::string_view group_id) {
    FindCoordinatorRequest request;
    request.key = group_id;
    const ErrorCode error = connection.call<FindCoordinatorResponse>(kFindVersion, request).error_code;
    if (error != ErrorCode::none && error != ErrorCode::coordinator_not_available) {
        give_up("FindCoordinator answered an error");
    }
    return error == ErrorCode::none;
}

/// True when the group's coordinator has read its log; a coordinator that was just found may not have done so yet. Any other
/// error shows that the coordinator is there: some brokers answer that a group without members does not exist.
bool is_loaded(Connection& connection, std::string_view group_id) {
    OffsetFetchRequest request;
    request.group_id = group_id;
    request.topics = nullptr;
    const ErrorCode error = connection.call<OffsetFetchResponse>(kFetchVersion, request).error_code;
    return error != ErrorCode::coordinator_load_in_progress && error != ErrorCode::not_coordinator &&
           error != ErrorCode::coordinator_not_available;
}

bool is_given(Connection& connection, ProducerIdentity& producer) {
    InitProducerIdRequest request;
    request.transactional_id = std::nullopt;
    request.transaction_timeout_ms = kTransactionTimeoutMs;
    const auto& answer = connection.call<InitProducerIdResponse>(kInitProducerIdVersion, request);
    if (answer.error_code != ErrorCode::none && answer.error_code != ErrorCode::coordinator_load_in_progress) {
        give_up("InitProducerId answered error " + std::to_string(static_cast<int>(answer.error_code)));
    }
    producer = {answer.producer_id, answer.producer_epoch};
    return answer.error_code == ErrorCode::none;
}

bool has_second_protocol(Connection& connection) {
    ApiVersionsRequest request;
    request.client_software_name = "replay";
    request.client_software_version = "1";
    const auto& answer = connection.call<ApiVersionsResponse>(kApiVersionsVersion, request);
    return std::ranges::any_of(answer.finalized_features, [](const ApiVersionsResponse::FinalizedFeatureKey& feature) {
        return feature.name == kTransactionFeature && feature.max_version_level >= kSecondProtocolLevel;
    });
}

void wait_until(const auto& is_done, const char* otherwise) {
    for (int tries = 0; tries < kTries; ++tries) {
        if (is_done()) {
            return;
        }
        ::poll(nullptr, 0, kRetryMs);
    }
    give_up(otherwise);
}

}  // namespace

void wait_for_coordinator(Connection& connection, std::string_view group_id) {
    wait_until([&] { return is_found(connection, group_id) && is_loaded(connection, group_id); }, "no coordinator");
}

Transactions::Transactions(Connection& connection, std::string id)
    : id_(std::move(id)), second_protocol_(has_second_protocol(connection)) {
    wait_until(
        [&] {
            FindCoordinatorRequest find;
            find.key = id_;
            find.key_type = kTransactionKey;
            if (connection.call<FindCoordinatorResponse>(kFindVersion, find).error_code != ErrorCode::none) {
                return false;
            }
            InitProducerIdRequest request;
            request.transactional_id = id_;
            request.transaction_timeout_ms = kTransactionTimeoutMs;
            const auto& answer = connection.call<InitProducerIdResponse>(kInitProducerIdVersion, request);
            producer_ = {answer.producer_id, answer.producer_epoch};
            return answer.error_code == ErrorCode::none;
        },
        "no transactional producer");
}

std::int16_t Transactions::produce_version() const {
    return second_protocol_ ? kProduceVersionOfSecondProtocol : kProduceVersion;
}

void Transactions::begin(Connection& connection, std::string_view topic, int partitions) {
    if (second_protocol_) {
        return;
    }
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(partitions));
    std::iota(numbers.begin(), numbers.end(), 0);
    AddPartitionsToTxnRequest::AddPartitionsToTxnTopic named{.name = topic, .partitions = numbers};
    AddPartitionsToTxnRequest request;
    request.v3_and_below_transactional_id = id_;
    request.v3_and_below_producer_id = producer_.id;
    request.v3_and_below_producer_epoch = producer_.epoch;
    request.v3_and_below_topics = Array<AddPartitionsToTxnRequest::AddPartitionsToTxnTopic>(&named, 1);
    for (int tries = 0; tries < kEndingTries; ++tries) {
        const auto& answer = connection.call<AddPartitionsToTxnResponse>(kAddPartitionsVersion, request);
        const ErrorCode error = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code;
        if (error == ErrorCode::none) {
            return;
        }
        if (error != ErrorCode::concurrent_transactions) {
            give_up("AddPartitionsToTxn answered error " + std::to_string(static_cast<int>(error)));
        }
        ::poll(nullptr, 0, 1);
    }
    give_up("a transaction does not end");
}

std::int16_t Transactions::end_version() const { return second_protocol_ ? kEndVersionOfSecondProtocol : kEndVersion; }

void Transactions::commit(Connection& connection) {
    send_commit(connection, kPlainCorrelationId);
    read_commit(connection, kPlainCorrelationId);
}

void Transactions::send_commit(Connection& connection, std::int32_t correlation_id) const {
    EndTxnRequest request;
    request.transactional_id = id_;
    request.producer_id = producer_.id;
    request.producer_epoch = producer_.epoch;
    request.committed = true;
    connection.send(request_frame(end_version(), request, correlation_id));
}

void Transactions::read_commit(Connection& connection, std::int32_t correlation_id) {
    const auto& answer = connection.read<EndTxnResponse, EndTxnRequest>(end_version(), correlation_id);
    if (answer.error_code != ErrorCode::none) {
        give_up("EndTxn answered error " + std::to_string(static_cast<int>(answer.error_code)));
    }
    if (second_protocol_) {
        producer_ = {answer.producer_id, answer.producer_epoch};
    }
}

ProducerIdentity new_producer(Connection& connection) {
    ProducerIdentity producer;
    wait_until([&] { return is_given(connection, producer); }, "no producer id");
    return producer;
}

}  // namespace partita::bench
