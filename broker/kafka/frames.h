#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "broker/net/frame_reader.h"
#include "protocol/big_endian.h"
#include "protocol/types.h"

namespace partita::kafka {

/// The reason to close a connection whose frame begins with the four bytes `prefix`. Either `size` is negative or above
/// `bytes_max`, the limit of the config `limit_name`, or these are the first bytes of HTTP or TLS.
[[nodiscard]] std::string reason_to_refuse_frame(Bytes prefix, std::int32_t size, std::int32_t bytes_max,
                                                 std::string_view limit_name);

/// Kafka's framing: four bytes with a size, then as many bytes.
struct Frames {
    static constexpr std::size_t kSizePrefixBytes = 4;

    std::int32_t bytes_max = 0;
    std::string_view limit_name = "socket.request.max.bytes";

    /// See FrameReader::next.
    [[nodiscard]] std::expected<net::FrameSize, std::string> operator()(Bytes received) const {
        if (received.size() < kSizePrefixBytes) {
            return net::FrameSize();
        }
        const auto size = load_big_endian<std::int32_t>(received.data());
        if (size < 0 || size > bytes_max) {
            return std::unexpected(reason_to_refuse_frame(received.first(kSizePrefixBytes), size, bytes_max, limit_name));
        }
        return net::FrameSize{.bytes = kSizePrefixBytes + static_cast<std::size_t>(size), .head = kSizePrefixBytes};
    }
};

}  // namespace partita::kafka
