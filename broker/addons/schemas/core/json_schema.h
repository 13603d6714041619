#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::schemas {

/// A schema of JSON Schema, and its values, which are plain JSON. The class does not check a value against the schema, neither
/// when it writes one nor when it reads one.
///
/// Bytes are untrusted, as in AvroSchema.
class JsonSchema {
  public:
    /// Deepest nesting of a value that is read.
    static constexpr int kDepthMax = 128;

    /// True if `text` is a schema of JSON Schema and not of Avro: it has `$schema`, or no `type`, or a type that Avro does not
    /// have.
    [[nodiscard]] static bool is_meant(std::string_view text);

    /// `bytes` must be exactly one value.
    [[nodiscard]] static std::expected<nlohmann::ordered_json, std::string> decode(Bytes bytes);
};

}  // namespace partita::schemas
