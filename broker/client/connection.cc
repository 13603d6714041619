#include "broker/client/connection.h"

#include <algorithm>
#include <utility>

#include "broker/client/login.h"
#include "protocol/codec.h"
#include "protocol/cursor.h"
#include "protocol/request_header.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

constexpr std::size_t kSizeBytes = sizeof(std::int32_t);
/// The first two bytes of a TLS alert: its type and the major version. Read as a length, they exceed every possible first reply.
constexpr std::int32_t kTlsAlertHead = 0x1503;
/// The first ApiVersions version that names the client's software; the client asks with it first.
constexpr std::int16_t kFirstVersion = 3;
/// Size of one read.
constexpr std::size_t kPieceBytes = 64 * 1024;

/// `after_ms` from now, or the deadline when that comes first.
Instant earlier(Instant now, std::int64_t after_ms, Instant deadline) { return now + std::min(after_ms, deadline - now); }

Result<RawReply> decoded(const Schema& schema, ByteBuffer frame, std::size_t header_bytes, std::int16_t version) {
    RawReply reply{.frame = std::move(frame), .version = version};
    const Bytes body = reply.frame.bytes().subspan(header_bytes);
    reply.arena.reset(decode_memory_limit(body.size()));
    void* message = reply.arena.allocate_unlimited(schema.size, schema.alignment);
    const auto consumed = decode(schema, body, version, reply.arena, message);
    if (!consumed) {
        return std::unexpected(
            Failure{.kind = Failure::Kind::malformed, .message = std::string(to_string(consumed.error().failure))});
    }
    reply.message = message;
    return reply;
}

}  // namespace

Connection::Connection(std::unique_ptr<Transport> transport, Endpoint endpoint, std::string client_id)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)), client_id_(std::move(client_id)) {}

Result<std::unique_ptr<Connection>> Connection::open(Network& network, const Endpoint& endpoint, const Settings& settings,
                                                     Instant deadline) {
    const Instant setup_deadline = earlier(network.clock().now().monotonic, settings.connection_setup_timeout_ms, deadline);
    auto transport = network.connect(endpoint, setup_deadline);
    if (transport && settings.tls) {
        transport = settings.tls->secure(std::move(*transport), endpoint.host, setup_deadline);
    }
    if (!transport) {
        using Kind = TransportFailure::Kind;
        const Kind kind = transport.error().kind;
        return std::unexpected(Failure{.kind = kind == Kind::interrupted ? Failure::Kind::interrupted
                                               : kind == Kind::untrusted ? Failure::Kind::untrusted
                                                                         : Failure::Kind::unreachable,
                                       .is_nameless = kind == Kind::unknown_host,
                                       .message = to_string(endpoint) + ": " + transport.error().message});
    }
    std::unique_ptr<Connection> connection(new Connection(std::move(*transport), endpoint, settings.client_id));
    PARTITA_TRY(connection->negotiate(deadline, settings.tls != nullptr));
    if (settings.login) {
        PARTITA_TRY(log_in(*connection, *settings.login, deadline));
    }
    return connection;
}

Failure Connection::failure_of(const TransportFailure& failure) const {
    using Kind = TransportFailure::Kind;
    return {.kind = failure.kind == Kind::timed_out     ? Failure::Kind::timed_out
                    : failure.kind == Kind::interrupted ? Failure::Kind::interrupted
                    : failure.kind == Kind::untrusted   ? Failure::Kind::untrusted
                                                        : Failure::Kind::disconnected,
            .message = to_string(endpoint_) + ": " + failure.message};
}

std::unexpected<Failure> Connection::malformed(const std::string& what) const {
    return std::unexpected(Failure{.kind = Failure::Kind::malformed,
                                   .message = "the program at " + to_string(endpoint_) + " is not a Kafka broker: " + what});
}

const ApiVersionsResponse& Connection::api_versions() const {
    return *static_cast<const ApiVersionsResponse*>(versions_.message);
}

Result<void> Connection::negotiate(Instant deadline, bool is_secured) {
    const ApiInfo& api = *find_api(ApiKey::api_versions);
    const ApiVersionsRequest request{.client_software_name = "partita", .client_software_version = PARTITA_VERSION};
    // Version 4 reports more about features; `describe_features` asks for it by itself. A managed service closes the connection
    // on version 4 (dpkp/kafka-python #2602), where a Kafka broker would name its own version.
    std::int16_t version = kFirstVersion;
    // At most twice: an older broker answers with the version that it supports.
    for (int attempt = 0; attempt < 2; ++attempt) {
        PARTITA_TRY(send(api, version, &request, deadline));
        auto received = receive_frame(deadline);
        if (!received) {
            // Some TLS servers close the connection without a word when they receive plain text.
            if (received.error().kind == Failure::Kind::disconnected && !is_secured) {
                received.error().message += "; for a listener with TLS, set security.protocol=SSL or SASL_SSL";
            }
            return std::unexpected(std::move(received.error()));
        }
        ByteBuffer frame = std::move(*received);
        Cursor head(frame.bytes());
        std::int32_t correlation_id = 0;
        std::int16_t error = 0;
        if (!head.read(correlation_id) || !head.read(error)) {
            return malformed("a reply is too short");
        }
        if (correlation_id != next_correlation_id_ - 1) {
            return malformed("a reply to another request");
        }
        const bool is_older = static_cast<ErrorCode>(error) == ErrorCode::unsupported_version;
        auto reply =
            decoded(ApiVersionsResponse::schema, std::move(frame), sizeof correlation_id, is_older ? std::int16_t{0} : version);
        if (!reply) {
            return malformed(reply.error().message);
        }
        versions_ = std::move(*reply);
        if (!is_older) {
            if (error != 0) {
                return std::unexpected(refusal(static_cast<ErrorCode>(error)));
            }
            return {};
        }
        const auto agreed = version_for(api, {});
        version = agreed ? *agreed : std::int16_t{0};
    }
    return malformed("it refuses the version of ApiVersions that it advertises");
}

Result<std::int16_t> Connection::version_for(const ApiInfo& api, Versions wanted) const {
    const auto unsupported = [](std::string message) {
        return std::unexpected(Failure{.kind = Failure::Kind::unsupported, .message = std::move(message)});
    };
    for (const ApiVersionsResponse::ApiVersion& theirs : api_versions().api_keys) {
        if (theirs.api_key != static_cast<std::int16_t>(api.key)) {
            continue;
        }
        const std::int16_t last = std::min({theirs.max_version, api.latest_version(false), wanted.last});
        const std::int16_t first = std::max({theirs.min_version, api.versions.first, wanted.first});
        if (first <= last) {
            return last;
        }
        return unsupported("The broker does not support " + std::string(api.name) + " in the versions " +
                           std::to_string(std::max(api.versions.first, wanted.first)) + " to " +
                           std::to_string(std::min(api.latest_version(false), wanted.last)) + ", but " +
                           std::to_string(theirs.min_version) + " to " + std::to_string(theirs.max_version));
    }
    return unsupported("The broker does not support " + std::string(api.name));
}

Result<void> Connection::send(const ApiInfo& api, std::int16_t version, const void* request, Instant deadline) {
    ByteBuffer out;
    out.append_big_endian(std::int32_t{0});
    append_request_header(api, version, next_correlation_id_, client_id_, out);
    if (const auto encoded = encode(*api.request, request, version, out); !encoded) {
        return std::unexpected(Failure{.kind = Failure::Kind::unsupported,
                                       .message = std::string(api.name) + " version " + std::to_string(version) + ": " +
                                                  std::string(encoded.error().field) + ": " +
                                                  std::string(to_string(encoded.error().failure))});
    }
    out.patch_big_endian(0, static_cast<std::int32_t>(out.size() - kSizeBytes));
    ++next_correlation_id_;
    if (auto sent = transport_->send(out.bytes(), deadline); !sent) {
        return std::unexpected(failure_of(sent.error()));
    }
    return {};
}

Result<ByteBuffer> Connection::receive_frame(Instant deadline) {
    while (true) {
        while (incoming_.size() < incoming_bytes_) {
            const std::size_t had = incoming_.size();
            const std::size_t room = std::min(incoming_bytes_ - had, kPieceBytes);
            std::byte* place = incoming_.extend(room);
            const auto got = transport_->receive({place, room}, deadline);
            incoming_.truncate(had + (got ? *got : 0));
            if (!got) {
                return std::unexpected(failure_of(got.error()));
            }
        }
        if (has_size_) {
            has_size_ = false;
            incoming_bytes_ = kSizeBytes;
            return std::exchange(incoming_, ByteBuffer());
        }
        const auto size = load_big_endian<std::int32_t>(incoming_.data());
        const bool is_first = next_correlation_id_ == 2;
        if (is_first && size >> 16 == kTlsAlertHead) {
            return malformed("it speaks TLS: set security.protocol=SSL or SASL_SSL");
        }
        if (size < static_cast<std::int32_t>(sizeof(std::int32_t)) || size > kReplyBytesMax) {
            return malformed("a reply of " + std::to_string(size) + " bytes");
        }
        has_size_ = true;
        incoming_bytes_ = static_cast<std::size_t>(size);
        incoming_.clear();
    }
}

Result<RawReply> Connection::call(const ApiInfo& api, std::int16_t version, const void* request, Instant deadline) {
    const std::int32_t correlation_id = next_correlation_id_;
    PARTITA_TRY(send(api, version, request, deadline));
    return receive(api, version, correlation_id, deadline);
}

Result<RawReply> Connection::receive(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id, Instant deadline) {
    PARTITA_TRY_ASSIGN(auto frame, receive_frame(deadline));
    const auto header = parse_response_header(api, version, frame.bytes());
    if (!header) {
        return malformed("a reply is too short");
    }
    if (header->correlation_id != correlation_id) {
        return malformed("a reply to another request");
    }
    auto reply = decoded(*api.response, std::move(frame), header->size, version);
    if (!reply) {
        return malformed("its reply to " + std::string(api.name) + ": " + reply.error().message);
    }
    return reply;
}

}  // namespace partita::client
