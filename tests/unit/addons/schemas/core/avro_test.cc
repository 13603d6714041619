// Tests Avro's values: vectors of two other libraries (fastavro 1.13 and Apache's own for Python), and values that are refused.

#include "broker/addons/schemas/core/avro.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/addons/schemas/core/digits.h"

namespace partita::schemas {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr const char* kOrder =
    R"({"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},{"name":"count","type":"int"},)"
    R"({"name":"paid","type":"boolean"},{"name":"weight","type":"float"},{"name":"price","type":"double"},)"
    R"({"name":"note","type":["null","string"]},{"name":"raw","type":"bytes"},{"name":"hash","type":{"type":"fixed","name":"Hash","size":4}},)"
    R"({"name":"state","type":{"type":"enum","name":"State","symbols":["NEW","SENT"]}},{"name":"items","type":{"type":"array","items":)"
    R"({"type":"record","name":"Item","fields":[{"name":"name","type":"string"},{"name":"next","type":["null","Item"]}]}}},)"
    R"({"name":"tags","type":{"type":"map","values":["int","shop.State"]}},{"name":"nothing","type":"null"}]})";
constexpr const char* kOrderBytes =
    "a7e8c8e99707ac02010000003f039300aa4bdd3dfe020a6772c3bc6e08007f80ff0102feff0204026102026200000000040278000e0279020000";
constexpr const char* kOrderJson =
    R"({"id": -123456789012, "count": 150, "paid": true, "weight": 0.5, "price": -1.25e+300, "note": {"string": "gr\u00fcn"},)"
    R"("raw": "\u0000\u007f\u0080\u00ff", "hash": "\u0001\u0002\u00fe\u00ff", "state": "SENT", "items": [{"name": "a", "next":)"
    R"({"shop.Item": {"name": "b", "next": null}}}, {"name": "", "next": null}], "tags": {"x": {"int": 7}, "y": {"shop.State": "NEW"}},)"
    R"("nothing": null})";

AvroSchema schema_of(std::string_view text) {
    auto schema = AvroSchema::parse(text);
    EXPECT_TRUE(schema) << schema.error();
    return std::move(*schema);
}
std::expected<ordered_json, std::string> decode(std::string_view schema, std::string_view hexadecimal) {
    const auto bytes = test::bytes_of(hexadecimal);
    return schema_of(schema).decode(as_bytes(bytes));
}
std::string encode(std::string_view schema, const char* json) {
    const auto bytes = schema_of(schema).encode(ordered_json::parse(json));
    return bytes ? test::digits_of(*bytes) : "refused: " + bytes.error();
}

TEST(Avro, EveryTypeIsReadAndWrittenAsByOtherLibraries) {
    const auto value = decode(kOrder, kOrderBytes);
    ASSERT_TRUE(value) << value.error();
    EXPECT_EQ(*value, ordered_json::parse(kOrderJson));
    EXPECT_EQ(encode(kOrder, kOrderJson), kOrderBytes);
}

TEST(Avro, WhatIsNoNumberOfJsonIsAWord) {
    EXPECT_EQ(encode(R"("double")", R"("NaN")"), "000000000000f87f");
    EXPECT_EQ(*decode(R"("double")", "000000000000f87f"), "NaN");
    EXPECT_EQ(encode(R"("float")", R"("-Infinity")"), "000080ff");
    EXPECT_EQ(*decode(R"("float")", "000080ff"), "-Infinity");
}

TEST(Avro, BlocksMayHaveTheirSizeInFront) {
    // -2 elements in 2 bytes, then one more element.
    EXPECT_EQ(*decode(R"({"type":"array","items":"int"})", "03040204020600"), ordered_json({1, 2, 3}));
}

TEST(Avro, AUnionOfNullAndOneTypeTakesTheValueItself) {
    EXPECT_EQ(encode(R"(["null","string"])", R"("a")"), "020261");
    EXPECT_EQ(encode(R"(["null","string"])", R"({"string":"a"})"), "020261");
    EXPECT_EQ(encode(R"(["null","string"])", "null"), "00");
    EXPECT_THAT(encode(R"(["null","string","int"])", R"("a")"),
                HasSubstr(R"(use null or {"type": value} with one of null, string, int)"));
}

TEST(Avro, NamesOfReferencedSchemasAreKnown) {
    const std::string item = R"({"type":"enum","name":"shop.State","symbols":["NEW"]})";
    EXPECT_TRUE(AvroSchema::parse(R"({"type":"array","items":"shop.State"})", std::span(&item, 1)));
    EXPECT_EQ(AvroSchema::parse(R"({"type":"array","items":"shop.State"})").error(), "invalid schema: shop.State is not defined");
}

TEST(Avro, ASchemaThatMakesNoSenseIsRefusedByName) {
    const std::pair<const char*, const char*> wrong[] = {
        {"{}", "an object has no type"},
        {"7", "a type is neither a name nor a list nor an object"},
        {"strin", "strin is not defined"},
        {R"({"type":"record","name":"A"})", "record A has no fields"},
        {R"({"type":"record","fields":[]})", "a type has no name"},
        {R"({"type":"record","name":"A","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
         "record A has field a twice"},
        {R"({"type":"record","name":"A","fields":[{"name":"a"}]})", "field a of record A has no type"},
        {R"({"type":"enum","name":"A"})", "enum A has no symbols"},
        {R"({"type":"enum","name":"A","symbols":["a","a"]})", "a symbol of enum A is not a string or occurs twice"},
        {R"({"type":"fixed","name":"A","size":-1})", "fixed A has no size"},
        {R"({"type":"array"})", "type array has no items"},
        {R"(["int","int"])", "a union has int twice"},
        {R"(["int",["null"]])", "a union is a branch of a union"},
        {R"([{"type":"fixed","name":"A","size":1},{"type":"fixed","name":"A","size":2}])", "A is defined twice"},
    };
    for (const auto& [text, reason] : wrong) {
        const auto schema = AvroSchema::parse(text);
        ASSERT_FALSE(schema) << text;
        EXPECT_EQ(schema.error(), std::string("invalid schema: ") + reason);
    }
}

TEST(Avro, BytesThatDoNotAgreeWithTheSchemaAreRefused) {
    const std::tuple<const char*, const char*, const char*> wrong[] = {
        {R"("int")", "", "the bytes end before the value is complete"},
        {R"("int")", "8080808010", "an int is beyond 32 bits"},
        {R"("int")", "0200", "bytes follow the value"},
        {R"("boolean")", "02", "a boolean is neither 0 nor 1"},
        {R"("string")", "01", "a length is negative"},
        {R"("string")", "0461", "the bytes end before the value is complete"},
        {R"("bytes")", "ffffffffffffffffff01", "a length is negative"},
        {R"("bytes")", "feffffffffffffffff01", "the bytes end before the value is complete"},
        {R"(["null","int"])", "04", "union has no branch or symbol 2"},
        {R"({"type":"enum","name":"E","symbols":["A"]})", "01", "E has no branch or symbol -1"},
        {R"({"type":"array","items":"int"})", "ffffffffffffffffff0102", "a count is out of range"},
        // 2^40 elements that take no byte.
        {R"({"type":"array","items":"null"})", "80808080808040", "the value has too many parts"},
    };
    for (const auto& [schema, bytes, reason] : wrong) {
        const auto value = decode(schema, bytes);
        ASSERT_FALSE(value) << schema << " " << bytes << " " << value->dump().substr(0, 100);
        EXPECT_EQ(value.error(), reason) << schema << " " << bytes;
    }
}

TEST(Avro, ValuesThatDoNotAgreeWithTheSchemaAreRefusedWithTheirPlace) {
    constexpr const char* kItem =
        R"({"type":"record","name":"R","fields":[{"name":"a","type":{"type":"array","items":"int"}},{"name":"f","type":{"type":"fixed","name":"F","size":1}}]})";
    EXPECT_EQ(encode(kItem, R"({"a":[1,"x"],"f":"a"})"), "refused: a[1] is a string, where the schema has int");
    EXPECT_EQ(encode(kItem, R"({"a":[2147483648],"f":"a"})"), "refused: a[0] is 2147483648, which is out of range for int");
    EXPECT_EQ(encode(kItem, R"({"a":[]})"), "refused: f is missing");
    EXPECT_EQ(encode(kItem, R"({"a":[],"f":"ab"})"), "refused: f has 2 bytes, and F has 1");
    EXPECT_EQ(encode(kItem, R"({"a":[],"f":"\u0100"})"), "refused: f has a character above U+00FF, which is not a byte");
    EXPECT_EQ(encode(kItem, R"({"a":[],"f":"a","g":1})"), "refused: g is not a field of R");
    EXPECT_EQ(encode(R"("long")", "9223372036854775808"),
              "refused: the value is 9223372036854775808, which is out of range for long");
    EXPECT_EQ(encode(R"({"type":"enum","name":"E","symbols":["A"]})", R"("B")"),
              R"(refused: the value is "B", which is not a symbol of E)");
}

TEST(Avro, AFewBytesDeclareAFewValuesOnly) {
    constexpr const char* kNothings = R"({"type":"array","items":"null"})";
    const auto many = decode(kNothings, "80fa0100");
    ASSERT_TRUE(many) << many.error();
    EXPECT_EQ(many->size(), 16'000U);
    EXPECT_EQ(decode(kNothings, "c0b80200").error(), "the value has too many parts") << "20,000";
    // Elements that are there may be more.
    std::string twenty_thousand = "c0b802";
    for (int i = 0; i < 20'000; ++i) {
        twenty_thousand += "02";
    }
    const auto more = decode(R"({"type":"array","items":"int"})", twenty_thousand + "00");
    ASSERT_TRUE(more) << more.error();
    EXPECT_EQ(more->size(), 20'000U);
}

TEST(Avro, NestingHasALimitWhoeverNests) {
    constexpr const char* kList = R"({"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]})";
    std::string bytes;
    for (int depth = 0; depth < 200; ++depth) {
        bytes += "02";
    }
    EXPECT_EQ(decode(kList, bytes + "00").error(), "the value is nested too deep");
    std::string json = "null";
    for (int depth = 0; depth < 200; ++depth) {
        json = R"({"next":)" + (depth == 0 ? json : R"({"L":)" + json + "}") + "}";
    }
    EXPECT_THAT(encode(kList, json.c_str()), HasSubstr("is nested too deep"));
    std::string schema = R"("int")";
    for (int depth = 0; depth < 200; ++depth) {
        schema = R"({"type":"array","items":)" + schema + "}";
    }
    EXPECT_EQ(AvroSchema::parse(schema).error(), "invalid schema: it is nested deeper than 128");
    EXPECT_EQ(AvroSchema::parse(std::string(AvroSchema::kTextBytesMax + 1, ' ')).error(),
              "invalid schema: it is longer than 1 MiB");
}

}  // namespace
}  // namespace partita::schemas
