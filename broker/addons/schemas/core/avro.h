#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::schemas {

/// A schema of Apache Avro, and the values that are written by it: from bytes to JSON and back, in Avro's own JSON encoding.
/// There a union's value is null or {"type": value}, bytes are a string with a letter for each byte, and what is no number of
/// JSON is the string NaN, Infinity or -Infinity. Logical types are shown as what they are written as.
///
/// Schemas and bytes are a stranger's: whatever they are, they give a value or an error of one sentence, and cost no more than
/// these limits allow.
class AvroSchema {
  public:
    static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
    /// How deep a schema or a value may be nested.
    static constexpr int kDepthMax = 128;
    /// How many values a record may be made of: elements may take no byte at all.
    static constexpr std::size_t kValuesMax = std::size_t{1} << 22;

    /// `referenced`: schemas whose names `text` uses, each after those that it uses itself.
    [[nodiscard]] static std::expected<AvroSchema, std::string> parse(std::string_view text,
                                                                      std::span<const std::string> referenced = {});
    AvroSchema(AvroSchema&&) noexcept;
    AvroSchema& operator=(AvroSchema&&) noexcept;
    ~AvroSchema();

    /// All of `bytes` is one value; its fields are in the schema's order.
    [[nodiscard]] std::expected<nlohmann::ordered_json, std::string> decode(Bytes bytes) const;
    /// The error names the place: "orders.items[2].price is a string, not a double". Besides Avro's encoding it takes a value
    /// without its type where a union has one type beside null.
    [[nodiscard]] std::expected<std::string, std::string> encode(const nlohmann::ordered_json& value) const;

  private:
    struct Parts;
    explicit AvroSchema(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::schemas
