#include "broker/client/transactions.h"

#include <algorithm>

#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/27_write_txn_markers.h"
#include "protocol/messages/61_describe_producers.h"
#include "protocol/messages/65_describe_transactions.h"
#include "protocol/messages/66_list_transactions.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

ErrorCode no_error(const DescribeProducersResponse&) { return ErrorCode::none; }

Result<ByPartition<std::vector<ActiveProducer>>> ask_producers(Cluster& cluster, std::int32_t broker,
                                                               const std::vector<TopicPartition>& partitions) {
    std::map<std::string_view, std::vector<std::int32_t>> by_topic;
    for (const TopicPartition& partition : partitions) {
        by_topic[partition.topic].push_back(partition.partition);
    }
    std::vector<DescribeProducersRequest::TopicRequest> topics;
    for (auto& [name, list] : by_topic) {
        topics.push_back({.name = name, .partition_indexes = list});
    }
    const DescribeProducersRequest request{.topics = topics};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<DescribeProducersResponse>(
                           Route::node(broker), {.name = "describeProducers"}, [&](std::int16_t) { return request; }, no_error));
    ByPartition<std::vector<ActiveProducer>> results;
    for (const auto& topic : reply->topics) {
        for (const auto& partition : topic.partitions) {
            const TopicPartition key{std::string(topic.name), partition.partition_index};
            if (partition.error_code != ErrorCode::none) {
                results.insert_or_assign(key,
                                         std::unexpected(refusal(partition.error_code, partition.error_message.value_or(""))));
                continue;
            }
            std::vector<ActiveProducer> producers;
            for (const auto& producer : partition.active_producers) {
                const std::int64_t start = producer.current_txn_start_offset;
                producers.push_back({.id = producer.producer_id,
                                     .epoch = producer.producer_epoch,
                                     .coordinator_epoch = producer.coordinator_epoch,
                                     .last_sequence = producer.last_sequence,
                                     .last_timestamp_ms = producer.last_timestamp,
                                     .transaction_start_offset = start < 0 ? std::nullopt : std::optional(start)});
            }
            results.insert_or_assign(key, std::move(producers));
        }
    }
    return results;
}

}  // namespace

Result<std::vector<ListedTransaction>> list_transactions(Cluster& cluster, const TransactionFilter& filter) {
    PARTITA_TRY_ASSIGN(const auto membership, cluster.membership("listTransactions"));
    std::vector<std::int32_t> nodes;
    for (const Node& node : membership->nodes) {
        nodes.push_back(node.id);
    }
    ListTransactionsRequest request{.producer_id_filters = filter.producer_ids};
    constexpr std::int16_t kHasDuration = 1;
    constexpr std::int16_t kHasPattern = 2;
    if (filter.duration_ms >= 0) {
        request.duration_filter = filter.duration_ms;
    }
    if (filter.id_pattern) {
        request.transactional_id_pattern = *filter.id_pattern;
    }
    const std::int16_t least = filter.id_pattern ? kHasPattern : filter.duration_ms >= 0 ? kHasDuration : std::int16_t{0};
    std::vector<ListedTransaction> all;
    for (const std::int32_t node : nodes) {
        PARTITA_TRY_ASSIGN(auto reply, cluster.ask<ListTransactionsResponse>(
                                           Route::node(node), {.name = "listTransactions", .versions = {least}},
                                           [&](std::int16_t) { return request; },
                                           [](const ListTransactionsResponse& r) { return r.error_code; }));
        if (reply->error_code != ErrorCode::none) {
            return std::unexpected(refusal(reply->error_code));
        }
        for (const auto& state : reply->transaction_states) {
            all.push_back({node, std::string(state.transactional_id), state.producer_id, std::string(state.transaction_state)});
        }
    }
    return all;
}

Result<TransactionDescription> describe_transaction(Cluster& cluster, const std::string& transactional_id) {
    std::string_view id = transactional_id;
    const DescribeTransactionsRequest request{.transactional_ids = {&id, 1}};
    const auto error_of = [](const DescribeTransactionsResponse& r) {
        return r.transaction_states.empty() ? ErrorCode::none : r.transaction_states[0].error_code;
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<DescribeTransactionsResponse>(
                                       Route::coordinator(CoordinatorOf::transaction, transactional_id),
                                       {.name = "describeTransactions"}, [&](std::int16_t) { return request; }, error_of));
    if (reply->transaction_states.empty()) {
        return std::unexpected(refusal(ErrorCode::transactional_id_not_found));
    }
    const auto& state = reply->transaction_states[0];
    if (state.error_code == ErrorCode::transactional_id_not_found) {
        return std::unexpected(refusal(state.error_code, "DescribeTransactions request for transactionalId `" + transactional_id +
                                                             "` failed because the ID could not be found"));
    }
    if (state.error_code != ErrorCode::none) {
        return std::unexpected(refusal(state.error_code));
    }
    TransactionDescription description{.producer_id = state.producer_id,
                                       .producer_epoch = state.producer_epoch,
                                       .state = std::string(state.transaction_state),
                                       .timeout_ms = state.transaction_timeout_ms};
    if (state.transaction_start_time_ms >= 0) {
        description.started_at_ms = state.transaction_start_time_ms;
    }
    if (const Node* node = cluster.last_coordinator(CoordinatorOf::transaction, transactional_id)) {
        description.coordinator = node->id;
    }
    for (const auto& topic : state.topics) {
        for (const std::int32_t partition : topic.partitions) {
            description.partitions.push_back({std::string(topic.topic), partition});
        }
    }
    std::ranges::sort(description.partitions);
    return description;
}

Result<ByPartition<std::vector<ActiveProducer>>> describe_producers(Cluster& cluster, const std::set<TopicPartition>& partitions,
                                                                    std::optional<std::int32_t> broker) {
    if (broker) {
        return ask_producers(cluster, *broker, {partitions.begin(), partitions.end()});
    }
    return ask_leaders<std::vector<ActiveProducer>>(
        cluster, "describeProducers", partitions,
        [&](std::int32_t leader, const std::vector<TopicPartition>& led) { return ask_producers(cluster, leader, led); });
}

Result<void> abort_transaction(Cluster& cluster, const HangingTransaction& transaction) {
    std::int32_t index = transaction.partition.partition;
    WriteTxnMarkersRequest::WritableTxnMarkerTopic topic{.name = transaction.partition.topic, .partition_indexes = {&index, 1}};
    WriteTxnMarkersRequest::WritableTxnMarker marker{.producer_id = transaction.producer_id,
                                                     .producer_epoch = transaction.producer_epoch,
                                                     .transaction_result = false,
                                                     .topics = {&topic, 1},
                                                     .coordinator_epoch = transaction.coordinator_epoch};
    const WriteTxnMarkersRequest request{.markers = {&marker, 1}};
    const auto results = ask_leaders<bool>(
        cluster, "abortTransaction", {transaction.partition},
        [&](std::int32_t leader, const std::vector<TopicPartition>&) -> Result<ByPartition<bool>> {
            PARTITA_TRY_ASSIGN(auto reply,
                               cluster.ask<WriteTxnMarkersResponse>(Route::node(leader), {.name = "abortTransaction"}, request));
            ByPartition<bool> answered;
            for (const auto& result : reply->markers) {
                for (const auto& done : result.topics) {
                    for (const auto& partition : done.partitions) {
                        const TopicPartition key{std::string(done.name), partition.partition_index};
                        if (partition.error_code == ErrorCode::none) {
                            answered.insert_or_assign(key, true);
                        } else {
                            answered.insert_or_assign(key, std::unexpected(refusal(partition.error_code)));
                        }
                    }
                }
            }
            return answered;
        });
    PARTITA_TRY(results);
    const auto result = results->find(transaction.partition);
    if (result == results->end()) {
        return std::unexpected(refusal(ErrorCode::unknown_server_error));
    }
    if (!result->second) {
        return std::unexpected(result->second.error());
    }
    return {};
}

Result<void> terminate_transaction(Cluster& cluster, const std::string& transactional_id) {
    const InitProducerIdRequest request{
        .transactional_id = transactional_id,
        .transaction_timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms)};
    const Route route = Route::coordinator(CoordinatorOf::transaction, transactional_id);
    const Instant deadline = cluster.network().clock().now().monotonic + cluster.settings().default_api_timeout_ms;
    while (true) {
        PARTITA_TRY_ASSIGN(auto reply, cluster.ask<InitProducerIdResponse>(
                                           route, {.name = "fenceProducer"}, [&](std::int16_t) { return request; },
                                           [](const InitProducerIdResponse& r) { return r.error_code; }));
        const ErrorCode code = reply->error_code;
        if (code == ErrorCode::none) {
            return {};
        }
        // The coordinator must first end the transaction that this call aborts.
        if (code != ErrorCode::concurrent_transactions || cluster.network().clock().now().monotonic >= deadline) {
            return std::unexpected(refusal(code));
        }
        cluster.network().pause(cluster.settings().retry_backoff_ms);
    }
}

}  // namespace partita::client
