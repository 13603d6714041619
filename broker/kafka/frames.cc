#include "broker/kafka/frames.h"

namespace partita::kafka {
namespace {

bool looks_like_http(Bytes bytes) {
    const std::string_view text = as_text(bytes);
    return text == "GET " || text == "POST" || text == "HEAD" || text == "PUT " || text == "OPTI" || text == "DELE" ||
           text == "PRI ";
}

bool looks_like_tls(Bytes bytes) {
    // The beginning of a handshake record of TLS 1.0 to 1.3.
    return bytes[0] == std::byte{0x16} && bytes[1] == std::byte{0x03};
}

}  // namespace

std::string reason_to_refuse_frame(Bytes prefix, std::int32_t size, std::int32_t bytes_max, std::string_view limit_name) {
    if (looks_like_http(prefix)) {
        return "an HTTP request came to the Kafka port";
    }
    if (looks_like_tls(prefix)) {
        return "a TLS handshake came to a PLAINTEXT listener";
    }
    return "frame of " + std::to_string(size) + " bytes is outside of 0.." + std::to_string(bytes_max) + " (" +
           std::string(limit_name) + ")";
}

}  // namespace partita::kafka
