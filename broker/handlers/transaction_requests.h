#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "broker/transactions/commands.h"
#include "protocol/error_code.h"

/// Code that handlers of transactional APIs share.

namespace partita::handlers {

[[nodiscard]] constexpr transactions::Producer producer_of(std::int64_t id, std::int16_t epoch) {
    return {ProducerId{id}, ProducerEpoch{epoch}};
}

/// Replaces PRODUCER_FENCED by INVALID_PRODUCER_EPOCH for clients with versions before `known_since`, which do not know it.
[[nodiscard]] constexpr ErrorCode fenced_as_known(ErrorCode error, std::int16_t version, std::int16_t known_since) {
    return error == ErrorCode::producer_fenced && version < known_since ? ErrorCode::invalid_producer_epoch : error;
}

/// The transaction version for an API: v2 if it adds partitions to a transaction as KIP-890 clients expect.
[[nodiscard]] constexpr transactions::TransactionVersion client_version(bool knows_second_protocol) {
    return knows_second_protocol ? transactions::TransactionVersion::v2 : transactions::TransactionVersion::v0;
}

/// Asks the coordinator of `command.transactional_id`. The empty id is never valid: the error is INVALID_REQUEST, regardless of
/// the coordinator. Without an answer the error is NOT_COORDINATOR.
template <class Command>
[[nodiscard]] std::expected<typename Command::Result, ErrorCode> ask_coordinator(runtime::RequestContext& context,
                                                                                 const runtime::CoordinatorServices& coordinators,
                                                                                 const Command& command) {
    if (command.transactional_id.empty()) {
        return std::unexpected(ErrorCode::invalid_request);
    }
    auto result = coordinators.transactions.ask(context.turn, command.transactional_id, command);
    if (!result) {
        return std::unexpected(ErrorCode::not_coordinator);
    }
    return std::move(*result);
}

/// Like `ask_coordinator`, for a command that may need a fresh producer id. Send its answer with `reply_to_producer`.
template <class Command>
[[nodiscard]] std::expected<typename Command::Result, ErrorCode> ask_with_fresh_id(
    runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators, Command command) {
    auto result = ask_coordinator(context, coordinators, command);
    if (!result || !result->needs_producer_id) {
        return result;
    }
    // Without an id that is persisted, Kafka's producers retry after this error.
    command.fresh_producer_id = coordinators.catalog.next_producer_id(context.turn);
    if (!command.fresh_producer_id) {
        return std::unexpected(ErrorCode::coordinator_load_in_progress);
    }
    return ask_coordinator(context, coordinators, command);
}

/// Replies once the device has the record of all producer ids assigned so far; replies with `failed` if the write fails.
/// Otherwise a power failure could make the broker assign an id twice. Logs with records of its first producer would then take
/// batches of the second producer for duplicates. The responses must hold no views.
template <class Response>
void reply_when_ids_are_durable(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                                const Response& response, const Response& failed) {
    if (!coordinators.catalog.has_unsynced_changes()) {
        context.reply(response);
        return;
    }
    const runtime::KafkaCall pending = context.defer();
    coordinators.catalog.when_synced(
        coordinators.flusher, [&turns = context.services.turns, pending, response, failed](bool is_durable) {
            turns.deliver(pending.target, runtime::encode_reply(pending, is_durable ? response : failed));
        });
}

/// Tells a producer its current id and epoch. A producer that already knew the id gets the reply at once. A producer with a new
/// id waits, even if another request took that id: the other one may still wait.
template <class Response>
void reply_to_producer(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators, std::int64_t known_id,
                       const Response& response, const Response& failed) {
    if (response.producer_id == known_id) {
        context.reply(response);
    } else {
        reply_when_ids_are_durable(context, coordinators, response, failed);
    }
}

}  // namespace partita::handlers
