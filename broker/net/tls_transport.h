#pragma once

#include "broker/net/transport.h"
#include "broker/tls/openssl.h"

namespace partita::net {

/// Sends and receives over TLS, once the handshake is complete.
///
/// OpenSSL reads and writes the socket itself (SSL_set_fd) instead of memory that this would carry to the socket: so bytes are
/// copied once, nothing has to be kept between two calls, and the kernel can encrypt where it is able to, which sends files
/// without copying them at all. An idle connection has no buffer. The
/// program ignores SIGPIPE, which OpenSSL's writes to a peer that is gone would raise.
class TlsTransport final : public Transport {
  public:
    /// What one record carries at most, and so one call of the socket.
    static constexpr std::size_t kRecordBytes = 16384;

    /// So many are taken by one call at most, also when they are small: others wait for the thread.
    static constexpr std::size_t kRecordsMax = 256;

    explicit TlsTransport(tls::ConnectionPointer connection);

    [[nodiscard]] Moved receive(MutableBytes room) override;
    /// Parts that are smaller than a record share one. What a call could not send the next one has to begin with, as the caller
    /// does anyway: it may be encrypted already.
    [[nodiscard]] Moved send(std::span<const Bytes> parts, bool more_follows) override;
    /// Only where the kernel encrypts.
    [[nodiscard]] bool can_send(const File& file) const override;
    [[nodiscard]] Moved send_file(File& file, std::uint64_t position, std::size_t bytes) override;
    [[nodiscard]] bool holds_bytes() const override;
    /// True when the peer has ended its side, also while something of it is unread: TLS says good-bye before that.
    [[nodiscard]] bool is_over() override;
    [[nodiscard]] std::size_t bytes_on_the_way() override;
    void shut_down() override;

  private:
    // Nothing else: then a connection without TLS is no larger for this.
    tls::ConnectionPointer connection_;
};

}  // namespace partita::net
