#include "broker/runtime/coordinators/verification_step.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "broker/transactions/commands.h"
#include "protocol/arena.h"

namespace partita::runtime {
namespace {

/// A batch of a transaction whose partition exists.
struct Found {
    logs::Append* append;
    BatchHeader header;
};

/// The header of the batch if it belongs to a transaction. Later checks find other faults of the batch.
std::optional<BatchHeader> transactional_header(Bytes records) {
    if (!logs::is_transactional(records)) {
        return std::nullopt;
    }
    const auto header = parse_batch_header(records);
    if (!header || header->size_bytes() != records.size() || !header->has_producer_id()) {
        return std::nullopt;
    }
    return *header;
}

/// Returns false if the batches come from more than one producer.
bool find_batches(logs::AppendRequest& request, ArenaVector<Found>& found) {
    for (logs::Append& append : request.appends) {
        if (append.partition == nullptr) {
            continue;
        }
        const auto header = transactional_header(append.batch);
        if (!header) {
            continue;
        }
        if (!found.empty() &&
            (found[0].header.producer_id != header->producer_id || found[0].header.producer_epoch != header->producer_epoch)) {
            return false;
        }
        found.push_back({&append, *header});
    }
    return true;
}

/// The coordinator's answer for each of the partitions.
std::vector<ErrorCode> ask(TransactionShards& shards, logs::Turn& turn, const logs::AppendTransaction& transaction,
                           const BatchHeader& header, std::span<const transactions::WrittenPartition> partitions) {
    if (!shards.is_attached()) {
        return std::vector<ErrorCode>(partitions.size(), ErrorCode::coordinator_not_available);
    }
    const transactions::Producer producer{header.producer_id, header.producer_epoch};
    if (transaction.adds_partitions) {
        const auto added = shards.ask(turn, transaction.transactional_id,
                                      transactions::AddPartitions{.transactional_id = transaction.transactional_id,
                                                                  .producer = producer,
                                                                  .partitions = partitions,
                                                                  .client_version = transactions::TransactionVersion::v2});
        return std::vector<ErrorCode>(partitions.size(), added ? added->error : ErrorCode::not_coordinator);
    }
    auto verified =
        shards.ask(turn, transaction.transactional_id,
                   transactions::VerifyPartitions{
                       .transactional_id = transaction.transactional_id, .producer = producer, .partitions = partitions});
    return verified ? std::move(verified->errors) : std::vector<ErrorCode>(partitions.size(), ErrorCode::not_coordinator);
}

}  // namespace

logs::Outcome VerificationStep::admit(logs::AppendRequest& request, logs::Turn& turn) {
    const logs::AppendTransaction& transaction = *request.transaction;
    ArenaVector<Found> found(turn.arena(), request.appends.size());
    if (!find_batches(request, found)) {
        return logs::Outcome::mixed_producers;
    }
    const bool is_required = config_->transaction_partition_verification_enable;
    if (!transaction.adds_partitions && !is_required) {
        return logs::Outcome::ok;
    }
    ArenaVector<transactions::WrittenPartition> partitions(turn.arena(), found.size());
    ArenaVector<logs::Append*> asked(turn.arena(), found.size());
    for (const Found& one : found) {
        logs::Append& append = *one.append;
        const auto verification =
            append.partition->log->begin_verification(one.header, transaction.adds_partitions, turn.now().wall);
        if (!verification) {
            append.outcome = logs::outcome_of(verification.error().failure);
            continue;
        }
        if (is_required) {
            append.verification = verification->value_or(kNotVerified);
        }
        if (*verification) {
            partitions.push_back({append.topic->topic->name, append.index});
            asked.push_back(&append);
        }
    }
    if (partitions.empty()) {
        return logs::Outcome::ok;
    }
    const std::vector<ErrorCode> errors =
        ask(transactions_, turn, transaction, found[0].header, std::span(partitions.begin(), partitions.size()));
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (errors[i] != ErrorCode::none) {
            asked[i]->outcome = logs::Outcome::transaction_refused;
            asked[i]->coordinator_error = errors[i];
        }
    }
    return logs::Outcome::ok;
}

}  // namespace partita::runtime
