#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::schemas {

/// A schema of Apache Avro, and the values that it encodes: from bytes to JSON and back, in Avro's own JSON encoding. In that
/// encoding, a union's value is null or {"type": value}. Bytes are a string with a letter for each byte. Numbers that JSON cannot
/// express are the strings NaN, Infinity and -Infinity. Logical types appear as their underlying types.
///
/// Schemas and bytes are untrusted. Any input gives a value or an error of one sentence, and costs no more than these limits
/// allow.
class AvroSchema {
  public:
    static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
    /// Deepest nesting of a schema or a value.
    static constexpr int kDepthMax = 128;
    /// Most values in a record.
    static constexpr std::size_t kValuesMax = std::size_t{1} << 22;
    /// Values may take no byte at all. A record has at most `kFreeValuesMax` of them, and this many more for each of its bytes:
    /// so a few bytes cannot declare millions.
    static constexpr std::size_t kFreeValuesMax = std::size_t{1} << 14;
    static constexpr std::size_t kValuesPerByteMax = 64;

    /// `referenced`: schemas whose names `text` uses, each after those that it uses itself.
    [[nodiscard]] static std::expected<AvroSchema, std::string> parse(std::string_view text,
                                                                      std::span<const std::string> referenced = {});
    AvroSchema(AvroSchema&&) noexcept;
    AvroSchema& operator=(AvroSchema&&) noexcept;
    ~AvroSchema();

    /// `bytes` must be exactly one value; its fields come in the schema's order.
    [[nodiscard]] std::expected<nlohmann::ordered_json, std::string> decode(Bytes bytes) const;
    /// The error names the place: "orders.items[2].price is a string, not a double". If a union has one type beside null, the
    /// function also accepts a value without its type, in addition to Avro's encoding.
    [[nodiscard]] std::expected<std::string, std::string> encode(const nlohmann::ordered_json& value) const;

  private:
    struct Parts;
    explicit AvroSchema(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::schemas
