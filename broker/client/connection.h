#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "broker/client/failure.h"
#include "broker/client/network.h"
#include "broker/client/settings.h"
#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/messages/18_api_versions.h"

namespace partita::client {

/// A decoded reply with the bytes and the memory that it points into. Movable; pointers into it stay valid.
struct RawReply {
    ByteBuffer frame;
    Arena arena;
    const void* message = nullptr;
    /// Version of the request and of this reply.
    std::int16_t version = 0;
};

/// A decoded reply of a known type.
template <class Response>
class Reply {
  public:
    explicit Reply(RawReply raw) : raw_(std::move(raw)) {}

    [[nodiscard]] const Response& operator*() const { return *static_cast<const Response*>(raw_.message); }
    [[nodiscard]] const Response* operator->() const { return static_cast<const Response*>(raw_.message); }
    [[nodiscard]] std::int16_t version() const { return raw_.version; }

  private:
    RawReply raw_;
};

/// One connection to one broker, with the versions that both sides support. A call sends a request and waits for its reply. A
/// caller that keeps several requests under way uses `send` and `receive`, and no `call` meanwhile. After a failure other than
/// `unsupported`, callers may only destroy the connection; `receive` may also be repeated when its time was over.
class Connection {
  public:
    /// The client rejects a reply that announces more than this. Memory grows with the bytes received, not with the announced
    /// size.
    static constexpr std::int32_t kReplyBytesMax = 512 * 1024 * 1024;

    /// Connects, asks for versions (ApiVersions, stepping down for an older broker: KIP-511), and logs in if the settings have a
    /// login. Every request carries `client_id`. Failures: unreachable, timed_out, disconnected, malformed; those of `log_in`;
    /// with TLS also untrusted.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(Network& network, const Endpoint& endpoint,
                                                                  const Settings& settings, Instant deadline);

    /// The newest version of a request within `wanted` that both sides support. Fails with `unsupported`.
    [[nodiscard]] Result<std::int16_t> version_for(const ApiInfo& api, Versions wanted) const;

    /// Sends `request`, which `api.request` describes, and waits for the reply. Failures: timed_out, disconnected, malformed,
    /// unsupported (the version has no room for a field of the request; nothing was sent).
    [[nodiscard]] Result<RawReply> call(const ApiInfo& api, std::int16_t version, const void* request, Instant deadline);
    /// Sends a request and does not wait. Produce with acks=0 has no reply; `receive` takes those of other requests.
    [[nodiscard]] Result<void> send(const ApiInfo& api, std::int16_t version, const void* request, Instant deadline);

    /// The number of the next request.
    [[nodiscard]] std::int32_t next_correlation_id() const { return next_correlation_id_; }
    /// Waits for the reply to a request with this number; replies come in the order of the requests. Fails like `call`.
    [[nodiscard]] Result<RawReply> receive(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id,
                                           Instant deadline);

    /// The broker's answer to ApiVersions when the connection was opened.
    [[nodiscard]] const ApiVersionsResponse& api_versions() const;
    [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

  private:
    Connection(std::unique_ptr<Transport> transport, Endpoint endpoint, std::string client_id);

    [[nodiscard]] Result<void> negotiate(Instant deadline, bool is_secured);
    [[nodiscard]] Result<ByteBuffer> receive_frame(Instant deadline);
    [[nodiscard]] Failure failure_of(const TransportFailure& failure) const;
    [[nodiscard]] std::unexpected<Failure> malformed(const std::string& what) const;

    std::unique_ptr<Transport> transport_;
    const Endpoint endpoint_;
    const std::string client_id_;
    std::int32_t next_correlation_id_ = 1;
    /// The part of a frame that has come: its size, or what follows that.
    ByteBuffer incoming_;
    std::size_t incoming_bytes_ = sizeof(std::int32_t);
    bool has_size_ = false;
    RawReply versions_;
};

}  // namespace partita::client
