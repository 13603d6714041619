#pragma once

#include "broker/net/transport.h"

namespace partita::net {

/// The number of bytes in the kernel that the peer has not taken yet; 0 if unknown.
[[nodiscard]] std::size_t unsent_bytes(int descriptor);

/// Sends and receives bytes unchanged, over a connected stream socket.
class PlainTransport final : public Transport {
  public:
    /// One call of `send` sends this many parts at most.
    static constexpr std::size_t kPartsMax = 64;

    /// The caller owns `descriptor` and keeps it open as long as it uses this transport.
    explicit PlainTransport(int descriptor) : descriptor_(descriptor) {}

    [[nodiscard]] Moved receive(MutableBytes room) override;
    [[nodiscard]] Moved send(std::span<const Bytes> parts, bool more_follows) override;
    [[nodiscard]] bool can_send(const File& file) const override { return file.descriptor() >= 0; }
    [[nodiscard]] Moved send_file(File& file, std::uint64_t position, std::size_t bytes) override;
    [[nodiscard]] bool holds_bytes() const override { return false; }
    [[nodiscard]] bool is_over() override;
    [[nodiscard]] std::size_t bytes_on_the_way() override;
    /// Needs no message: TCP informs the peer when the socket is closed.
    void shut_down() override {}

  private:
    const int descriptor_;
};

}  // namespace partita::net
