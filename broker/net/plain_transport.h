#pragma once

#include "broker/net/transport.h"

namespace partita::net {

/// Bytes as they are, over a connected stream socket.
class PlainTransport final : public Transport {
  public:
    /// More parts are sent by the next call.
    static constexpr std::size_t kPartsMax = 64;

    /// `descriptor` stays the caller's, open for as long as this is used.
    explicit PlainTransport(int descriptor) : descriptor_(descriptor) {}

    [[nodiscard]] Moved receive(MutableBytes room) override;
    [[nodiscard]] Moved send(std::span<const Bytes> parts, bool more_follows) override;
    [[nodiscard]] bool can_send(const File& file) const override { return file.descriptor() >= 0; }
    [[nodiscard]] Moved send_file(File& file, std::uint64_t position, std::size_t bytes) override;
    [[nodiscard]] bool is_over() override;
    [[nodiscard]] std::size_t bytes_on_the_way() override;
    /// TCP says it when the socket is closed.
    void shut_down() override {}

  private:
    const int descriptor_;
};

}  // namespace partita::net
