#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/schemas/core/avro.h"
#include "broker/addons/schemas/core/json_schema.h"
#include "broker/addons/schemas/core/protobuf.h"
#include "tests/fuzz/fuzz_target.h"

/// Feeds schemas of a registry and values that claim to be written by them; both come from strangers. The input is the kind, the
/// schema up to a zero byte, and the value. A decoded value can be encoded, and decodes to the same value again.
namespace {

using namespace partita;

std::vector<std::byte> seed(char kind, std::string_view schema, std::string_view value) {
    std::string text(1, kind);
    text += schema;
    text += '\0';
    text += value;
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t end = input.find('\0');
    if (size == 0 || end == std::string_view::npos || end == 0) {
        return 0;
    }
    const std::string_view text = input.substr(1, end - 1);
    const Bytes bytes = as_bytes(input.substr(end + 1));
    // The kinds of the seeds: c, a, and b.
    if (data[0] % 3 == 0) {
        const auto value = schemas::JsonSchema::decode(bytes);
        if (!value) {
            return 0;
        }
        const auto again = schemas::JsonSchema::decode(as_bytes(value->dump()));
        FUZZ_CHECK(again && *again == *value);
        return 0;
    }
    if (data[0] % 3 == 1) {
        const auto schema = schemas::AvroSchema::parse(text);
        if (!schema) {
            return 0;
        }
        const auto value = schema->decode(bytes);
        if (!value) {
            return 0;
        }
        const auto encoded = schema->encode(*value);
        FUZZ_CHECK(encoded);
        const auto again = schema->decode(as_bytes(*encoded));
        FUZZ_CHECK(again && *again == *value);
        return 0;
    }
    const auto schema = schemas::ProtobufSchema::parse(text);
    if (!schema || bytes.empty() || bytes.front() != std::byte{0}) {
        return 0;
    }
    const auto value = schema->decode(bytes);
    if (!value) {
        return 0;
    }
    // A value that has no message of its own (a time in the year 10,000) can be shown, but not written.
    const auto encoded = schema->encode(*value);
    if (!encoded) {
        return 0;
    }
    const auto again = schema->decode(as_bytes(*encoded));
    FUZZ_CHECK(again && *again == *value);
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    using std::string_view;
    return {
        seed('a',
             R"({"type":"record","name":"a.R","fields":[{"name":"n","type":"long"},{"name":"u","type":["null","string","R"]},)"
             R"({"name":"m","type":{"type":"map","values":"double"}},{"name":"f","type":{"type":"fixed","name":"F","size":2}}]})",
             string_view("\x02\x04\x06\x02\x02x\x02\x02k\0\0\0\0\0\0\xf0\x3f\0zz\0zz", 24)),
        seed('a', R"({"type":"array","items":{"type":"enum","name":"E","symbols":["A","B"]}})",
             string_view("\x03\x04\0\x02\0", 5)),
        seed('a', R"({"type":"array","items":"null"})", string_view("\x80\x80\x80\x02\0", 5)),
        seed(
            'b',
            R"(syntax = "proto3"; import "google/protobuf/struct.proto"; message A { int32 n = 1; repeated A a = 2; map<string, double> m = 3; )"
            R"(oneof o { bytes b = 4; google.protobuf.Value v = 5; } enum E { X = 0; } E e = 6; })",
            string_view("\0\x08\x05\x12\x02\x08\x07\x22\x01z\x30\x05", 11)),
        seed(
            'b',
            R"(syntax = "proto2"; package p; message A { required string s = 1; optional group G = 2 { optional float f = 1; } })",
            string_view("\0\x0a\x01s\x13\x0d\0\0\x80\x3f\x14", 11)),
        seed('c', R"({"type":"object"})",
             R"({"a":[1.50,-0.0,1e300,18446744073709551616,"\u00e9\ud83d\ude00",null,true],"a":{}})"),
    };
}
