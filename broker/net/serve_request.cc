#include "broker/net/serve_request.h"

#include "broker/access/offer.h"
#include "broker/handlers/connection_end.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/runtime/loop/counters.h"
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

/// False for ApiVersions in a version that Kafka has and is not offered.
bool is_offered(const runtime::Services& services, const RequestHeader& header) {
    if (services.extensions.offer == nullptr) [[likely]] {
        return true;
    }
    const auto offered = services.extensions.offer->versions_of(header.key());
    return offered && offered->contains(header.api_version);
}

/// Answers a request of a login. One that failed ends the conversation: at once, or after a while with the answer.
Served finish(runtime::Services& services, const Speaker& speaker, std::uint64_t slot, LoginAnswer answer) {
    if (!answer.end) {
        speaker.replies.fill_slot(slot, std::move(answer.reply));
        return {};
    }
    services.counters.failed_authentications.fetch_add(1, std::memory_order_relaxed);
    handlers::log_closed_connection(services, speaker.client, answer.end->reason);
    speaker.conversation.serve_no_more();
    answer.reply.close = true;
    const std::int64_t delay_ms = answer.end->after_delay ? speaker.login->settings().failure_delay_ms : 0;
    if (delay_ms == 0) {
        speaker.replies.fill_slot(slot, std::move(answer.reply));
        return {};
    }
    return {.held = std::make_unique<HeldReply>(slot, std::move(answer.reply), delay_ms)};
}

/// Serves what is no part of a login.
Served serve(runtime::Services& services, const Speaker& speaker, const Conversation::Request& request,
             runtime::RequestContext& context) {
    if (context.outcome() == runtime::RequestContext::Outcome::none) {
        handlers::dispatch(context);
    }
    switch (context.outcome()) {
        case runtime::RequestContext::Outcome::replied: {
            runtime::Reply reply = context.take_reply();
            if (speaker.login != nullptr && context.api_key() == ApiKey::api_versions) {
                tell_versions(*speaker.login, reply);
            }
            speaker.replies.fill_slot(request.slot, std::move(reply));
            break;
        }
        case runtime::RequestContext::Outcome::closed:
            // Replies to earlier requests of this connection still leave.
            handlers::log_closed_connection(services, speaker.client, context.close_reason());
            speaker.conversation.serve_no_more();
            speaker.replies.fill_slot(request.slot, runtime::Reply{.close = true});
            break;
        case runtime::RequestContext::Outcome::deferred:
            // What was sent behind it waits, too.
            return {.rest_ms = context.pending().throttle_ms};
        case runtime::RequestContext::Outcome::parked:
            speaker.conversation.park(request.slot);
            break;
        case runtime::RequestContext::Outcome::none:
            PARTITA_ASSERT(false, "every handler answers, defers or closes");
    }
    return {};
}

}  // namespace

std::expected<Served, std::string> serve_request(runtime::Services& services, runtime::Turn& turn, const Speaker& speaker,
                                                 const Conversation::Request& request) {
    authentication::LoginExchange* const login = speaker.login;
    if (login != nullptr && login->expects_bare_token()) {
        return finish(services, speaker, request.slot,
                      answer_bare_token(services, turn, speaker.client, *login, as_text(request.frame)));
    }
    const std::expected<RequestHeader, HeaderError> header =
        parse_request_header(request.frame, speaker.client.listener->unstable_versions);
    if (!header) {
        return std::unexpected(reason_to_close(header.error()));
    }
    if (services.extensions.offer != nullptr) [[unlikely]] {
        if (auto objection = services.extensions.offer->objection_to(header->key(), header->api_version)) {
            return std::unexpected(std::move(*objection));
        }
    }
    if (login != nullptr) {
        if (auto end = login->refuse(header->api->key)) {
            return finish(services, speaker, request.slot, {.reply = {}, .end = std::move(end)});
        }
    }
    const runtime::PendingReply pending{
        .target = {.reactor = turn.reactor().index(), .connection = speaker.receiver, .slot = request.slot},
        .api = header->api,
        .api_version = header->api_version,
        .correlation_id = header->correlation_id,
    };
    runtime::RequestContext context(services, turn, speaker.client, pending, header->client_id,
                                    request.frame.subspan(header->size));
    context.version_supported = header->version_supported && is_offered(services, *header);
    context.request_bytes = request.frame.size();
    if (login != nullptr) {
        const Instant now = turn.now().monotonic;
        if (belongs_to_login(*login, header->api->key, now)) {
            if (auto answer = answer_login(context, *login)) {
                return finish(services, speaker, request.slot, std::move(*answer));
            }
        } else if (login->is_expired(now)) {
            return std::unexpected("the session of the login has ended (connections.max.reauth.ms)");
        }
    }
    return serve(services, speaker, request, context);
}

}  // namespace partita::net
