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
    /// Of the request and of this reply.
    std::int16_t version = 0;
};

/// The same for a known message.
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

/// One connection to one broker, with the versions that both sides have. A call sends a request and waits for its reply; there is
/// never more than one under way. After a failure other than `unsupported` the connection is only good for being destroyed.
class Connection {
  public:
    /// A reply that says it is longer is not read. Memory grows with what comes, not with what is said.
    static constexpr std::int32_t kReplyBytesMax = 512 * 1024 * 1024;

    /// Connects and asks for versions (ApiVersions, stepping down where a broker is older: KIP-511). `client_id` goes along with
    /// every request. Then logs in, if there is somebody to be. Failures: unreachable, timed_out, disconnected, malformed; those
    /// of `log_in`; untrusted, with TLS.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(Network& network, const Endpoint& endpoint,
                                                                  const Settings& settings, Instant deadline);

    /// The newest version of a request within `wanted` that both have. The failure is unsupported.
    [[nodiscard]] Result<std::int16_t> version_for(const ApiInfo& api, Versions wanted) const;

    /// Sends `request`, which `api.request` describes. Failures: timed_out, disconnected, malformed, unsupported (the version
    /// does not say what the request has: nothing was sent).
    [[nodiscard]] Result<RawReply> call(const ApiInfo& api, std::int16_t version, const void* request, Instant deadline);
    /// Sends a request that has no reply: Produce with acks=0.
    [[nodiscard]] Result<void> send(const ApiInfo& api, std::int16_t version, const void* request, Instant deadline);

    /// What the broker said when the connection was made.
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
    RawReply versions_;
};

}  // namespace partita::client
