#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::schemas {

/// A file of Protocol Buffers (proto2 or proto3), and the messages that are written by it: from bytes to JSON and back, in the
/// JSON encoding of Protocol Buffers, with the names that the file has. In front of a message stands which of the file's messages
/// it is, as the serializers of schema registries write it: indexes from the outermost message inwards, and a single 0 byte for
/// the first.
///
/// Files and bytes are a stranger's, as with AvroSchema; libprotobuf limits how deep messages may be nested.
class ProtobufSchema {
  public:
    static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
    /// How deep a message's type may be nested in others.
    static constexpr std::size_t kIndexesMax = 32;

    /// A file by the name that others import it by.
    struct Import {
        std::string name;
        std::string text;
    };

    /// `imports`: each after those that it imports itself. Those of google/protobuf/ need not be there.
    [[nodiscard]] static std::expected<ProtobufSchema, std::string> parse(std::string_view text,
                                                                          std::span<const Import> imports = {});
    ProtobufSchema(ProtobufSchema&&) noexcept;
    ProtobufSchema& operator=(ProtobufSchema&&) noexcept;
    ~ProtobufSchema();

    /// Fields that have their default are shown, unless the file lets them be absent.
    [[nodiscard]] std::expected<nlohmann::ordered_json, std::string> decode(Bytes indexes_and_message) const;
    /// `message`: its name, with or without the package; empty for the first of the file.
    [[nodiscard]] std::expected<std::string, std::string> encode(const nlohmann::ordered_json& value,
                                                                 std::string_view message = {}) const;

  private:
    struct Parts;
    explicit ProtobufSchema(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::schemas
