#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::schemas {

/// A schema of JSON Schema, and the values that are written by it: they are JSON as it stands. What the schema demands of a value
/// is not looked at, neither when one is written nor when one is read.
///
/// Bytes are a stranger's, as with AvroSchema.
class JsonSchema {
  public:
    /// How deep a value that is read may be nested.
    static constexpr int kDepthMax = 128;

    /// Whether `text` is a schema of JSON Schema and none of Avro: it says `$schema`, or it has no `type`, or one that Avro has
    /// not.
    [[nodiscard]] static bool is_meant(std::string_view text);

    /// All of `bytes` is one value.
    [[nodiscard]] static std::expected<nlohmann::ordered_json, std::string> decode(Bytes bytes);
};

}  // namespace partita::schemas
