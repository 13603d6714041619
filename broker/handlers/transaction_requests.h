#pragma once

#include <cstdint>
#include <expected>
#include <functional>
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
#include "storage/partition_log.h"

/// What handlers of transactional APIs have in common.

namespace partita::handlers {

[[nodiscard]] constexpr transactions::Producer producer_of(std::int64_t id, std::int16_t epoch) {
    return {ProducerId{id}, ProducerEpoch{epoch}};
}

/// Clients of versions before `known_since` do not know PRODUCER_FENCED, and are told INVALID_PRODUCER_EPOCH.
[[nodiscard]] constexpr ErrorCode fenced_as_known(ErrorCode error, std::int16_t version, std::int16_t known_since) {
    return error == ErrorCode::producer_fenced && version < known_since ? ErrorCode::invalid_producer_epoch : error;
}

/// Whether an API brings partitions into a transaction as clients of KIP-890 expect it.
[[nodiscard]] constexpr transactions::TransactionVersion client_version(bool knows_second_protocol) {
    return knows_second_protocol ? transactions::TransactionVersion::v2 : transactions::TransactionVersion::v0;
}

/// Asks the coordinator of `command.transactional_id`. Nobody has the empty id, which is INVALID_REQUEST whoever coordinates; no
/// answer is NOT_COORDINATOR.
template <class Command>
[[nodiscard]] std::expected<typename Command::Result, ErrorCode> ask_coordinator(runtime::RequestContext& context,
                                                                                 const Command& command) {
    if (command.transactional_id.empty()) {
        return std::unexpected(ErrorCode::invalid_request);
    }
    auto result = context.services.transactions.ask(context.turn, command.transactional_id, command);
    if (!result) {
        return std::unexpected(ErrorCode::not_coordinator);
    }
    return std::move(*result);
}

/// A fresh producer id. Empty when it could not be persisted: Kafka's producers ask again when their coordinator is loading, so
/// that is what they are told.
[[nodiscard]] std::optional<ProducerId> fresh_producer_id(runtime::RequestContext& context);

/// The same as `ask_coordinator` for a command that may need a fresh producer id. Its answer leaves by `reply_to_producer`.
template <class Command>
[[nodiscard]] std::expected<typename Command::Result, ErrorCode> ask_with_fresh_id(runtime::RequestContext& context,
                                                                                   Command command) {
    auto result = ask_coordinator(context, command);
    if (!result || !result->needs_producer_id) {
        return result;
    }
    command.fresh_producer_id = fresh_producer_id(context);
    if (!command.fresh_producer_id) {
        return std::unexpected(ErrorCode::coordinator_load_in_progress);
    }
    return ask_coordinator(context, command);
}

/// Calls `give` once the device has what says that the producer ids given out so far are taken; with false when it does not get
/// it. Else a power failure could have an id given out again, and logs that kept records of its first producer would take batches
/// of the second for repeated ones. Now, or later from another thread.
void when_ids_are_durable(runtime::Services& services, std::function<void(bool is_durable)> give);

/// Replies then; with `failed` when they are not. The responses hold no views.
template <class Response>
void reply_when_ids_are_durable(runtime::RequestContext& context, const Response& response, const Response& failed) {
    runtime::Services& services = context.services;
    if (!services.catalog.own_log()->has_unsynced_data()) {
        context.reply(response);
        return;
    }
    const runtime::KafkaCall pending = context.defer();
    when_ids_are_durable(services, [&services, pending, response, failed](bool is_durable) {
        services.turns.deliver(pending.target, runtime::encode_reply(pending, is_durable ? response : failed));
    });
}

/// Tells a producer who it is from now on. Whoever was told the producer id before has it at once; whoever was not has to wait,
/// also when another one took it: that one may still wait.
template <class Response>
void reply_to_producer(runtime::RequestContext& context, std::int64_t known_id, const Response& response,
                       const Response& failed) {
    if (response.producer_id == known_id) {
        context.reply(response);
    } else {
        reply_when_ids_are_durable(context, response, failed);
    }
}

}  // namespace partita::handlers
