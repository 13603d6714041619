#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/session.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reactor.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/schema.h"

namespace partita::runtime {

class Turn;
struct QuotaClient;
struct Services;

/// One request being served, on the reactor of its connection. Lives for the call of its handler;
/// message structs decoded from it live until the end of the loop turn.
///
/// A handler does exactly one of: `reply`, `reply_nothing`, `close_connection`, or `defer`/`park` with
/// the reply delivered later through Turns::deliver.
class RequestContext {
  public:
    RequestContext(Services& services, Turn& turn, ClientConnection& client, PendingReply pending,
                   std::string_view client_id, MutableBytes body)
        : services(services), turn(turn), client(client), client_id(client_id), body(body), pending_(pending) {}

    Services& services;
    Turn& turn;
    ClientConnection& client;
    /// Empty when the header has null. Borrowed from the request buffer.
    std::string_view client_id;
    /// Behind the header. Produce patches record batches in place, hence mutable. Valid until the end
    /// of the turn.
    MutableBytes body;
    /// False for ApiVersions in a version from the future, whose body must not be read (KIP-511).
    bool version_supported = true;
    /// Header and body, as they came.
    std::size_t request_bytes = 0;

    /// Who asks, and on which of the broker's addresses. The connection's; see access::Session for how long they hold.
    [[nodiscard]] const access::Session& session() const { return client.session; }
    [[nodiscard]] const access::Principal& principal() const { return *client.session.principal; }
    [[nodiscard]] const ListenerView& listener() const { return *client.listener; }
    /// Whose quotas hold for this request. Borrowed from the request and the session.
    [[nodiscard]] QuotaClient quota_client() const;

    [[nodiscard]] const ApiInfo& api() const { return *pending_.api; }
    [[nodiscard]] ApiKey api_key() const { return pending_.api->key; }
    [[nodiscard]] std::int16_t version() const { return pending_.api_version; }
    [[nodiscard]] Arena& arena();
    [[nodiscard]] Now now() const;

    /// Decodes the body into the turn's arena. Null when it is malformed: then the connection is closed,
    /// as Kafka does, with one log line, and the handler must return at once.
    template <class Request>
    [[nodiscard]] Request* decode() {
        return static_cast<Request*>(decode_as(Request::schema));
    }

    template <class Response>
    void reply(const Response& response) {
        reply_as(Response::schema, &response);
    }
    /// In another version than the request's: only for ApiVersions.
    template <class Response>
    void reply_in_version(std::int16_t version, const Response& response) {
        pending_.api_version = version;
        reply_as(Response::schema, &response);
    }
    /// Before the request is answered, deferred or parked: a quota makes the client wait. The reply tells it to, and the
    /// connection rests for as long, whether the client does or not. Of several quotas the longest wait counts.
    void throttle(std::int64_t duration_ms);
    /// From here on the time counts that this request takes, for quotas on `request_percentage`.
    void measure_time();
    /// No quota on time holds for this request, as in Kafka for Produce with acks=0.
    void forget_time() { started_ns_.reset(); }
    /// For acks=0: the request is done and nothing is sent.
    void reply_nothing();
    /// Closes the connection without an answer, with `reason` for the log.
    void close_connection(std::string_view reason);

    /// The reply comes later. Requests behind it on the connection are served meanwhile; their
    /// replies wait for this one.
    [[nodiscard]] PendingReply defer();
    /// The reply comes later, and no further request of the connection is served before (Kafka mutes the
    /// channel): waiting fetches, joins and syncs.
    [[nodiscard]] PendingReply park();

    enum class Outcome : std::uint8_t { none, replied, nothing, closed, deferred, parked };
    [[nodiscard]] Outcome outcome() const { return outcome_; }
    /// Only for the connection, after the outcome `replied`.
    [[nodiscard]] Reply take_reply() { return std::move(reply_); }
    [[nodiscard]] const PendingReply& pending() const { return pending_; }
    [[nodiscard]] std::string_view close_reason() const { return close_reason_; }

  private:
    [[nodiscard]] void* decode_as(const Schema& schema);
    void reply_as(const Schema& schema, const void* response);
    void charge_time();

    PendingReply pending_;
    std::optional<std::int64_t> started_ns_;
    Outcome outcome_ = Outcome::none;
    Reply reply_;
    std::string close_reason_;
};

/// A whole reply frame. Record fields marked external are filled from `slices` by index.
[[nodiscard]] Reply encode_reply(const PendingReply& pending, const Schema& schema, const void* response,
                                 std::span<FileSlice> slices = {});

template <class Response>
[[nodiscard]] Reply encode_reply(const PendingReply& pending, const Response& response,
                                 std::span<FileSlice> slices = {}) {
    return encode_reply(pending, Response::schema, &response, slices);
}

}  // namespace partita::runtime
