#include "broker/handlers/produce_response.h"

#include "broker/handlers/outcome_codes.h"
#include "protocol/assert.h"

namespace partita::handlers {
namespace {

using PartitionResponse = ProduceResponse::PartitionProduceResponse;

/// From this version on, clients know TRANSACTION_ABORTABLE.
constexpr std::int16_t kKnowsAbortableSince = 11;
/// From this version on, clients rely on the broker to add partitions to a transaction.
constexpr std::int16_t kAddsPartitionsSince = 12;

/// The message for a coordinator error that is answered with NOT_ENOUGH_REPLICAS; empty for other errors. Older clients do not
/// retry after such an error. They do retry after NOT_ENOUGH_REPLICAS, and it does not make them look for another leader.
std::string_view why_it_could_not_be_asked(ErrorCode error, std::int16_t version) {
    if (error == ErrorCode::coordinator_load_in_progress) {
        return "Unable to verify the partition has been added to the transaction. Underlying error: COORDINATOR_LOAD_IN_PROGRESS";
    }
    if (error == ErrorCode::coordinator_not_available) {
        return "Unable to verify the partition has been added to the transaction. Underlying error: COORDINATOR_NOT_AVAILABLE";
    }
    if (error == ErrorCode::not_coordinator) {
        return "Unable to verify the partition has been added to the transaction. Underlying error: NOT_COORDINATOR";
    }
    if (error == ErrorCode::concurrent_transactions && version < kAddsPartitionsSince) {
        return "Unable to verify the partition has been added to the transaction. Underlying error: CONCURRENT_TRANSACTIONS";
    }
    return {};
}

/// The coordinator's error in the terms of a client with this version.
AppendAnswer coordinators_answer(ErrorCode error, std::int16_t version) {
    if (error == ErrorCode::producer_fenced) {
        error = ErrorCode::invalid_producer_epoch;
    } else if (error == ErrorCode::transaction_abortable && version < kKnowsAbortableSince) {
        error = ErrorCode::invalid_txn_state;
    }
    if (error == ErrorCode::invalid_txn_state) {
        return {error, "Partition was not added to the transaction"};
    }
    const std::string_view message = why_it_could_not_be_asked(error, version);
    return message.empty() ? AppendAnswer{error, {}} : AppendAnswer{ErrorCode::not_enough_replicas, message};
}

AppendAnswer invalid_batch_answer(const logs::Append& append, Arena& arena) {
    const auto& [failure, rules] = *append.invalid;
    const auto message = produce_error_message(failure, rules, append.partition->name());
    return {produce_error_code(failure.error), message ? arena.copy(*message) : std::string_view()};
}

Array<ProduceResponse::BatchIndexAndErrorMessage> record_errors(const logs::Append& append, Arena& arena) {
    const auto& [failure, rules] = *append.invalid;
    ArenaVector<ProduceResponse::BatchIndexAndErrorMessage> faults(arena, failure.record_faults.size());
    for (const RecordFault& fault : failure.record_faults) {
        const std::string text = record_fault_message(failure, fault, rules, append.partition->name());
        faults.push_back({.batch_index = fault.batch_index, .batch_index_error_message = arena.copy(text)});
    }
    return faults;
}

void fill(PartitionResponse& response, const logs::Append& append, std::int16_t version, Arena& arena) {
    response.index = append.index.value;
    response.log_start_offset = append.log_start.value;
    if (append.outcome == logs::Outcome::ok) {
        response.base_offset = append.staged.base_offset.value;
        response.log_append_time_ms = append.append_time.value;
        return;
    }
    const AppendAnswer answer = answer_of(append, version, arena);
    response.error_code = answer.error;
    response.base_offset = -1;
    response.log_append_time_ms = -1;
    if (!answer.message.empty()) {
        response.error_message = answer.message;
    }
    if (append.outcome == logs::Outcome::invalid_batch) {
        response.record_errors = record_errors(append, arena);
    }
}

}  // namespace

AppendAnswer answer_of(const logs::Append& append, std::int16_t version, Arena& arena) {
    if (append.outcome == logs::Outcome::transaction_refused) {
        return coordinators_answer(append.coordinator_error, version);
    }
    if (append.outcome == logs::Outcome::invalid_batch) {
        return invalid_batch_answer(append, arena);
    }
    if (append.outcome == logs::Outcome::mixed_producers) {
        return {error_code(append.outcome), "Transactional records contained more than one producer ID"};
    }
    return {error_code(append.outcome), {}};
}

ProduceResponse produce_response(const ProduceRequest& request, const logs::AppendRequest& appends, std::int16_t version,
                                 Arena& arena, const LeaderHints* hints) {
    ArenaVector<PartitionResponse> partitions(arena, appends.appends.size());
    ArenaVector<ProduceResponse::TopicProduceResponse> topics(arena, request.topic_data.count());
    for (const ProduceRequest::TopicProduceData& asked : request.topic_data) {
        const std::size_t first = partitions.size();
        for (std::size_t i = 0; i < asked.partition_data.count(); ++i) {
            const std::size_t place = partitions.size();
            const logs::Append& append = appends.appends[place];
            fill(partitions.emplace_back(), append, version, arena);
            if (hints != nullptr && append.outcome == logs::Outcome::not_led_here) {
                const LeaderHint& hint = hints->leaders[place];
                partitions[place].current_leader = {.leader_id = hint.leader.value, .leader_epoch = hint.epoch.value};
            }
        }
        topics.push_back(
            {.name = asked.name,
             .topic_id = asked.topic_id,
             .partition_responses = Array<PartitionResponse>(partitions.begin() + first, partitions.size() - first)});
    }
    ProduceResponse response;
    response.responses = topics;
    if (hints != nullptr) {
        response.node_endpoints = hints->nodes;
    }
    return response;
}

}  // namespace partita::handlers
