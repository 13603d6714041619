#include "broker/handlers/produce_verification.h"

#include <vector>

#include "broker/config/current_config.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/append_error_code.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "broker/transactions/commands.h"

namespace partita::handlers {
namespace {

/// From here on clients know TRANSACTION_ABORTABLE.
constexpr std::int16_t kKnowsAbortableSince = 11;
/// From here on clients do not add the partitions of a transaction themselves.
constexpr std::int16_t kAddsPartitionsSince = 12;

/// A batch of a transaction in a partition that is there.
struct Found {
    std::size_t place;
    std::string_view topic;
    std::int32_t partition;
    PartitionLog* log;
    BatchHeader header;
};

using FoundBatches = ArenaVector<Found>;

/// The batches that count; all are of one producer, or INVALID_PRODUCER_ID_MAPPING. Adds a row for each partition, of which there
/// are `partition_count`, to `rows`.
std::expected<FoundBatches, ErrorCode> find_batches(runtime::RequestContext& context, const ProduceRequest& request,
                                                    std::size_t partition_count, ArenaVector<PartitionVerification>& rows) {
    FoundBatches found(context.arena(), partition_count);
    for (const ProduceRequest::TopicProduceData& topic_data : request.topic_data) {
        const TopicLookup topic =
            find_topic(context, topic_data.name, topic_data.topic_id, context.version() >= 13, access::kWriteTopic);
        for (const ProduceRequest::PartitionProduceData& data : topic_data.partition_data) {
            rows.emplace_back();
            const runtime::Partition* partition = topic.state == nullptr ? nullptr : topic.state->partition(data.index);
            if (partition == nullptr || !is_transactional(data.records)) {
                continue;
            }
            const auto header = parse_batch_header(data.records.bytes());
            if (!header || header->size_bytes() != data.records.bytes().size() || !header->has_producer_id()) {
                continue;  // What it is refused with is found when it is checked.
            }
            if (!found.empty() && (found[0].header.producer_id != header->producer_id ||
                                   found[0].header.producer_epoch != header->producer_epoch)) {
                return std::unexpected(ErrorCode::invalid_producer_id_mapping);
            }
            found.push_back({rows.size() - 1, topic.state->topic->name, data.index, partition->log.get(), *header});
        }
    }
    return found;
}

/// Older clients do not try again after these, but they do after NOT_ENOUGH_REPLICAS, and that does not make them look for
/// another leader. Empty for other errors.
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

/// The coordinator's errors as a client of that version knows them.
void translate(ErrorCode error, std::int16_t version, PartitionVerification& row) {
    if (error == ErrorCode::producer_fenced) {
        error = ErrorCode::invalid_producer_epoch;
    } else if (error == ErrorCode::transaction_abortable && version < kKnowsAbortableSince) {
        error = ErrorCode::invalid_txn_state;
    }
    row.message = error == ErrorCode::invalid_txn_state ? "Partition was not added to the transaction"
                                                        : why_it_could_not_be_asked(error, version);
    const bool was_asked = error == ErrorCode::invalid_txn_state || row.message.empty();
    row.error = was_asked ? error : ErrorCode::not_enough_replicas;
}

/// The coordinator's answer for each of the partitions.
std::vector<ErrorCode> ask(runtime::RequestContext& context, std::string_view transactional_id, const BatchHeader& header,
                           std::span<const transactions::WrittenPartition> partitions) {
    runtime::TransactionShards& shards = context.services.transactions;
    if (!shards.is_attached()) {
        return std::vector<ErrorCode>(partitions.size(), ErrorCode::coordinator_not_available);
    }
    const transactions::Producer producer{header.producer_id, header.producer_epoch};
    if (context.version() >= kAddsPartitionsSince) {
        const auto added = shards.ask(context.turn, transactional_id,
                                      transactions::AddPartitions{.transactional_id = transactional_id,
                                                                  .producer = producer,
                                                                  .partitions = partitions,
                                                                  .client_version = transactions::TransactionVersion::v2});
        return std::vector<ErrorCode>(partitions.size(), added ? added->error : ErrorCode::not_coordinator);
    }
    auto verified = shards.ask(
        context.turn, transactional_id,
        transactions::VerifyPartitions{.transactional_id = transactional_id, .producer = producer, .partitions = partitions});
    return verified ? std::move(verified->errors) : std::vector<ErrorCode>(partitions.size(), ErrorCode::not_coordinator);
}

}  // namespace

std::expected<Array<PartitionVerification>, ErrorCode> verify_transactions(runtime::RequestContext& context,
                                                                           const ProduceRequest& request,
                                                                           std::size_t partition_count) {
    ArenaVector<PartitionVerification> rows(context.arena(), partition_count);
    auto found = find_batches(context, request, partition_count, rows);
    if (!found) {
        return std::unexpected(found.error());
    }
    const bool adds_partitions = context.version() >= kAddsPartitionsSince;
    const bool is_required = context.services.config->transaction_partition_verification_enable;
    if (!adds_partitions && !is_required) {
        return rows.array();
    }
    ArenaVector<transactions::WrittenPartition> partitions(context.arena(), found->size());
    ArenaVector<std::size_t> places(context.arena(), found->size());
    for (const Found& one : *found) {
        const auto verification = one.log->begin_verification(one.header, adds_partitions, context.now().wall);
        if (!verification) {
            rows[one.place].error = runtime::append_error_code(verification.error().failure);
            continue;
        }
        if (is_required) {
            rows[one.place].verification = verification->value_or(kNotVerified);
        }
        if (*verification) {
            partitions.push_back({one.topic, PartitionIndex{one.partition}});
            places.push_back(one.place);
        }
    }
    if (partitions.empty()) {
        return rows.array();
    }
    const std::vector<ErrorCode> errors =
        ask(context, *request.transactional_id, (*found)[0].header, std::span(partitions.begin(), partitions.size()));
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (errors[i] != ErrorCode::none) {
            translate(errors[i], context.version(), rows[places[i]]);
        }
    }
    return rows.array();
}

}  // namespace partita::handlers
