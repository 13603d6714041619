#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>

#include "protocol/api_keys.h"
#include "protocol/byte_buffer.h"
#include "protocol/types.h"

namespace partita {

/// The parsed head of a request.
struct RequestHeader {
    const ApiInfo* api = nullptr;  ///< Never null in a parsed header.
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    std::string_view client_id;  ///< A view into the request; null on the wire becomes "", as in Kafka.
    std::size_t size = 0;        ///< The size of the header in bytes; the body follows.
    /// False only for ApiVersions in a version that we do not have. The caller must not parse its body. It answers in version 0
    /// with UNSUPPORTED_VERSION and our range for ApiVersions (KIP-511).
    bool version_supported = true;

    [[nodiscard]] ApiKey key() const { return api->key; }
};

/// Header errors. Each of them closes the connection without an answer, as in Kafka.
enum class HeaderFailure : std::uint8_t {
    truncated,            ///< Also: unreadable client id or tags.
    unknown_api,          ///< An unknown key, a removed one, or one that is not for clients.
    unsupported_version,  ///< For any API except ApiVersions.
};

[[nodiscard]] std::string_view to_string(HeaderFailure failure);

struct HeaderError {
    HeaderFailure failure{};
    std::int16_t api_key = 0;  ///< As sent; valid unless truncated.
    std::int16_t api_version = 0;
};

/// Reads a request header of version 1 or 2 from the front of a frame. In both versions the client id is a classic string.
/// `unstable_enabled` is the broker's unstable.api.versions.enable.
[[nodiscard]] std::expected<RequestHeader, HeaderError> parse_request_header(Bytes frame, bool unstable_enabled = false);

/// Appends the response header that belongs to (api, version): correlation id, then an empty tag section if the response is
/// flexible. Does not write the frame length.
void append_response_header(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id, ByteBuffer& out);

// The client's side, for our own commands and tests.

/// Appends a request header of the version that belongs to (api, version). Does not write the frame length.
void append_request_header(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id, std::string_view client_id,
                           ByteBuffer& out);

struct ResponseHeader {
    std::int32_t correlation_id = 0;
    std::size_t size = 0;  ///< The size of the header in bytes; the body follows.
};

/// Reads a response header from the front of a frame that answers (api, version).
[[nodiscard]] std::expected<ResponseHeader, HeaderError> parse_response_header(const ApiInfo& api, std::int16_t version,
                                                                               Bytes frame);

}  // namespace partita
