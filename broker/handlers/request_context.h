#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/session.h"
#include "broker/handlers/kafka_call.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reactor.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/schema.h"

namespace partita {
class Clock;
}

namespace partita::access {
class Authorizer;
}

namespace partita::logs {
class Turn;
}  // namespace partita::logs

namespace partita::runtime {

class ClientThrottles;
class RequestContext;
struct CommonServices;
struct QuotaClient;
struct Services;

}  // namespace partita::runtime

namespace partita::handlers {
void dispatch(runtime::RequestContext& context);
}

namespace partita::runtime {

/// The parts of the broker that every request uses.
struct RequestParts {
    Clock& clock;
    ClientThrottles& throttles;
    const access::Authorizer& authorizer;
};

/// One request in progress, on the reactor of its connection. It lives for the call of its handler; message structs decoded from
/// it live until the end of the turn.
///
/// A handler calls exactly one of `reply`, `close_connection`, `defer` and `park`. After `defer` or `park`, some other code
/// delivers the reply through Turns::deliver.
class ClientRequest {
  public:
    ClientRequest(const RequestParts& parts, logs::Turn& turn, ClientConnection& client, KafkaCall pending,
                  std::string_view client_id, MutableBytes body)
        : parts(parts), turn(turn), client(client), client_id(client_id), body(body), pending_(pending) {}

    const RequestParts parts;
    logs::Turn& turn;
    ClientConnection& client;
    /// Empty if the header has null. It points into the request buffer.
    std::string_view client_id;
    /// The bytes after the header. They are mutable because Produce patches record batches in place. Valid until the end of the
    /// turn.
    MutableBytes body;
    /// False for ApiVersions in an unknown newer version; the handler must then not read the body (KIP-511).
    bool version_supported = true;
    /// The size of header and body as received.
    std::size_t request_bytes = 0;

    /// The client's identity, and the broker address that it uses. Both belong to the connection; see access::Session for their
    /// lifetime.
    [[nodiscard]] const access::Session& session() const { return client.session; }
    [[nodiscard]] const access::Principal& principal() const { return *client.session.principal; }
    [[nodiscard]] const ListenerView& listener() const { return *client.listener; }
    /// The client that quotas charge for this request. It points into the request and the session.
    [[nodiscard]] QuotaClient quota_client() const;

    [[nodiscard]] const ApiInfo& api() const { return *pending_.api; }
    [[nodiscard]] ApiKey api_key() const { return pending_.api->key; }
    [[nodiscard]] std::int16_t version() const { return pending_.api_version; }
    [[nodiscard]] Arena& arena();
    [[nodiscard]] Now now() const;

    /// Decodes the body into the turn's arena. Returns null if the body is malformed. Then this has closed the connection with
    /// one log line, as Kafka does, and the handler must return at once.
    template <class Request>
    [[nodiscard]] Request* decode() {
        return static_cast<Request*>(decode_as(Request::schema));
    }

    /// Serves a request from within this process: `decode` returns `request`, which has the API's own type, and `reply` only
    /// calls `answer` with the response. Not for handlers that answer later.
    void serve_locally(const void* request, std::function<void(const void* response)> answer) {
        local_request_ = request;
        local_answer_ = std::move(answer);
    }

    template <class Response>
    void reply(const Response& response) {
        reply_as(Response::schema, &response);
    }
    /// The same for a response of the API's own type.
    void reply_with(const void* response) { reply_as(*pending_.api->response, response); }
    /// The answer to this request goes nowhere. Call this before the request is served.
    void drop_reply() { pending_.target.slot = kNoSlot; }
    /// Replies in a version other than the request's; only for ApiVersions.
    template <class Response>
    void reply_in_version(std::int16_t version, const Response& response) {
        pending_.api_version = version;
        reply_as(Response::schema, &response);
    }
    /// Makes the client wait because of a quota. The reply tells it to wait, and the connection rests for this time even if the
    /// client does not wait. If several quotas apply, the longest wait counts. Call this before the request is answered, deferred
    /// or parked.
    void throttle(std::int64_t duration_ms);
    /// Starts to measure the time that this request takes, for quotas on `request_percentage`. `dispatch` calls this.
    void measure_time();
    /// Starts to measure the time until the reply, for RequestWatch. `dispatch` calls this.
    void measure_latency();
    /// Exempts this request from quotas on time, as Kafka does for Produce with acks=0.
    void forget_time() { started_ns_.reset(); }
    /// Closes the connection without an answer to this request; `reason` goes into the log. The connection still sends replies to
    /// earlier requests.
    void close_connection(std::string_view reason);

    /// Announces a later reply. The connection serves further requests meanwhile; their replies wait for this one.
    [[nodiscard]] KafkaCall defer();
    /// Announces a later reply. The connection serves no further request before it (Kafka mutes the channel). This is for waiting
    /// fetches, joins, syncs and similar requests.
    [[nodiscard]] KafkaCall park();

    enum class Outcome : std::uint8_t { none, replied, closed, deferred, parked };
    [[nodiscard]] Outcome outcome() const { return outcome_; }
    /// The reply after the outcome `replied`. Only the connection calls this.
    [[nodiscard]] Reply take_reply() { return std::move(reply_); }
    [[nodiscard]] const KafkaCall& pending() const { return pending_; }
    [[nodiscard]] std::string_view close_reason() const { return close_reason_; }

  private:
    [[nodiscard]] void* decode_as(const Schema& schema);
    void reply_as(const Schema& schema, const void* response);
    void charge_time();

    void remember_subject();

    KafkaCall pending_;
    /// The decoded request, in the turn's arena.
    const Schema* decoded_schema_ = nullptr;
    const void* decoded_ = nullptr;
    /// Set for a request from within this process.
    const void* local_request_ = nullptr;
    std::function<void(const void*)> local_answer_;
    std::optional<std::int64_t> started_ns_;
    Outcome outcome_ = Outcome::none;
    Reply reply_;
    std::string close_reason_;
};

/// A request whose handler also uses other parts of the broker.
class RequestContext final : public ClientRequest {
  public:
    RequestContext(const Services& services, logs::Turn& turn, ClientConnection& client, KafkaCall pending,
                   std::string_view client_id, MutableBytes body);

    const CommonServices& services;

  private:
    /// Passes the handler of the API the services of its kind.
    friend void handlers::dispatch(RequestContext& context);

    const Services& all_services_;
};

/// Encodes a whole reply frame. Record fields marked external are filled from `slices` by index. A response that its version
/// cannot carry is logged, and the reply then closes the connection.
[[nodiscard]] Reply encode_reply(const KafkaCall& pending, const Schema& schema, const void* response,
                                 std::span<FileSlice> slices = {});

template <class Response>
[[nodiscard]] Reply encode_reply(const KafkaCall& pending, const Response& response, std::span<FileSlice> slices = {}) {
    return encode_reply(pending, Response::schema, &response, slices);
}

}  // namespace partita::runtime
