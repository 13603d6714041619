#include "broker/net/serve_request.h"

#include "broker/handlers/connection_end.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "protocol/assert.h"
#include "protocol/request_header.h"

namespace partita::net {
namespace {

std::string reason_to_close(const HeaderError& error) {
    std::string reason = "request header: " + std::string(to_string(error.failure));
    if (error.failure != HeaderFailure::truncated) {
        reason += " key " + std::to_string(error.api_key) + " version " + std::to_string(error.api_version);
    }
    return reason;
}

}  // namespace

std::expected<std::int32_t, std::string> serve_request(runtime::Services& services, runtime::Turn& turn, const Speaker& speaker,
                                                       const Conversation::Request& request) {
    const std::expected<RequestHeader, HeaderError> header =
        parse_request_header(request.frame, speaker.client.listener->unstable_versions);
    if (!header) {
        return std::unexpected(reason_to_close(header.error()));
    }
    const runtime::PendingReply pending{
        .target = {.reactor = turn.reactor().index(), .connection = speaker.receiver, .slot = request.slot},
        .api = header->api,
        .api_version = header->api_version,
        .correlation_id = header->correlation_id,
    };
    runtime::RequestContext context(services, turn, speaker.client, pending, header->client_id,
                                    request.frame.subspan(header->size));
    context.version_supported = header->version_supported;
    context.request_bytes = request.frame.size();
    handlers::dispatch(context);
    switch (context.outcome()) {
        case runtime::RequestContext::Outcome::replied:
            speaker.replies.fill_slot(request.slot, context.take_reply());
            break;
        case runtime::RequestContext::Outcome::closed:
            // Replies to earlier requests of this connection still leave.
            handlers::log_closed_connection(services, speaker.client, context.close_reason());
            speaker.conversation.serve_no_more();
            speaker.replies.fill_slot(request.slot, runtime::Reply{.close = true});
            break;
        case runtime::RequestContext::Outcome::deferred:
            // What was sent behind it waits, too.
            return context.pending().throttle_ms;
        case runtime::RequestContext::Outcome::parked:
            speaker.conversation.park(request.slot);
            break;
        case runtime::RequestContext::Outcome::none:
            PARTITA_ASSERT(false, "every handler answers, defers or closes");
    }
    return 0;
}

}  // namespace partita::net
