// Tests the requests to a schema registry, and which of its answers count.

#include "broker/addons/schemas/core/registry_client.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/addons/schemas/core/digits.h"

namespace partita::schemas {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;

/// Answers from a table, and remembers what it was asked.
struct FakeRegistry {
    std::map<std::string, RegistryAnswer> answers;
    std::vector<std::string> asked;
    bool is_down = false;

    Registry open() {
        return Registry([this](const RegistryRequest& request) -> std::expected<RegistryAnswer, std::string> {
            asked.push_back(request.target + (request.json.empty() ? "" : " " + request.json));
            if (is_down) {
                return std::unexpected("nobody is there");
            }
            const auto found = answers.find(request.target);
            if (found == answers.end()) {
                return RegistryAnswer{404, R"({"error_code":40403,"message":"Schema not found"})"};
            }
            return found->second;
        });
    }
};

TEST(SchemaRegistry, AValueIsDecodedByTheSchemaThatItNamesWhichIsAskedForOnce) {
    FakeRegistry fake;
    fake.answers["/schemas/ids/7"] = {200, R"({"schema":"\"string\""})"};
    Registry registry = fake.open();
    const auto text = test::bytes_of("00000000070261");
    const auto bytes = as_bytes(text);
    EXPECT_EQ(*decode(registry, bytes), "a");
    EXPECT_EQ(*decode(registry, bytes), "a");
    EXPECT_THAT(fake.asked, ElementsAre("/schemas/ids/7"));
    const auto schema = registry.by_id(7);
    ASSERT_TRUE(schema);
    EXPECT_EQ(test::digits_of(*encode(**schema, R"("a")")), "00000000070261");
    EXPECT_EQ(encode(**schema, "a").error(), "it is not JSON");
    EXPECT_EQ(encode(**schema, R"("a")", "Message").error(), "a schema of Avro has no messages");
}

TEST(SchemaRegistry, WhatASchemaRefersToIsAskedForFirst) {
    FakeRegistry fake;
    fake.answers["/schemas/ids/1"] = {
        200, R"({"schemaType":"PROTOBUF","schema":"syntax = \"proto3\"; import \"b\"; message A { B b = 1; }",)"
             R"("references":[{"name":"b","subject":"b/x","version":3}]})"};
    fake.answers["/subjects/b%2Fx/versions/3"] = {200, R"({"schema":"syntax = \"proto3\"; import \"c\"; message B { C c = 1; }",)"
                                                       R"("references":[{"name":"c","subject":"c","version":1}]})"};
    fake.answers["/subjects/c/versions/1"] = {200, R"({"schema":"syntax = \"proto3\"; message C { int32 n = 1; }"})"};
    Registry registry = fake.open();
    EXPECT_EQ(decode(registry, as_bytes(test::bytes_of("0000000001000a040a020805")))->dump(), R"({"b":{"c":{"n":5}}})");
}

TEST(SchemaRegistry, ReferencesWithoutEndAreRefused) {
    FakeRegistry fake;
    // Each subject's newest version refers to itself by another name.
    std::string references = R"("references":[)";
    for (int i = 0; i < 300; ++i) {
        references += (i > 0 ? "," : "") + std::string(R"({"name":"n)") + std::to_string(i) + R"(","subject":"s","version":1})";
    }
    fake.answers["/schemas/ids/1"] = {200, R"({"schema":"\"int\"",)" + references + "]}"};
    fake.answers["/subjects/s/versions/1"] = {200, R"({"schema":"\"int\""})"};
    EXPECT_EQ(fake.open().by_id(1).error().message, "the schema refers to too many others");
    fake.answers["/subjects/s/versions/1"] = {200,
                                              R"({"schema":"\"int\"","references":[{"name":"x","subject":"s","version":1}]})"};
    EXPECT_EQ(fake.open().by_id(1).error().message, "schemas refer to each other without end");
}

TEST(SchemaRegistry, AnIdThatItDoesNotKnowIsAskedForOnceAndSaidEachTime) {
    FakeRegistry fake;
    Registry registry = fake.open();
    for (int i = 0; i < 3; ++i) {
        const auto value = decode(registry, as_bytes(test::bytes_of("0000000009")));
        ASSERT_FALSE(value);
        EXPECT_FALSE(value.error().is_unreachable);
        EXPECT_EQ(value.error().message, "the schema registry answers 404 to /schemas/ids/9: Schema not found");
    }
    EXPECT_EQ(fake.asked.size(), 1u);
}

TEST(SchemaRegistry, WhenItCannotBeAskedThatIsToldApart) {
    FakeRegistry fake;
    fake.is_down = true;
    Registry registry = fake.open();
    EXPECT_TRUE(registry.by_id(1).error().is_unreachable);
    fake.is_down = false;
    fake.answers["/schemas/ids/1"] = {401, "who are you?"};
    EXPECT_TRUE(registry.by_id(1).error().is_unreachable);
    EXPECT_EQ(registry.by_id(1).error().message, "the schema registry answers 401 to /schemas/ids/1: who are you?");
    // The client asks again: the schema may come back.
    fake.answers["/schemas/ids/1"] = {200, R"({"schema":"\"int\""})"};
    EXPECT_TRUE(registry.by_id(1));
}

TEST(SchemaRegistry, ASchemaIsRegisteredWithItsKind) {
    FakeRegistry fake;
    fake.answers["/subjects/orders-value/versions"] = {200, R"({"id":4})"};
    fake.answers["/schemas/ids/4"] = {200, R"({"schema":"syntax = \"proto3\"; message A { }","schemaType":"PROTOBUF"})"};
    Registry registry = fake.open();
    ASSERT_TRUE(registry.add("orders-value", SchemaKind::protobuf, R"(syntax = "proto3"; message A { })"));
    EXPECT_THAT(
        fake.asked,
        ElementsAre(R"(/subjects/orders-value/versions {"schema":"syntax = \"proto3\"; message A { }","schemaType":"PROTOBUF"})",
                    "/schemas/ids/4"));
}

TEST(SchemaRegistry, TheNewestOfASubjectIsFoundByItsId) {
    FakeRegistry fake;
    fake.answers["/subjects/a%20b-value/versions/latest"] = {200, R"({"id":12,"version":2,"schema":"\"long\""})"};
    EXPECT_EQ((*fake.open().latest("a b-value"))->id, 12);
    fake.answers["/subjects/a%20b-value/versions/latest"] = {200, R"({"schema":"\"long\""})"};
    EXPECT_FALSE(fake.open().latest("a b-value"));
}

TEST(SchemaRegistry, BytesWithoutASchemaAndSchemasOfOtherKindsAreSaid) {
    FakeRegistry fake;
    fake.answers["/schemas/ids/1"] = {200, R"({"schemaType":"THRIFT","schema":"{}"})"};
    Registry registry = fake.open();
    EXPECT_EQ(decode(registry, as_bytes(std::string_view("plain text"))).error().message,
              "it has no schema id: it does not begin with a 0 byte and the four bytes of an id");
    EXPECT_EQ(decode(registry, as_bytes(test::bytes_of("00000000"))).error().message,
              "it has no schema id: it does not begin with a 0 byte and the four bytes of an id");
    EXPECT_EQ(decode(registry, as_bytes(test::bytes_of("00000000017b7d"))).error().message,
              "schema 1: its type is THRIFT; AVRO, JSON and PROTOBUF are supported");
}

TEST(SchemaRegistry, AValueOfAJsonSchemaIsTheJsonBehindItsIdAndWhatTheSchemaRefersToIsNotAsked) {
    FakeRegistry fake;
    fake.answers["/schemas/ids/3"] = {
        200, R"({"schemaType":"JSON","schema":"{\"$ref\":\"b\"}","references":[{"name":"b","subject":"b","version":1}]})"};
    Registry registry = fake.open();
    const std::string bytes = std::string("\0\0\0\0\3", 5) + R"({ "b": 1, "a": [1.50] })";
    EXPECT_EQ(decode(registry, as_bytes(bytes))->dump(), R"({"b":1,"a":[1.5]})");
    EXPECT_THAT(fake.asked, ElementsAre("/schemas/ids/3"));
    const auto schema = registry.by_id(3);
    ASSERT_TRUE(schema);
    // Digits and spaces stay as they were written.
    EXPECT_EQ(*encode(**schema, R"({ "b": 1, "a": [1.50] })"), bytes);
    EXPECT_EQ(encode(**schema, "{").error(), "it is not JSON");
    EXPECT_EQ(encode(**schema, "1", "Message").error(), "a schema of JSON has no messages");
    EXPECT_EQ(decode(registry, as_bytes(bytes).first(7)).error().message, "it does not match schema 3: it is not JSON");
    EXPECT_EQ(decode(registry, as_bytes(bytes).first(5)).error().message, "it does not match schema 3: it is not JSON");
}

TEST(SchemaRegistry, JsonIsRegisteredAsSuch) {
    FakeRegistry fake;
    fake.answers["/subjects/s/versions"] = {200, R"({"id":4})"};
    fake.answers["/schemas/ids/4"] = {200, R"({"schemaType":"JSON","schema":"{}"})"};
    ASSERT_TRUE(fake.open().add("s", SchemaKind::json, "{}"));
    EXPECT_EQ(fake.asked.front(), R"(/subjects/s/versions {"schema":"{}","schemaType":"JSON"})");
}

TEST(SchemaRegistry, GreetingItTellsWhetherItCanBeAskedAndNothingElse) {
    FakeRegistry fake;
    Registry registry = fake.open();
    // An old registry does not know the question, and another one may not answer it to everybody.
    EXPECT_TRUE(registry.greet());
    fake.answers["/schemas/types"] = {403, R"({"message":"Forbidden"})"};
    EXPECT_TRUE(registry.greet());
    fake.answers["/schemas/types"] = {200, R"(["JSON","AVRO"])"};
    EXPECT_TRUE(registry.greet());
    fake.answers["/schemas/types"] = {401, R"({"message":"Unauthorized"})"};
    EXPECT_EQ(registry.greet().error().message, "the schema registry answers 401 to /schemas/types: Unauthorized");
    fake.answers["/schemas/types"] = {502, "Bad Gateway"};
    EXPECT_EQ(registry.greet().error().message, "the schema registry answers 502 to /schemas/types: Bad Gateway");
    fake.is_down = true;
    EXPECT_EQ(registry.greet().error().message, "nobody is there");
}

TEST(SchemaRegistry, ItRemembersSoManySchemasAndNoMore) {
    FakeRegistry fake;
    for (std::size_t id = 0; id <= Registry::kSchemasMax; ++id) {
        fake.answers["/schemas/ids/" + std::to_string(id)] = {200, R"({"schema":"\"int\""})"};
    }
    Registry registry = fake.open();
    for (std::size_t id = 0; id < Registry::kSchemasMax; ++id) {
        ASSERT_TRUE(registry.by_id(static_cast<std::int32_t>(id)));
    }
    EXPECT_EQ(registry.by_id(Registry::kSchemasMax).error().message, "more than 4096 schemas are in use");
}

}  // namespace
}  // namespace partita::schemas
