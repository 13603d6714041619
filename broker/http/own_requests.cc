#include "broker/http/own_requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "broker/handlers/connection_end.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/connections.h"
#include "protocol/assert.h"
#include "protocol/codec.h"
#include "protocol/request_header.h"

namespace partita::http {
namespace {

/// A request names its API by its table.
const ApiInfo& api_of(const Schema& request) {
    const auto found = std::ranges::find(all_apis(), &request, &ApiInfo::request);
    PARTITA_ASSERT(found != all_apis().end(), "a request of a client's API");
    return *found;
}

Status status_of(ErrorCode code) {
    switch (static_cast<int>(code)) {
        case static_cast<int>(ErrorCode::unknown_topic_or_partition):
        case static_cast<int>(ErrorCode::group_id_not_found):
            return Status::not_found;
        case static_cast<int>(ErrorCode::topic_authorization_failed):
        case static_cast<int>(ErrorCode::group_authorization_failed):
        case static_cast<int>(ErrorCode::cluster_authorization_failed):
            return Status::forbidden;
        case static_cast<int>(ErrorCode::topic_already_exists):
        case static_cast<int>(ErrorCode::non_empty_group):
        case static_cast<int>(ErrorCode::unknown_member_id):
            return Status::conflict;
        case static_cast<int>(ErrorCode::coordinator_load_in_progress):
        case static_cast<int>(ErrorCode::coordinator_not_available):
        case static_cast<int>(ErrorCode::not_coordinator):
        case static_cast<int>(ErrorCode::request_timed_out):
            return Status::unavailable;
        case static_cast<int>(ErrorCode::unknown_server_error):
        case static_cast<int>(ErrorCode::kafka_storage_error):
            return Status::internal_error;
        default:
            return Status::bad_request;
    }
}

}  // namespace

/// One request under way, which is its own client.
struct OwnRequests::Call final : runtime::ReplyReceiver {
    Call(OwnRequests& owner, ExchangePointer exchange, Then then)
        : owner(owner), exchange(std::move(exchange)), then(std::move(then)) {}

    void fill_slot(std::uint64_t, runtime::Reply&& given) override { owner.finish_soon(id, std::move(given)); }
    void send_ready() override {}
    void read_again() override {}

    OwnRequests& owner;
    ExchangePointer exchange;
    Then then;
    std::uint64_t id = 0;
    runtime::ClientConnection client;
    const ApiInfo* api = nullptr;
    std::int16_t version = 0;
    ByteBuffer body;
    runtime::Reply reply;
};

OwnRequests::OwnRequests(runtime::Services& services) : services_(services) {}

OwnRequests::~OwnRequests() = default;

void OwnRequests::start(const ExchangePointer& exchange, const Schema& request_schema, const void* request, std::int16_t version,
                        Then then) {
    if (calls_.size() >= kCallsMax) {
        respond_error(*exchange, Status::unavailable, "too much is asked at once; ask again in a moment");
        return;
    }
    auto made = std::make_unique<Call>(*this, exchange, std::move(then));
    Call& call = *made;
    call.api = &api_of(request_schema);
    call.version = version == kNewest ? call.api->latest_version(false) : version;
    if (!encode(request_schema, request, call.version, call.body)) {
        // A name can be longer than the protocol carries.
        respond_error(*exchange, Status::bad_request, "a text in the request is too long");
        return;
    }
    call.client.id = services_.connections.next_id();
    call.client.born = services_.clock.now().wall;
    call.client.listener = std::make_shared<runtime::ListenerView>(runtime::ListenerView{.name = "HTTP"});
    call.client.session = exchange->caller().session;
    call.client.host = "/" + exchange->caller().address;
    call.id = services_.turns.first_reactor().add_receiver(call);
    calls_.emplace(call.id, std::move(made));
    dispatch(call);
}

void OwnRequests::dispatch(Call& call) {
    runtime::Reactor& reactor = services_.turns.first_reactor();
    const runtime::PendingReply pending{.target = {.reactor = reactor.index(), .connection = call.id, .slot = 0},
                                        .api = call.api,
                                        .api_version = call.version,
                                        .correlation_id = 0};
    runtime::RequestContext context(services_, services_.turns.first(), call.client, pending, kClientId,
                                    {call.body.data(), call.body.size()});
    context.request_bytes = call.body.size();
    handlers::dispatch(context);
    switch (context.outcome()) {
        case runtime::RequestContext::Outcome::replied:
            finish_soon(call.id, context.take_reply());
            break;
        case runtime::RequestContext::Outcome::closed:
            finish_soon(call.id, runtime::Reply{.close = true});
            break;
        case runtime::RequestContext::Outcome::deferred:
        case runtime::RequestContext::Outcome::parked:
            break;
        case runtime::RequestContext::Outcome::none:
            PARTITA_ASSERT(false, "every handler answers, defers or closes");
    }
}

void OwnRequests::finish_soon(std::uint64_t id, runtime::Reply&& reply) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) {
        return;
    }
    found->second->reply = std::move(reply);
    // The end of a turn is no place for further requests, which whoever gets the reply may have.
    services_.turns.first_reactor().post([weak = weak_from_this(), id] {
        if (const auto self = weak.lock()) {
            self->finish(id);
        }
    });
}

void OwnRequests::finish(std::uint64_t id) {
    const std::unique_ptr<Call> call = std::move(calls_.extract(id).mapped());
    services_.turns.first_reactor().remove_receiver(id);
    handlers::connection_closed(services_, call->client);
    const Bytes frame = call->reply.bytes.bytes();
    constexpr std::size_t kSizePrefix = 4;
    if (frame.size() <= kSizePrefix) {
        respond_error(*call->exchange, Status::bad_request, "the broker does not understand the request; its log says why");
        return;
    }
    const auto header = parse_response_header(*call->api, call->version, frame.subspan(kSizePrefix));
    PARTITA_ASSERT(header.has_value(), "a reply of our own");
    Arena arena;
    const Schema& schema = *call->api->response;
    void* message = arena.allocate_unlimited(schema.size, schema.alignment);
    const auto decoded = decode(schema, frame.subspan(kSizePrefix + header->size), call->version, arena, message);
    PARTITA_ASSERT(decoded.has_value(), "a reply of our own");
    call->then(message);
}

void respond_kafka_error(Exchange& exchange, ErrorCode code, std::string_view message) {
    const nlohmann::ordered_json body{{"error", message.empty() ? error_message(code) : message}, {"code", error_name(code)}};
    exchange.respond(status_of(code), kJson, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace partita::http
