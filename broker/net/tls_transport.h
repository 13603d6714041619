#pragma once

#include "broker/net/transport.h"
#include "broker/tls/openssl.h"

namespace partita::net {

/// Sends and receives over TLS after the handshake.
///
/// OpenSSL reads and writes the socket itself (SSL_set_fd), instead of memory that this class would carry to the socket. So bytes
/// are copied once, and nothing has to be kept between two calls. The kernel can encrypt if it is able to, which sends files
/// without any copy. An idle connection has no buffer. The program ignores SIGPIPE, which OpenSSL's writes would raise after the
/// peer has gone.
class TlsTransport final : public Transport {
  public:
    /// The largest content of one record, and so of one call of the socket.
    static constexpr std::size_t kRecordBytes = 16384;

    /// One call receives at most this many records, even if they are small, because other connections wait for the thread.
    static constexpr std::size_t kRecordsMax = 256;

    explicit TlsTransport(tls::ConnectionPointer connection);

    [[nodiscard]] Moved receive(MutableBytes room) override;
    /// Parts that are smaller than a record share one. The next call must begin with the bytes that this call could not send,
    /// because they may be encrypted already. The caller does so anyway.
    [[nodiscard]] Moved send(std::span<const Bytes> parts, bool more_follows) override;
    /// True only if the kernel encrypts.
    [[nodiscard]] bool can_send(const File& file) const override;
    [[nodiscard]] Moved send_file(File& file, std::uint64_t position, std::size_t bytes) override;
    [[nodiscard]] bool holds_bytes() const override;
    /// True if the peer has ended its side, even if some of its bytes are unread: its TLS closing message comes before the end.
    [[nodiscard]] bool is_over() override;
    [[nodiscard]] std::size_t bytes_on_the_way() override;
    void shut_down() override;

  private:
    // The only member, so that a connection without TLS is no larger for this class.
    tls::ConnectionPointer connection_;
};

}  // namespace partita::net
