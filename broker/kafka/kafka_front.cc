#include "broker/kafka/kafka_front.h"

#include <algorithm>
#include <utility>

#include "broker/access/offer.h"
#include "broker/config/current_config.h"
#include "broker/handlers/connection_end.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/request_gate.h"
#include "broker/kafka/listener_login.h"
#include "broker/logs/turn.h"
#include "broker/runtime/loop/counters.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::kafka {
namespace {

using authentication::LoginExchange;
using net::Served;
using Outcome = net::Served::Outcome;

/// The login of one connection's client.
class Login final : public net::ProtocolState {
  public:
    explicit Login(std::shared_ptr<const authentication::LoginSettings> settings) : exchange(std::move(settings)) {}

    [[nodiscard]] bool knows_client() const override { return exchange.principal() != nullptr; }

    LoginExchange exchange;
};

/// Null on a listener without SASL.
LoginExchange* login_of(const net::Speaker& speaker) {
    return speaker.state == nullptr ? nullptr : &static_cast<Login*>(speaker.state)->exchange;
}

std::string reason_to_close(const HeaderError& error) {
    std::string reason = "request header: " + std::string(to_string(error.failure));
    if (error.failure != HeaderFailure::truncated) {
        reason += " key " + std::to_string(error.api_key) + " version " + std::to_string(error.api_version);
    }
    return reason;
}

Served refused(std::string reason) { return {.outcome = Outcome::refused, .reason = std::move(reason)}; }

}  // namespace

KafkaFront::KafkaFront(const runtime::Services& services, RequestServer& requests, config::Endpoint listener,
                       std::shared_ptr<const authentication::LoginSettings> login)
    : services_(services),
      requests_(requests),
      listener_(std::move(listener)),
      login_(std::move(login)),
      frame_bytes_max_(services.config->socket_request_max_bytes) {}

std::unique_ptr<net::ProtocolState> KafkaFront::begin() { return login_ == nullptr ? nullptr : std::make_unique<Login>(login_); }

void KafkaFront::replied(const runtime::ClientConnection& client, const runtime::Reply& reply) {
    handlers::note_reply(services_, client, reply);
}

void KafkaFront::closed(const runtime::ClientConnection& client) {
    if (services_.extensions.gate != nullptr) {
        services_.extensions.gate->closed(client);
    }
    handlers::connection_closed(services_, client);
}

config::CurrentConfig::Objection KafkaFront::objection() const {
    return [listener = listener_](const config::BrokerConfig& before, const config::BrokerConfig& after) {
        return objection_to_login(listener, before, after);
    };
}

Frames KafkaFront::frames_of(const LoginExchange* login) const {
    if (login != nullptr && !login->is_complete()) {
        return {.bytes_max = std::min(login->settings().receive_bytes_max, frame_bytes_max_),
                .limit_name = "sasl.server.max.receive.size"};
    }
    return {.bytes_max = frame_bytes_max_};
}

bool KafkaFront::is_offered(const RequestHeader& header) const {
    if (services_.extensions.offer == nullptr) {
        return true;
    }
    const auto offered = services_.extensions.offer->versions_of(header.key());
    return offered && offered->contains(header.api_version);
}

Served KafkaFront::serve_next(logs::Turn& turn, const net::Speaker& speaker) {
    auto request = speaker.conversation.next_request(frames_of(login_of(speaker)));
    if (!request) {
        return refused(std::move(request.error()));
    }
    return *request ? serve_frame(turn, speaker, **request) : Served();
}

Served KafkaFront::serve_frame(logs::Turn& turn, const net::Speaker& speaker, const net::Conversation::Request& request) {
    LoginExchange* const login = login_of(speaker);
    if (login != nullptr && login->expects_bare_token()) {
        return finish(*login, request.slot, answer_bare_token(services_, turn, speaker.client, *login, as_text(request.frame)));
    }
    const std::expected<RequestHeader, HeaderError> header =
        parse_request_header(request.frame, speaker.client.listener->unstable_versions);
    if (!header) {
        return refused(reason_to_close(header.error()));
    }
    if (services_.extensions.offer != nullptr) {
        if (auto objection = services_.extensions.offer->objection_to(header->key(), header->api_version)) {
            return refused(std::move(*objection));
        }
    }
    if (login != nullptr) {
        if (auto end = login->refuse(header->api->key)) {
            return finish(*login, request.slot, {.reply = {}, .end = std::move(end)});
        }
    }
    const runtime::KafkaCall pending{
        .target = {.reactor = turn.reactor().index(), .connection = speaker.receiver, .slot = request.slot},
        .api = header->api,
        .api_version = header->api_version,
        .correlation_id = header->correlation_id,
    };
    runtime::RequestContext context(services_, turn, speaker.client, pending, header->client_id,
                                    request.frame.subspan(header->size));
    context.version_supported = header->version_supported && is_offered(*header);
    context.request_bytes = request.frame.size();
    if (login != nullptr) {
        const Instant now = turn.now().monotonic;
        if (belongs_to_login(*login, header->api->key, now)) {
            if (auto answer = answer_login(context, *login)) {
                return finish(*login, request.slot, std::move(*answer));
            }
        } else if (login->is_expired(now)) {
            return refused("the session of the login has ended (connections.max.reauth.ms)");
        }
    }
    if (services_.extensions.gate != nullptr && context.outcome() == runtime::RequestContext::Outcome::none) {
        if (auto served = pass_gate(speaker, request.slot, context)) {
            return std::move(*served);
        }
    }
    return serve(login, request.slot, context);
}

std::optional<Served> KafkaFront::pass_gate(const net::Speaker& speaker, std::uint64_t slot, runtime::RequestContext& context) {
    handlers::Passage passage = services_.extensions.gate->pass(context);
    switch (passage.way) {
        case handlers::Passage::Way::serve:
        case handlers::Passage::Way::answered:
            if (passage.treatment != nullptr) {
                speaker.conversation.treat(slot, std::move(passage.treatment));
            }
            return std::nullopt;
        case handlers::Passage::Way::wait:
            speaker.conversation.give_back(slot);
            return Served{.outcome = Outcome::postponed, .rests_until = passage.until};
        case handlers::Passage::Way::drop_request:
            return Served{.outcome = Outcome::silenced, .slot = slot};
        case handlers::Passage::Way::drop_response: {
            context.drop_reply();
            Served served = serve(nullptr, slot, context);
            if (served.outcome == Outcome::ended) {
                return served;
            }
            return Served{.outcome = Outcome::silenced, .slot = slot};
        }
        case handlers::Passage::Way::disconnect:
            return refused(std::move(passage.reason));
    }
    return std::nullopt;
}

Served KafkaFront::finish(const LoginExchange& login, std::uint64_t slot, LoginAnswer answer) {
    if (!answer.end) {
        return {.outcome = Outcome::replied, .slot = slot, .reply = std::move(answer.reply)};
    }
    services_.upkeep.counters.failed_authentications.fetch_add(1, std::memory_order_relaxed);
    return {.outcome = Outcome::ended,
            .slot = slot,
            .reply = std::move(answer.reply),
            .rest_ms = answer.end->after_delay ? login.settings().failure_delay_ms : 0,
            .reason = std::move(answer.end->reason)};
}

Served KafkaFront::serve(LoginExchange* login, std::uint64_t slot, runtime::RequestContext& context) {
    if (context.outcome() == runtime::RequestContext::Outcome::none) {
        requests_.serve(context);
    }
    Served served{.slot = slot};
    switch (context.outcome()) {
        case runtime::RequestContext::Outcome::replied:
            served.outcome = Outcome::replied;
            served.reply = context.take_reply();
            if (login != nullptr && context.api_key() == ApiKey::api_versions) {
                tell_versions(*login, served.reply);
            }
            break;
        case runtime::RequestContext::Outcome::closed:
            // The connection still sends replies to its earlier requests.
            served.outcome = Outcome::ended;
            served.reason = context.close_reason();
            break;
        case runtime::RequestContext::Outcome::deferred:
            // Requests sent after this one wait, too.
            served.outcome = Outcome::deferred;
            served.rest_ms = context.pending().throttle_ms;
            break;
        case runtime::RequestContext::Outcome::parked:
            served.outcome = Outcome::parked;
            break;
        case runtime::RequestContext::Outcome::none:
            PARTITA_ASSERT(false, "every handler answers, defers or closes");
    }
    return served;
}

net::FrontMaker kafka_fronts(const runtime::Services& services, RequestServer& requests, const Schedule& schedule) {
    return [&services, &requests,
            schedule](const config::Endpoint& listener) -> std::expected<std::unique_ptr<net::Front>, std::string> {
        PARTITA_TRY_ASSIGN(auto login, login_of_listener(*services.config.get(), listener, schedule));
        return std::make_unique<KafkaFront>(services, requests, listener, std::move(login));
    };
}

net::Surroundings surroundings_of(const runtime::Services& services) {
    return {.config = services.config,
            .turns = services.turns,
            .connections = services.connections,
            .throttles = services.throttles,
            .requests = services.requests,
            .open_files = services.upkeep.open_files,
            .clock = services.clock,
            .counters = services.upkeep.counters,
            .failures = services.upkeep.failures};
}

}  // namespace partita::kafka
