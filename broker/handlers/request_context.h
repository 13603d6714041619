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
struct QuotaClient;
struct Services;

/// The parts of the broker that every request uses.
struct RequestParts {
    Clock& clock;
    ClientThrottles& throttles;
    const access::Authorizer& authorizer;
};

/// One request while it is served, on the reactor of its connection. It lives as long as the call of its handler; message structs
/// decoded from it live until the end of the turn.
///
/// A handler calls exactly one of: `reply`, `close_connection`, or `defer` or `park`, after which somebody
/// delivers the reply through Turns::deliver.
class ClientRequest {
  public:
    ClientRequest(const RequestParts& parts, logs::Turn& turn, ClientConnection& client, KafkaCall pending,
                  std::string_view client_id, MutableBytes body)
        : parts(parts), turn(turn), client(client), client_id(client_id), body(body), pending_(pending) {}

    const RequestParts parts;
    logs::Turn& turn;
    ClientConnection& client;
    /// Empty when the header has null. It points into the request buffer.
    std::string_view client_id;
    /// The bytes after the header. They are mutable because Produce patches record batches in place. Valid until the end of the
    /// turn.
    MutableBytes body;
    /// False for ApiVersions in a version from the future, whose body must not be read (KIP-511).
    bool version_supported = true;
    /// The size of header and body, as they came.
    std::size_t request_bytes = 0;

    /// Who asks, and at which of the broker's addresses. These belong to the connection; see access::Session for how long they
    /// are valid.
    [[nodiscard]] const access::Session& session() const { return client.session; }
    [[nodiscard]] const access::Principal& principal() const { return *client.session.principal; }
    [[nodiscard]] const ListenerView& listener() const { return *client.listener; }
    /// Whose quotas hold for this request. It points into the request and the session.
    [[nodiscard]] QuotaClient quota_client() const;

    [[nodiscard]] const ApiInfo& api() const { return *pending_.api; }
    [[nodiscard]] ApiKey api_key() const { return pending_.api->key; }
    [[nodiscard]] std::int16_t version() const { return pending_.api_version; }
    [[nodiscard]] Arena& arena();
    [[nodiscard]] Now now() const;

    /// Decodes the body into the turn's arena. Null when it is malformed: then this closes the connection with one log line, as
    /// Kafka does, and the handler must return at once.
    template <class Request>
    [[nodiscard]] Request* decode() {
        return static_cast<Request*>(decode_as(Request::schema));
    }

    /// Serves a request of this process: `decode` gives `request`, which is of the API's own kind, and `reply` calls `answer`
    /// with the response and nothing else. A handler that answers later may not be asked so.
    void serve_locally(const void* request, std::function<void(const void* response)> answer) {
        local_request_ = request;
        local_answer_ = std::move(answer);
    }

    template <class Response>
    void reply(const Response& response) {
        reply_as(Response::schema, &response);
    }
    /// Replies in another version than the request's: only for ApiVersions.
    template <class Response>
    void reply_in_version(std::int16_t version, const Response& response) {
        pending_.api_version = version;
        reply_as(Response::schema, &response);
    }
    /// Makes the client wait because of a quota: the reply tells it to, and the connection rests for as long, whether the client
    /// waits or not. Of several quotas the longest wait counts. Call it before the request is answered, deferred or parked.
    void throttle(std::int64_t duration_ms);
    /// Begins to measure the time that this request takes, for quotas on `request_percentage`. `dispatch` calls this.
    void measure_time();
    /// Has the time from now to the reply measured, for RequestWatch. `dispatch` calls this.
    void measure_latency();
    /// Exempts this request from quotas on time, as Kafka does with Produce with acks=0.
    void forget_time() { started_ns_.reset(); }
    /// Closes the connection without an answer to this request, with `reason` for the log. Replies to earlier requests still
    /// leave.
    void close_connection(std::string_view reason);

    /// Announces that the reply comes later. Further requests of the connection are served meanwhile; their replies wait for this
    /// one.
    [[nodiscard]] KafkaCall defer();
    /// Announces that the reply comes later, and that no further request of the connection is served before (Kafka mutes the
    /// channel): for waiting fetches, joins, syncs and the like.
    [[nodiscard]] KafkaCall park();

    enum class Outcome : std::uint8_t { none, replied, closed, deferred, parked };
    [[nodiscard]] Outcome outcome() const { return outcome_; }
    /// The reply, after the outcome `replied`. Only the connection calls this.
    [[nodiscard]] Reply take_reply() { return std::move(reply_); }
    [[nodiscard]] const KafkaCall& pending() const { return pending_; }
    [[nodiscard]] std::string_view close_reason() const { return close_reason_; }

  private:
    [[nodiscard]] void* decode_as(const Schema& schema);
    void reply_as(const Schema& schema, const void* response);
    void charge_time();

    void remember_subject();

    KafkaCall pending_;
    /// The request, once it was decoded; in the turn's arena.
    const Schema* decoded_schema_ = nullptr;
    const void* decoded_ = nullptr;
    /// Set while a request of this process is served.
    const void* local_request_ = nullptr;
    std::function<void(const void*)> local_answer_;
    std::optional<std::int64_t> started_ns_;
    Outcome outcome_ = Outcome::none;
    Reply reply_;
    std::string close_reason_;
};

/// A request for a handler that uses other parts of the broker, too.
class RequestContext final : public ClientRequest {
  public:
    RequestContext(Services& services, logs::Turn& turn, ClientConnection& client, KafkaCall pending, std::string_view client_id,
                   MutableBytes body)
        : ClientRequest(parts_of(services), turn, client, std::move(pending), client_id, body), services(services) {}

    Services& services;

  private:
    [[nodiscard]] static RequestParts parts_of(const Services& services);
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
