#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita::schemas {

/// A file of Protocol Buffers (proto2 or proto3), and the messages that it encodes: from bytes to JSON and back, in the JSON
/// encoding of Protocol Buffers, with the file's own field names. Before a message stand the indexes that tell which of the
/// file's messages it is, from the outermost message inwards, as the serializers of schema registries write them. A single 0 byte
/// means the first message.
///
/// Files and bytes are untrusted, as in AvroSchema; libprotobuf limits the nesting of messages.
class ProtobufSchema {
  public:
    static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
    /// Deepest nesting of a message's type in other types.
    static constexpr std::size_t kIndexesMax = 32;

    /// A file by the name that others import it by.
    struct Import {
        std::string name;
        std::string text;
    };

    /// `imports`: each after those that it imports itself. Files of google/protobuf/ may be missing.
    [[nodiscard]] static std::expected<ProtobufSchema, std::string> parse(std::string_view text,
                                                                          std::span<const Import> imports = {});
    /// The names of the files that a file imports, in their order.
    [[nodiscard]] static std::expected<std::vector<std::string>, std::string> imports_of(std::string_view text);
    /// True for files that every compiler of Protocol Buffers has: those of google/protobuf/.
    [[nodiscard]] static bool is_known_file(std::string_view name);

    ProtobufSchema(ProtobufSchema&&) noexcept;
    ProtobufSchema& operator=(ProtobufSchema&&) noexcept;
    ~ProtobufSchema();

    /// Fields with their default value appear, unless the file lets them be absent.
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
