#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/catalog/commands.h"
#include "broker/handlers/request_context.h"
#include "protocol/arena.h"

namespace partita::handlers {

/// The text of a refusal for a reply, copied into the arena; null if the error has no text.
[[nodiscard]] inline std::optional<std::string_view> message_of(const catalog::CatalogError& error, Arena& arena) {
    if (!error.message) {
        return std::nullopt;
    }
    return arena.copy(*error.message);
}

/// The error message for a change of the catalog that could not be written; nothing has changed then.
inline constexpr std::string_view kCatalogNotWritten = "The change could not be written to the broker's disk and was not made.";

/// The client of a request, for the quota on creating and deleting partitions (KIP-599). Versions of the request from
/// `refused_since` on know THROTTLING_QUOTA_EXCEEDED. The broker serves older versions and makes the client wait.
[[nodiscard]] inline catalog::MutatingClient mutating_client(const runtime::RequestContext& context, std::int16_t refused_since) {
    return {
        .user = context.principal().name(), .client_id = context.client_id, .may_be_refused = context.version() >= refused_since};
}

/// True if Kafka's controller would refuse the request because it has no time left on arrival. Here this happens only to requests
/// with a timeout of 0 or less.
[[nodiscard]] inline bool has_no_time(std::int32_t timeout_ms) { return timeout_ms <= 0; }

/// Replies, and tells the client to wait as long as its quota demands.
template <class Response>
void reply_throttled(runtime::RequestContext& context, Response& response, std::int64_t throttle_ms) {
    context.throttle(throttle_ms);
    context.reply(response);
}

}  // namespace partita::handlers
