#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "protocol/schema.h"

/// Access to the members of a message by its table: for the codec's interpreters, and for other code that walks messages of any
/// kind.
namespace partita::codec_detail {

/// Size of one member, or of one element of an array.
[[nodiscard]] constexpr std::size_t value_size(Kind kind, const Schema* nested) {
    switch (kind) {
        case Kind::boolean:
            return sizeof(bool);
        case Kind::int8:
            return 1;
        case Kind::int16:
        case Kind::uint16:
            return 2;
        case Kind::int32:
        case Kind::uint32:
            return 4;
        case Kind::int64:
            return 8;
        case Kind::float64:
            return sizeof(double);
        case Kind::uuid:
            return sizeof(Uuid);
        case Kind::string:
            return sizeof(std::string_view);
        case Kind::nullable_string:
            return sizeof(std::optional<std::string_view>);
        case Kind::bytes:
            return sizeof(Bytes);
        case Kind::nullable_bytes:
            return sizeof(std::optional<Bytes>);
        case Kind::records:
            return sizeof(Records);
        case Kind::structure:
            return nested->size;
        case Kind::nullable_structure:
            return sizeof(void*);
    }
    return 0;
}

[[nodiscard]] constexpr std::size_t value_alignment(Kind kind, const Schema* nested) {
    switch (kind) {
        case Kind::boolean:
        case Kind::int8:
        case Kind::uuid:
            return 1;
        case Kind::int16:
        case Kind::uint16:
            return 2;
        case Kind::int32:
        case Kind::uint32:
            return 4;
        case Kind::structure:
            return nested->alignment;
        case Kind::int64:
        case Kind::float64:
        case Kind::string:
        case Kind::nullable_string:
        case Kind::bytes:
        case Kind::nullable_bytes:
        case Kind::records:
        case Kind::nullable_structure:
            return 8;
    }
    return 8;
}

/// Reads a member by copying its bytes. So an enumeration or a pointer can be handled as its representation without breaking the
/// aliasing rules.
template <class T>
[[nodiscard]] inline T as(const void* value) {
    T copy;
    std::memcpy(static_cast<void*>(&copy), value, sizeof copy);
    return copy;
}
template <class T>
inline void put(void* place, const T& value) {
    std::memcpy(place, &value, sizeof value);
}

[[nodiscard]] inline void* member(void* message, const Field& field) { return static_cast<std::byte*>(message) + field.offset; }
[[nodiscard]] inline const void* member(const void* message, const Field& field) {
    return static_cast<const std::byte*>(message) + field.offset;
}

/// The text of a string member of either form; nullopt for null.
[[nodiscard]] inline std::optional<std::string_view> text_of(Kind kind, const void* value) {
    if (kind == Kind::string) {
        return as<std::string_view>(value);
    }
    return as<std::optional<std::string_view>>(value);
}
[[nodiscard]] inline std::optional<Bytes> bytes_of(Kind kind, const void* value) {
    if (kind == Kind::bytes) {
        return as<Bytes>(value);
    }
    return as<std::optional<Bytes>>(value);
}

/// The struct that a member holds or points to; nullptr for null.
[[nodiscard]] inline const void* struct_of(Kind kind, const void* value) {
    return kind == Kind::structure ? value : as<const void*>(value);
}

/// True when the field of `message` holds its default.
[[nodiscard]] bool is_default(const Schema& schema, const Field& field, const void* message);
[[nodiscard]] bool equal_value(const Field& field, const void* left, const void* right);

}  // namespace partita::codec_detail
