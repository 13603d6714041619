#include <bit>
#include <cstdio>
#include <cstring>
#include <limits>

#include "protocol/codec.h"
#include "protocol/codec_member.h"
#include "protocol/message_line.h"

namespace partita {
namespace codec_detail {
namespace {

bool equal_bytes(Bytes left, Bytes right) {
    return left.size() == right.size() && (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

bool equal_element(const Field& field, const void* left, const void* right) {
    switch (field.kind) {
        case Kind::boolean:
            return as<bool>(left) == as<bool>(right);
        case Kind::int8:
            return as<std::int8_t>(left) == as<std::int8_t>(right);
        case Kind::int16:
            return as<std::int16_t>(left) == as<std::int16_t>(right);
        case Kind::uint16:
            return as<std::uint16_t>(left) == as<std::uint16_t>(right);
        case Kind::int32:
            return as<std::int32_t>(left) == as<std::int32_t>(right);
        case Kind::uint32:
            return as<std::uint32_t>(left) == as<std::uint32_t>(right);
        case Kind::int64:
            return as<std::int64_t>(left) == as<std::int64_t>(right);
        // Compares bits, so that a NaN equals itself.
        case Kind::float64:
            return std::bit_cast<std::uint64_t>(as<double>(left)) == std::bit_cast<std::uint64_t>(as<double>(right));
        case Kind::uuid:
            return as<Uuid>(left) == as<Uuid>(right);
        case Kind::string:
        case Kind::nullable_string:
            return text_of(field.kind, left) == text_of(field.kind, right);
        case Kind::bytes:
        case Kind::nullable_bytes: {
            const auto a = bytes_of(field.kind, left);
            const auto b = bytes_of(field.kind, right);
            return a.has_value() == b.has_value() && (!a || equal_bytes(*a, *b));
        }
        case Kind::records: {
            const auto a = as<Records>(left);
            const auto b = as<Records>(right);
            return a.size == b.size && a.external_index == b.external_index && equal_bytes(a.bytes(), b.bytes());
        }
        case Kind::structure:
            return equal(*field.nested, left, right);
        case Kind::nullable_structure: {
            const void* a = struct_of(field.kind, left);
            const void* b = struct_of(field.kind, right);
            return (a == nullptr) == (b == nullptr) && (a == nullptr || equal(*field.nested, a, b));
        }
    }
    return false;
}

}  // namespace

bool equal_value(const Field& field, const void* left, const void* right) {
    if (!field.is_array) {
        return equal_element(field, left, right);
    }
    const auto a = as<ArrayBase>(left);
    const auto b = as<ArrayBase>(right);
    if (a.size != b.size && (a.size >= 0 || b.size >= 0)) {
        return false;
    }
    const std::size_t element_size = value_size(field.kind, field.nested);
    const auto* x = static_cast<const std::byte*>(a.data);
    const auto* y = static_cast<const std::byte*>(b.data);
    for (std::int32_t i = 0; i < a.size; ++i, x += element_size, y += element_size) {
        if (!equal_element(field, x, y)) {
            return false;
        }
    }
    return true;
}

bool is_default(const Schema& schema, const Field& field, const void* message) {
    return equal_value(field, member(message, field), member(schema.defaults, field));
}

}  // namespace codec_detail

namespace {

using namespace codec_detail;

class TextWriter {
  public:
    TextWriter(std::int16_t version, std::size_t max_bytes, std::size_t max_text_bytes)
        : version_(version), max_bytes_(max_bytes), max_text_bytes_(max_text_bytes) {}

    void write_struct(const Schema& schema, const void* message) {
        text_ += '{';
        bool first = true;
        for (const Field& field : schema.fields) {
            if (!field.versions.contains(version_)) {
                continue;
            }
            if (is_full()) {
                return;
            }
            if (!first) {
                text_ += ", ";
            }
            first = false;
            text_ += field.name;
            text_ += ": ";
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
        for (std::int32_t i = 0; i < array.size && !is_full(); ++i, element += element_size) {
            if (i > 0) {
                text_ += ", ";
            }
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
                std::snprintf(digits, sizeof digits, "%.17g", as<double>(value));
                text_ += digits;
                return;
            }
            case Kind::uuid:
                text_ += as<Uuid>(value).to_string();
                return;
            case Kind::string:
            case Kind::nullable_string:
                return write_string(text_of(field.kind, value));
            case Kind::bytes:
            case Kind::nullable_bytes:
                return write_bytes(bytes_of(field.kind, value));
            case Kind::records: {
                const auto records = as<Records>(value);
                if (records.is_external()) {
                    text_ += "external(" + std::to_string(records.size) + ")";
                    return;
                }
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

    /// True if the text is full; the first time it also appends "...".
    bool is_full() {
        if (text_.size() < max_text_bytes_) {
            return false;
        }
        if (!text_.ends_with("...")) {
            text_ += "...";
        }
        return true;
    }

    void write_string(std::optional<std::string_view> text) {
        if (!text) {
            text_ += "null";
            return;
        }
        text_ += '"';
        for (const char character : *text) {
            const auto byte = static_cast<unsigned char>(character);
            if (character == '"' || character == '\\') {
                text_ += '\\';
                text_ += character;
            } else if (byte < 0x20 || byte == 0x7f) {
                write_hex("\\x", byte);
            } else {
                text_ += character;
            }
        }
        text_ += '"';
    }

    void write_bytes(std::optional<Bytes> bytes) {
        if (!bytes) {
            text_ += "null";
            return;
        }
        text_ += "0x";
        const std::size_t shown = bytes->size() < max_bytes_ ? bytes->size() : max_bytes_;
        for (std::size_t i = 0; i < shown; ++i) {
            write_hex("", static_cast<unsigned char>((*bytes)[i]));
        }
        if (shown < bytes->size()) {
            text_ += "... (" + std::to_string(bytes->size()) + " bytes)";
        }
    }

    void write_hex(const char* prefix, unsigned char byte) {
        char digits[8];
        std::snprintf(digits, sizeof digits, "%s%02x", prefix, byte);
        text_ += digits;
    }

    std::int16_t version_;
    std::size_t max_bytes_;
    std::size_t max_text_bytes_;
    std::string text_;
};

}  // namespace

bool equal(const Schema& schema, const void* left, const void* right) {
    for (const Field& field : schema.fields) {
        if (!equal_value(field, member(left, field), member(right, field))) {
            return false;
        }
    }
    return true;
}

std::string to_text(const Schema& schema, const void* message, std::int16_t version, std::size_t max_bytes) {
    TextWriter writer(version, max_bytes, std::numeric_limits<std::size_t>::max());
    writer.write_struct(schema, message);
    return writer.take();
}

std::string to_short_line(const Schema& schema, const void* message, std::int16_t version, std::size_t max_bytes) {
    TextWriter writer(version, 0, max_bytes);
    writer.write_struct(schema, message);
    return writer.take();
}

}  // namespace partita
