#include <charconv>
#include <cstdio>
#include <optional>

#include "protocol/codec_member.h"
#include "protocol/message_json.h"

namespace partita {
namespace {

using namespace codec_detail;

class JsonWriter {
  public:
    JsonWriter(std::int16_t version, FunctionRef<std::string(Bytes)> to_base64) : version_(version), to_base64_(to_base64) {}

    void write_struct(const Schema& schema, const void* message) {
        text_ += '{';
        bool is_first = true;
        for (const Field& field : schema.fields) {
            if (!field.versions.contains(version_) || (field.tagged.contains(version_) && is_default(schema, field, message))) {
                continue;
            }
            text_ += is_first ? "\"" : ",\"";
            is_first = false;
            const char initial = field.name.front();
            text_ += initial >= 'A' && initial <= 'Z' ? static_cast<char>(initial - 'A' + 'a') : initial;
            text_ += field.name.substr(1);
            text_ += "\":";
            write_field(field, member(message, field));
        }
        text_ += '}';
    }

    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    void write_field(const Field& field, const void* value) {
        if (!field.is_array) {
            return write_value(field, value);
        }
        const auto array = as<ArrayBase>(value);
        if (array.size < 0) {
            text_ += "null";
            return;
        }
        const std::size_t element_size = value_size(field.kind, field.nested);
        const auto* element = static_cast<const std::byte*>(array.data);
        text_ += '[';
        for (std::int32_t i = 0; i < array.size; ++i, element += element_size) {
            text_ += i > 0 ? "," : "";
            write_value(field, element);
        }
        text_ += ']';
    }

    void write_value(const Field& field, const void* value) {
        switch (field.kind) {
            case Kind::boolean:
                text_ += as<bool>(value) ? "true" : "false";
                return;
            case Kind::int8:
                text_ += std::to_string(as<std::int8_t>(value));
                return;
            case Kind::int16:
                text_ += std::to_string(as<std::int16_t>(value));
                return;
            case Kind::uint16:
                text_ += std::to_string(as<std::uint16_t>(value));
                return;
            case Kind::int32:
                text_ += std::to_string(as<std::int32_t>(value));
                return;
            case Kind::uint32:
                text_ += std::to_string(as<std::uint32_t>(value));
                return;
            case Kind::int64:
                text_ += std::to_string(as<std::int64_t>(value));
                return;
            case Kind::float64: {
                char digits[32];
                text_.append(digits, std::to_chars(digits, digits + sizeof digits, as<double>(value)).ptr);
                return;
            }
            case Kind::uuid:
                return write_string(as<Uuid>(value).to_string());
            case Kind::string:
            case Kind::nullable_string:
                return write_string(text_of(field.kind, value));
            case Kind::bytes:
            case Kind::nullable_bytes:
                return write_bytes(bytes_of(field.kind, value));
            case Kind::records: {
                const auto records = as<Records>(value);
                return write_bytes(records.is_null() ? std::nullopt : std::optional(records.bytes()));
            }
            case Kind::structure:
                return write_struct(*field.nested, value);
            case Kind::nullable_structure: {
                const void* object = struct_of(field.kind, value);
                if (object != nullptr) {
                    return write_struct(*field.nested, object);
                }
                text_ += "null";
                return;
            }
        }
    }

    void write_string(std::optional<std::string_view> text) {
        if (!text) {
            text_ += "null";
            return;
        }
        text_ += '"';
        for (const char character : *text) {
            if (character == '"' || character == '\\') {
                text_ += '\\';
                text_ += character;
            } else if (static_cast<unsigned char>(character) < 0x20) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(character));
                text_ += escape;
            } else {
                text_ += character;
            }
        }
        text_ += '"';
    }

    void write_bytes(std::optional<Bytes> bytes) { text_ += bytes ? "\"" + to_base64_(*bytes) + "\"" : "null"; }

    const std::int16_t version_;
    const FunctionRef<std::string(Bytes)> to_base64_;
    std::string text_;
};

}  // namespace

std::string to_json(const Schema& schema, const void* message, std::int16_t version, FunctionRef<std::string(Bytes)> to_base64) {
    JsonWriter writer(version, to_base64);
    writer.write_struct(schema, message);
    return writer.take();
}

}  // namespace partita
