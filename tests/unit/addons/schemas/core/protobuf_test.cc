// Messages of Protocol Buffers: bytes from the published description of the encoding, and of the indexes that serializers of
// schema registries put in front.

#include "broker/addons/schemas/core/protobuf.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/addons/schemas/core/digits.h"

namespace partita::schemas {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr const char* kFile = R"(
syntax = "proto3";
package shop;
message Test1 { int32 a = 1; string b = 2; repeated int64 c = 3; optional string d = 4; }
message Outer { message First { bool x = 1; } message Second { double y = 1; } First first = 1; }
)";

ProtobufSchema proto_of(std::string_view text, std::span<const ProtobufSchema::Import> imports = {}) {
    auto schema = ProtobufSchema::parse(text, imports);
    EXPECT_TRUE(schema) << schema.error();
    return std::move(*schema);
}
std::string read(const ProtobufSchema& schema, std::string_view hexadecimal) {
    const auto bytes = test::bytes_of(hexadecimal);
    const auto value = schema.decode(as_bytes(bytes));
    return value ? value->dump() : "refused: " + value.error();
}
std::string written(const ProtobufSchema& schema, const char* json, std::string_view message = {}) {
    const auto bytes = schema.encode(ordered_json::parse(json), message);
    return bytes ? test::digits_of(*bytes) : "refused: " + bytes.error();
}

TEST(Protobuf, TheFirstMessageHasASingleZeroInFront) {
    const auto schema = proto_of(kFile);
    // The examples of the encoding's description: 150 in field 1, "testing" in field 2.
    EXPECT_EQ(read(schema, "00089601120774657374696e67"), R"({"a":150,"b":"testing","c":[]})");
    EXPECT_EQ(written(schema, R"({"a":150,"b":"testing"})"), "00089601120774657374696e67");
}

TEST(Protobuf, OthersAreNamedByTheirIndexes) {
    const auto schema = proto_of(kFile);
    EXPECT_EQ(written(schema, R"({"y":1})", "Outer.Second"), "04020209000000000000f03f");
    EXPECT_EQ(written(schema, R"({"y":1})", "shop.Outer.Second"), "04020209000000000000f03f");
    EXPECT_EQ(read(schema, "04020209000000000000f03f"), R"({"y":1})");
    EXPECT_EQ(read(schema, "02020a020801"), R"({"first":{"x":true}})");
    // A count of one and the index 0, as some write it.
    EXPECT_EQ(read(schema, "0200089601"), R"({"a":150,"b":"","c":[]})");
}

TEST(Protobuf, FilesOfTheLibraryAndReferencedOnesAreImported) {
    const std::vector<ProtobufSchema::Import> imports{
        {"shop/money.proto", R"(syntax = "proto3"; package shop; message Money { int64 cents = 1; })"}};
    const auto schema = proto_of(R"(syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "shop/money.proto";
        message Paid { google.protobuf.Timestamp at = 1; shop.Money sum = 2; })",
                                 imports);
    constexpr const char* kPaid = R"({"at":"2026-11-26T03:00:00Z","sum":{"cents":"250"}})";
    const std::string bytes = written(schema, kPaid);
    const std::string read_again = read(schema, bytes);
    EXPECT_EQ(nlohmann::json::parse(read_again), nlohmann::json::parse(kPaid)) << read_again;
}

TEST(Protobuf, AFileMayBeItsDescriptionInBase64) {
    // The schema `syntax = "proto3"; package shop; message Order { int64 id = 1; string item = 2; }`, as confluent-kafka for
    // Python registers it.
    const auto schema = proto_of("CgtvcmRlci5wcm90bxIEc2hvcCIhCgVPcmRlchIKCgJpZBgBIAEoAxIMCgRpdGVtGAIgASgJYgZwcm90bzM=");
    EXPECT_EQ(read(schema, "000807120370656e"), R"({"id":"7","item":"pen"})");
}

TEST(Protobuf, AFileThatMakesNoSenseIsRefusedWithThePlace) {
    EXPECT_THAT(ProtobufSchema::parse("syntax = \"proto3\";\nmessage A { int32 a = ; }").error(),
                HasSubstr("line 2, column 23: "));
    EXPECT_THAT(ProtobufSchema::parse(R"(syntax = "proto3"; message A { B b = 1; })").error(),
                HasSubstr("A.b: \"B\" is not defined"));
    EXPECT_THAT(ProtobufSchema::parse(R"(syntax = "proto3"; import "x.proto"; message A { })").error(), HasSubstr("x.proto"));
    EXPECT_EQ(ProtobufSchema::parse(std::string(ProtobufSchema::kTextBytesMax + 1, ' ')).error(),
              "invalid schema: it is longer than 1 MiB");
}

TEST(Protobuf, BytesAndValuesThatDoNotAgreeAreRefused) {
    const auto schema = proto_of(kFile);
    EXPECT_EQ(read(schema, ""), "refused: it ends before its message index");
    EXPECT_EQ(read(schema, "0204"), "refused: the schema has no message of index 2");
    EXPECT_EQ(read(schema, "0201"), "refused: the schema has no message of index -1");
    EXPECT_EQ(read(schema, "42"), "refused: it has 33 message indexes");
    EXPECT_EQ(read(schema, "0008"), "refused: it is not a message of type shop.Test1");
    EXPECT_THAT(written(schema, R"({"z":1})"), HasSubstr("z"));
    EXPECT_THAT(written(schema, R"({"a":"x"})"), HasSubstr("refused: "));
    EXPECT_EQ(written(schema, "{}", "Nobody"), "refused: the schema has no message Nobody");
    const auto required = proto_of(R"(syntax = "proto2"; message A { required int32 a = 1; })");
    EXPECT_EQ(written(required, "{}"), "refused: missing field a");
    EXPECT_EQ(read(required, "00"), "refused: it lacks required fields: a");
}

TEST(Protobuf, AMessageInMessagesWithoutEndIsRefused) {
    const auto schema = proto_of(R"(syntax = "proto3"; message A { A a = 1; })");
    std::string bytes;
    for (int depth = 0; depth < 200; ++depth) {
        std::string outer = "\x0a";
        for (std::size_t rest = bytes.size();; rest >>= 7) {
            outer += static_cast<char>(rest < 0x80 ? rest : 0x80 | (rest & 0x7f));
            if (rest < 0x80) {
                break;
            }
        }
        bytes = outer + bytes;
    }
    bytes.insert(0, 1, '\0');
    EXPECT_EQ(schema.decode(as_bytes(bytes)).error(), "it is not a message of type A");
}

TEST(Protobuf, ImportsAreNamedInTheirOrder) {
    const auto imports =
        ProtobufSchema::imports_of(R"(syntax = "proto3"; import public "b.proto"; import "a/c.proto"; message M {})");
    EXPECT_EQ(imports, (std::vector<std::string>{"b.proto", "a/c.proto"}));
    EXPECT_FALSE(ProtobufSchema::imports_of("message"));
}

TEST(Protobuf, FilesOfEveryCompilerAreKnown) {
    for (const char* name : {"any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct",
                             "timestamp", "type", "wrappers"}) {
        const std::string file = "google/protobuf/" + std::string(name) + ".proto";
        EXPECT_TRUE(ProtobufSchema::is_known_file(file)) << file;
        EXPECT_TRUE(ProtobufSchema::parse("syntax = \"proto3\"; import \"" + file + "\"; message M {}")) << file;
    }
    EXPECT_FALSE(ProtobufSchema::is_known_file("timestamp.proto"));
}

}  // namespace
}  // namespace partita::schemas
