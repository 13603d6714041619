// Tests which schemas count as JSON Schema, and which values they allow.

#include "broker/addons/schemas/core/json_schema.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::schemas {
namespace {

TEST(JsonSchema, ASchemaIsOfJsonSchemaWhenItSaysSoOrCannotBeOfAvro) {
    for (const char* text :
         {R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"string"})", R"({"type":"object","properties":{}})",
          R"({"type":"integer"})", R"({"type":"number"})", R"({"oneOf":[]})", "{}"}) {
        EXPECT_TRUE(JsonSchema::is_meant(text)) << text;
    }
    for (const char* text : {R"({"type":"record","name":"A","fields":[]})", R"({"type":"array","items":"long"})", R"("long")",
                             R"(["null","long"])", R"({"type":"string"})", R"(syntax = "proto3";)", ""}) {
        EXPECT_FALSE(JsonSchema::is_meant(text)) << text;
    }
}

TEST(JsonSchema, AValueIsOneOfJsonNestedSoDeepAndNoDeeper) {
    const auto nested = [](int depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); };
    const auto deepest = nested(JsonSchema::kDepthMax);
    EXPECT_EQ(JsonSchema::decode(as_bytes(deepest))->dump(), deepest);
    const auto deeper = nested(JsonSchema::kDepthMax + 1);
    EXPECT_EQ(JsonSchema::decode(as_bytes(deeper)).error(), "the value is nested too deep");
    const auto deep = nested(200'000);
    EXPECT_EQ(JsonSchema::decode(as_bytes(deep)).error(), "the value is nested too deep");
    for (const std::string text : {"", "{", "1 2", "\"\xff\"", "[1,]"}) {
        EXPECT_EQ(JsonSchema::decode(as_bytes(text)).error(), "it is not JSON") << text;
    }
}

}  // namespace
}  // namespace partita::schemas
