#include <bit>
#include <cstring>

#include "protocol/assert.h"
#include "protocol/codec.h"
#include "protocol/codec_member.h"
#include "protocol/cursor.h"

namespace partita {
namespace {

using namespace codec_detail;

/// Kafka's strings are at most this long in both encodings: the classic length is an int16.
constexpr std::uint32_t kMaxDecodedStringBytes = 0x7fff;

class Decoder {
  public:
    Decoder(const Schema& schema, Bytes bytes, std::int16_t version, Arena& arena)
        : in_(bytes), version_(version), flexible_(schema.is_flexible(version)), arena_(arena) {}

    /// Decodes a struct; `out` holds the defaults.
    [[nodiscard]] bool decode_struct(const Schema& schema, void* out);

    [[nodiscard]] std::size_t consumed() const { return base_ + in_.position(); }
    [[nodiscard]] DecodeError error() const { return error_; }

  private:
    enum class Length { ok, null, failed };

    [[nodiscard]] bool decode_field(const Field& field, void* out);
    [[nodiscard]] bool decode_array(const Field& field, bool flexible, void* out);
    [[nodiscard]] bool decode_value(const Field& field, bool flexible, void* out);
    [[nodiscard]] bool decode_text(const Field& field, bool flexible, std::string_view& out, bool& null);
    [[nodiscard]] bool decode_blob(const Field& field, bool flexible, Bytes& out, bool& null);
    [[nodiscard]] bool decode_nullable_struct(const Field& field, void* out);
    [[nodiscard]] bool decode_tags(const Schema& schema, void* out);
    [[nodiscard]] bool decode_known_tag(const Field& field, std::uint32_t size, void* out);
    /// Reads a length or count; null for the null form.
    template <class Classic>
    [[nodiscard]] Length decode_length(const Field& field, bool flexible, std::uint32_t& out);

    template <class Integer>
    [[nodiscard]] bool decode_integer(const Field& field, void* out) {
        Integer value = 0;
        if (!in_.read(value)) {
            return fail(DecodeFailure::truncated, field);
        }
        put(out, value);
        return true;
    }

    bool fail(DecodeFailure failure, const Field& field) { return fail(failure, field.name); }
    bool fail(DecodeFailure failure, std::string_view field) {
        error_ = {failure, consumed(), field};
        return false;
    }

    /// The remaining bytes, minus the least size of elements that were announced but not yet read.
    [[nodiscard]] std::size_t unclaimed() const { return in_.remaining() > claimed_ ? in_.remaining() - claimed_ : 0; }

    Cursor in_;
    /// The least size of all elements still to come, of all arrays around the current position. Without it every level of nested
    /// arrays could claim the same bytes, and be allocated for them.
    std::size_t claimed_ = 0;
    std::size_t base_ = 0;  ///< Position of in_'s start in the whole input, for messages.
    std::int16_t version_;
    bool flexible_;
    Arena& arena_;
    DecodeError error_;
};

bool Decoder::decode_struct(const Schema& schema, void* out) {
    for (const Field& field : schema.fields) {
        if (!field.versions.contains(version_)) {
            continue;
        }
        if (flexible_ && field.tagged.contains(version_)) {
            continue;
        }
        if (!decode_field(field, member(out, field))) {
            return false;
        }
    }
    return !flexible_ || decode_tags(schema, out);
}

bool Decoder::decode_field(const Field& field, void* out) {
    const bool flexible = flexible_ && !field.always_classic;
    return field.is_array ? decode_array(field, flexible, out) : decode_value(field, flexible, out);
}

template <class Classic>
Decoder::Length Decoder::decode_length(const Field& field, bool flexible, std::uint32_t& out) {
    if (flexible) {
        std::uint32_t length_plus_one = 0;
        if (!in_.read_unsigned_varint(length_plus_one)) {
            fail(DecodeFailure::truncated, field);
            return Length::failed;
        }
        if (length_plus_one == 0) {
            return Length::null;
        }
        out = length_plus_one - 1;
        if (out > 0x7fffffff) {
            fail(DecodeFailure::length_out_of_range, field);
            return Length::failed;
        }
        return Length::ok;
    }
    Classic length = 0;
    if (!in_.read(length)) {
        fail(DecodeFailure::truncated, field);
        return Length::failed;
    }
    if (length < 0) {
        return Length::null;
    }
    out = static_cast<std::uint32_t>(length);
    return Length::ok;
}

bool Decoder::decode_array(const Field& field, bool flexible, void* out) {
    std::uint32_t count = 0;
    switch (decode_length<std::int32_t>(field, flexible, count)) {
        case Length::failed:
            return false;
        case Length::null:
            if (!field.nullable.contains(version_)) {
                return fail(DecodeFailure::null_not_allowed, field);
            }
            put(out, ArrayBase{nullptr, -1});
            return true;
        case Length::ok:
            break;
    }
    // Checks the bound before it allocates: a count is a claim, the remaining bytes are a fact.
    std::size_t least = 1;
    switch (field.kind) {
        case Kind::structure:
            least = min_encoded_size(*field.nested, version_, flexible_);
            break;
        case Kind::boolean:
        case Kind::int8:
        case Kind::int16:
        case Kind::uint16:
        case Kind::int32:
        case Kind::uint32:
        case Kind::int64:
        case Kind::float64:
        case Kind::uuid:
            least = value_size(field.kind, nullptr);
            break;
        case Kind::string:
        case Kind::nullable_string:
            least = flexible ? 1 : 2;
            break;
        case Kind::bytes:
        case Kind::nullable_bytes:
        case Kind::records:
            least = flexible ? 1 : 4;
            break;
        case Kind::nullable_structure:
            least = 1;
            break;
    }
    if (count > unclaimed() / least) {
        return fail(DecodeFailure::truncated, field);
    }

    const std::size_t element_size = value_size(field.kind, field.nested);
    void* elements = nullptr;
    if (count > 0) {
        elements = arena_.allocate(count * element_size, value_alignment(field.kind, field.nested));
        if (elements == nullptr) {
            return fail(DecodeFailure::memory_limit, field);
        }
    }
    put(out, ArrayBase{elements, static_cast<std::int32_t>(count)});
    auto* element = static_cast<std::byte*>(elements);
    claimed_ += count * least;
    for (std::uint32_t i = 0; i < count; ++i, element += element_size) {
        claimed_ -= least;
        if (field.kind == Kind::structure) {
            std::memcpy(element, field.nested->defaults, element_size);
        } else {
            std::memset(element, 0, element_size);
        }
        if (!decode_value(field, flexible, element)) {
            return false;
        }
    }
    return true;
}

bool Decoder::decode_text(const Field& field, bool flexible, std::string_view& out, bool& null) {
    std::uint32_t length = 0;
    switch (decode_length<std::int16_t>(field, flexible, length)) {
        case Length::failed:
            return false;
        case Length::null:
            null = true;
            return true;
        case Length::ok:
            break;
    }
    if (length > kMaxDecodedStringBytes) {
        return fail(DecodeFailure::string_too_long, field);
    }
    Bytes bytes;
    if (!in_.read_bytes(length, bytes)) {
        return fail(DecodeFailure::truncated, field);
    }
    out = as_text(bytes);
    return true;
}

bool Decoder::decode_blob(const Field& field, bool flexible, Bytes& out, bool& null) {
    std::uint32_t length = 0;
    switch (decode_length<std::int32_t>(field, flexible, length)) {
        case Length::failed:
            return false;
        case Length::null:
            null = true;
            return true;
        case Length::ok:
            break;
    }
    return in_.read_bytes(length, out) || fail(DecodeFailure::truncated, field);
}

bool Decoder::decode_nullable_struct(const Field& field, void* out) {
    std::int8_t presence = 0;
    if (!in_.read(presence)) {
        return fail(DecodeFailure::truncated, field);
    }
    if (presence < 0) {
        if (!field.nullable.contains(version_)) {
            return fail(DecodeFailure::null_not_allowed, field);
        }
        put<void*>(out, nullptr);
        return true;
    }
    void* object = arena_.allocate(field.nested->size, field.nested->alignment);
    if (object == nullptr) {
        return fail(DecodeFailure::memory_limit, field);
    }
    std::memcpy(object, field.nested->defaults, field.nested->size);
    put(out, object);
    return decode_struct(*field.nested, object);
}

bool Decoder::decode_value(const Field& field, bool flexible, void* out) {
    bool null = false;
    // In Kafka's definitions only fields are nullable, never the elements of arrays.
    const bool may_be_null = !field.is_array && field.nullable.contains(version_);
    switch (field.kind) {
        case Kind::boolean: {
            std::int8_t value = 0;
            if (!in_.read(value)) {
                return fail(DecodeFailure::truncated, field);
            }
            put(out, value != 0);
            return true;
        }
        case Kind::int8:
            return decode_integer<std::int8_t>(field, out);
        case Kind::int16:
            return decode_integer<std::int16_t>(field, out);
        case Kind::uint16:
            return decode_integer<std::uint16_t>(field, out);
        case Kind::int32:
            return decode_integer<std::int32_t>(field, out);
        case Kind::uint32:
            return decode_integer<std::uint32_t>(field, out);
        case Kind::int64:
            return decode_integer<std::int64_t>(field, out);
        case Kind::float64:
            return decode_integer<std::uint64_t>(field, out);  // Same size; the bits are copied unchanged.
        case Kind::uuid: {
            Bytes bytes;
            if (!in_.read_bytes(sizeof(Uuid), bytes)) {
                return fail(DecodeFailure::truncated, field);
            }
            std::memcpy(out, bytes.data(), sizeof(Uuid));
            return true;
        }
        case Kind::string:
        case Kind::nullable_string: {
            std::string_view text;
            if (!decode_text(field, flexible, text, null)) {
                return false;
            }
            if (null && (!may_be_null || field.kind == Kind::string)) {
                return fail(DecodeFailure::null_not_allowed, field);
            }
            if (field.kind == Kind::string) {
                put(out, text);
            } else {
                put<std::optional<std::string_view>>(out, null ? std::nullopt : std::optional(text));
            }
            return true;
        }
        case Kind::bytes:
        case Kind::nullable_bytes: {
            Bytes bytes;
            if (!decode_blob(field, flexible, bytes, null)) {
                return false;
            }
            if (null && (!may_be_null || field.kind == Kind::bytes)) {
                return fail(DecodeFailure::null_not_allowed, field);
            }
            if (field.kind == Kind::bytes) {
                put(out, bytes);
            } else {
                put<std::optional<Bytes>>(out, null ? std::nullopt : std::optional(bytes));
            }
            return true;
        }
        case Kind::records: {
            Bytes bytes;
            if (!decode_blob(field, flexible, bytes, null)) {
                return false;
            }
            if (null && !may_be_null) {
                return fail(DecodeFailure::null_not_allowed, field);
            }
            put<Records>(out, null ? Records(nullptr) : Records(bytes));
            return true;
        }
        case Kind::structure:
            return decode_struct(*field.nested, out);
        case Kind::nullable_structure:
            return decode_nullable_struct(field, out);
    }
    return false;
}

bool Decoder::decode_tags(const Schema& schema, void* out) {
    std::uint32_t count = 0;
    if (!in_.read_unsigned_varint(count)) {
        return fail(DecodeFailure::truncated, std::string_view{});
    }
    // A tagged field is at least a tag and a size, one byte each.
    if (count > unclaimed() / 2) {
        return fail(DecodeFailure::truncated, std::string_view{});
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t tag = 0;
        std::uint32_t size = 0;
        if (!in_.read_unsigned_varint(tag) || !in_.read_unsigned_varint(size) || size > unclaimed()) {
            return fail(DecodeFailure::truncated, std::string_view{});
        }
        const Field* known = nullptr;
        for (const Field& field : schema.fields) {
            if (field.tagged.contains(version_) && field.versions.contains(version_) &&
                static_cast<std::uint32_t>(field.tag) == tag) {
                known = &field;
            }
        }
        const bool read = known != nullptr ? decode_known_tag(*known, size, out) : in_.skip(size);
        if (!read) {
            return false;
        }
    }
    return true;
}

bool Decoder::decode_known_tag(const Field& field, std::uint32_t size, void* out) {
    Bytes bytes;
    const std::size_t start = consumed();
    if (!in_.read_bytes(size, bytes)) {
        return fail(DecodeFailure::truncated, field);
    }
    const Cursor rest = in_;
    const std::size_t base = base_;
    const std::size_t claimed = claimed_;
    in_ = Cursor(bytes);
    claimed_ = 0;  // Elements to come lie behind the tag, not in it.
    base_ = start;
    // A tag may come twice; values that the first left in an inline struct must not remain.
    if (field.kind == Kind::structure && !field.is_array) {
        std::memcpy(member(out, field), field.nested->defaults, field.nested->size);
    }
    if (!decode_field(field, member(out, field))) {
        return false;
    }
    if (in_.remaining() != 0) {
        return fail(DecodeFailure::tag_size_mismatch, field);
    }
    in_ = rest;
    base_ = base;
    claimed_ = claimed;
    return true;
}

}  // namespace

std::size_t min_encoded_size(const Schema& schema, std::int16_t version, bool flexible) {
    std::size_t size = flexible ? 1 : 0;
    for (const Field& field : schema.fields) {
        if (!field.versions.contains(version)) {
            continue;
        }
        if (flexible && field.tagged.contains(version)) {
            continue;
        }
        const bool compact = flexible && !field.always_classic;
        if (field.is_array) {
            size += compact ? 1 : 4;
            continue;
        }
        switch (field.kind) {
            case Kind::structure:
                size += min_encoded_size(*field.nested, version, flexible);
                break;
            case Kind::nullable_structure:
                size += 1;
                break;
            case Kind::string:
            case Kind::nullable_string:
                size += compact ? 1 : 2;
                break;
            case Kind::bytes:
            case Kind::nullable_bytes:
            case Kind::records:
                size += compact ? 1 : 4;
                break;
            case Kind::boolean:
            case Kind::int8:
            case Kind::int16:
            case Kind::uint16:
            case Kind::int32:
            case Kind::uint32:
            case Kind::int64:
            case Kind::float64:
            case Kind::uuid:
                size += value_size(field.kind, nullptr);
        }
    }
    return size == 0 ? 1 : size;
}

std::expected<std::size_t, DecodeError> decode(const Schema& schema, Bytes bytes, std::int16_t version, Arena& arena, void* out) {
    if (!schema.versions.contains(version)) {
        return std::unexpected(DecodeError{DecodeFailure::unsupported_version, 0, {}});
    }
    std::memcpy(out, schema.defaults, schema.size);
    Decoder decoder(schema, bytes, version, arena);
    if (!decoder.decode_struct(schema, out)) {
        return std::unexpected(decoder.error());
    }
    return decoder.consumed();
}

std::string_view to_string(DecodeFailure failure) {
    switch (failure) {
        case DecodeFailure::truncated:
            return "a value reaches beyond the end";
        case DecodeFailure::null_not_allowed:
            return "null where none is allowed";
        case DecodeFailure::string_too_long:
            return "string too long";
        case DecodeFailure::length_out_of_range:
            return "length out of range";
        case DecodeFailure::tag_size_mismatch:
            return "a tagged field has a wrong length";
        case DecodeFailure::memory_limit:
            return "decoded form too large";
        case DecodeFailure::unsupported_version:
            return "unknown version";
        case DecodeFailure::unknown_value:
            return "a number without a meaning";
    }
    return "unknown";
}

}  // namespace partita
