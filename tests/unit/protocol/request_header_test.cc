#include "protocol/request_header.h"

#include <gtest/gtest.h>

#include <set>

namespace partita {
namespace {

ByteBuffer header(std::int16_t key, std::int16_t version, std::string_view client_id, bool tags) {
    ByteBuffer out;
    out.append_big_endian(key);
    out.append_big_endian(version);
    out.append_big_endian(std::int32_t{77});
    out.append_big_endian(static_cast<std::int16_t>(client_id.size()));
    out.append(as_bytes(client_id));
    if (tags) {
        out.append_big_endian(std::int8_t{0});
    }
    return out;
}

TEST(RequestHeader, ClientIdIsAClassicStringInBothVersions) {
    for (const std::int16_t version : {std::int16_t{8}, std::int16_t{9}}) {
        ByteBuffer frame = header(3, version, "console-consumer", version >= 9);
        frame.append(as_bytes("body"));
        auto parsed = parse_request_header(frame.bytes());
        ASSERT_TRUE(parsed.has_value());
        EXPECT_EQ(parsed->key(), ApiKey::metadata);
        EXPECT_EQ(parsed->client_id, "console-consumer");
        EXPECT_EQ(parsed->correlation_id, 77);
        EXPECT_EQ(as_text(frame.bytes().subspan(parsed->size)), "body");
    }
}

TEST(RequestHeader, NullClientIdIsEmpty) {
    ByteBuffer frame;
    frame.append_big_endian(std::int16_t{12});
    frame.append_big_endian(std::int16_t{0});
    frame.append_big_endian(std::int32_t{1});
    frame.append_big_endian(std::int16_t{-1});
    auto parsed = parse_request_header(frame.bytes());
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->client_id, "");
    EXPECT_EQ(parsed->size, 10u);
}

TEST(RequestHeader, UnknownRemovedAndInternalKeysAreRefused) {
    for (const std::int16_t key : {-1, 4, 5, 6, 7, 52, 56, 58, 62, 83, 93, 1000, 32767, -32768}) {
        auto parsed = parse_request_header(header(key, 0, "c", false).bytes());
        ASSERT_FALSE(parsed.has_value()) << key;
        EXPECT_EQ(parsed.error().failure, HeaderFailure::unknown_api) << key;
        EXPECT_EQ(parsed.error().api_key, key);
    }
}

TEST(RequestHeader, UnsupportedVersionsAreRefused) {
    for (const auto& [key, version] : {std::pair{0, 2}, {0, 14}, {1, 3}, {1, 19}, {3, -1}, {12, 5}}) {
        auto parsed =
            parse_request_header(header(static_cast<std::int16_t>(key), static_cast<std::int16_t>(version), "c", true).bytes());
        ASSERT_FALSE(parsed.has_value()) << key << " v" << version;
        EXPECT_EQ(parsed.error().failure, HeaderFailure::unsupported_version);
    }
}

TEST(RequestHeader, ApiVersionsFromTheFutureIsReadableAndMarked) {
    const ByteBuffer frame = header(18, 5, "java", true);
    auto parsed = parse_request_header(frame.bytes());
    ASSERT_TRUE(parsed.has_value());
    EXPECT_FALSE(parsed->version_supported);
    EXPECT_EQ(parsed->client_id, "java");
    EXPECT_EQ(parsed->size, frame.size());
    EXPECT_TRUE(parse_request_header(header(18, 4, "java", true).bytes())->version_supported);
    EXPECT_FALSE(parse_request_header(header(18, -1, "java", false).bytes())->version_supported);
}

TEST(RequestHeader, UnstableVersionsNeedTheSwitch) {
    const ByteBuffer frame = header(22, 6, "c", true);
    EXPECT_FALSE(parse_request_header(frame.bytes(), false).has_value());
    EXPECT_TRUE(parse_request_header(frame.bytes(), true).has_value());
    EXPECT_EQ(find_api(ApiKey::init_producer_id)->latest_version(false), 5);
}

TEST(RequestHeader, TruncatedAnywhereIsAnError) {
    const ByteBuffer frame = header(3, 12, "client", true);
    for (std::size_t size = 0; size < frame.size(); ++size) {
        EXPECT_FALSE(parse_request_header(frame.bytes(0, size)).has_value()) << size;
    }
}

TEST(RequestHeader, TagBombIsRefused) {
    ByteBuffer frame = header(18, 3, "c", false);
    std::byte* bomb = frame.extend(5);
    store_unsigned_varint(bomb, 0x7fffffff);
    frame.append(as_bytes(std::string_view("\0\0\0\0\0\0\0\0", 8)));
    EXPECT_EQ(parse_request_header(frame.bytes()).error().failure, HeaderFailure::truncated);
}

TEST(RequestHeader, UnknownTagsAreSkipped) {
    ByteBuffer frame = header(18, 3, "c", false);
    frame.append(as_bytes(std::string_view("\x01\x07\x02zz", 5)));
    auto parsed = parse_request_header(frame.bytes());
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->size, frame.size());
}

TEST(RequestHeader, WhatTheClientSideWritesIsRead) {
    for (const ApiInfo& api : all_apis()) {
        for (std::int16_t version = api.versions.first; version <= api.versions.last; ++version) {
            ByteBuffer frame;
            append_request_header(api, version, 5, "me", frame);
            auto parsed = parse_request_header(frame.bytes(), true);
            ASSERT_TRUE(parsed.has_value()) << api.name << version;
            EXPECT_EQ(parsed->size, frame.size());
            EXPECT_EQ(parsed->api, &api);
        }
    }
}

TEST(ResponseHeader, HasTagsWhereFlexibleExceptForApiVersions) {
    const auto size = [](ApiKey key, std::int16_t version) {
        ByteBuffer out;
        append_response_header(*find_api(key), version, 1, out);
        return out.size();
    };
    EXPECT_EQ(size(ApiKey::metadata, 8), 4u);
    EXPECT_EQ(size(ApiKey::metadata, 9), 5u);
    for (std::int16_t version = 0; version <= 4; ++version) {
        EXPECT_EQ(size(ApiKey::api_versions, version), 4u);
    }
    EXPECT_EQ(size(ApiKey::sasl_handshake, 1), 4u);
    EXPECT_EQ(size(ApiKey::offset_delete, 0), 4u);
}

TEST(ApiRegistry, IsAscendingAndCompleteForClients) {
    std::int16_t last = -1;
    for (const ApiInfo& api : all_apis()) {
        EXPECT_GT(static_cast<std::int16_t>(api.key), last);
        last = static_cast<std::int16_t>(api.key);
        EXPECT_EQ(api.request->versions, api.response->versions) << api.name;
        EXPECT_EQ(api.request->first_flexible, api.response->first_flexible) << api.name;
        EXPECT_EQ(find_api(api.key), &api);
    }
    EXPECT_EQ(all_apis().size(), 72u);
    EXPECT_EQ(api_name(ApiKey::join_group), "JoinGroup");
    EXPECT_EQ(api_name(ApiKey::vote), "?");
}

}  // namespace
}  // namespace partita
