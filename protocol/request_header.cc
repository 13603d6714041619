#include "protocol/request_header.h"

#include "protocol/cursor.h"

namespace partita {
namespace {

bool skip_tags(Cursor& in) {
    std::uint32_t count = 0;
    if (!in.read_unsigned_varint(count) || count > in.remaining() / 2) {
        return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t tag = 0;
        std::uint32_t size = 0;
        if (!in.read_unsigned_varint(tag) || !in.read_unsigned_varint(size) || !in.skip(size)) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string_view to_string(HeaderFailure failure) {
    switch (failure) {
        case HeaderFailure::truncated:
            return "malformed request header";
        case HeaderFailure::unknown_api:
            return "unknown api key";
        case HeaderFailure::unsupported_version:
            return "unsupported api version";
    }
    return "unknown";
}

std::expected<RequestHeader, HeaderError> parse_request_header(Bytes frame, bool unstable_enabled) {
    Cursor in(frame);
    RequestHeader header;
    std::int16_t key = 0;
    if (!in.read(key) || !in.read(header.api_version)) {
        return std::unexpected(HeaderError{HeaderFailure::truncated});
    }
    const auto failed = [&](HeaderFailure failure) { return std::unexpected(HeaderError{failure, key, header.api_version}); };
    header.api = find_api(key);
    if (header.api == nullptr) {
        return failed(HeaderFailure::unknown_api);
    }
    header.version_supported = header.api->accepts(header.api_version, unstable_enabled);
    if (!header.version_supported && header.api->key != ApiKey::api_versions) {
        return failed(HeaderFailure::unsupported_version);
    }

    std::int16_t client_id_length = 0;
    if (!in.read(header.correlation_id) || !in.read(client_id_length)) {
        return failed(HeaderFailure::truncated);
    }
    if (client_id_length > 0) {
        Bytes client_id;
        if (!in.read_bytes(static_cast<std::size_t>(client_id_length), client_id)) {
            return failed(HeaderFailure::truncated);
        }
        header.client_id = as_text(client_id);
    }
    if (request_header_version(*header.api, header.api_version) >= 2 && !skip_tags(in)) {
        return failed(HeaderFailure::truncated);
    }
    header.size = in.position();
    return header;
}

void append_response_header(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id, ByteBuffer& out) {
    out.append_big_endian(correlation_id);
    if (response_header_version(api, version) >= 1) {
        out.append_big_endian(std::int8_t{0});
    }
}

void append_request_header(const ApiInfo& api, std::int16_t version, std::int32_t correlation_id, std::string_view client_id,
                           ByteBuffer& out) {
    out.append_big_endian(static_cast<std::int16_t>(api.key));
    out.append_big_endian(version);
    out.append_big_endian(correlation_id);
    out.append_big_endian(static_cast<std::int16_t>(client_id.size()));
    out.append(as_bytes(client_id));
    if (request_header_version(api, version) >= 2) {
        out.append_big_endian(std::int8_t{0});
    }
}

std::expected<ResponseHeader, HeaderError> parse_response_header(const ApiInfo& api, std::int16_t version, Bytes frame) {
    Cursor in(frame);
    ResponseHeader header;
    const bool with_tags = response_header_version(api, version) >= 1;
    if (!in.read(header.correlation_id) || (with_tags && !skip_tags(in))) {
        return std::unexpected(HeaderError{HeaderFailure::truncated, static_cast<std::int16_t>(api.key), version});
    }
    header.size = in.position();
    return header;
}

}  // namespace partita
