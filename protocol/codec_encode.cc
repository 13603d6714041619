#include <bit>
#include <cstring>

#include "protocol/assert.h"
#include "protocol/codec.h"
#include "protocol/codec_member.h"
#include "protocol/cursor.h"
#include "protocol/try.h"

namespace partita {
namespace {

using namespace codec_detail;

constexpr std::size_t kMaxEncodedStringBytes = 0x7fff;
constexpr std::size_t kMaxMessageBytes = 0x7fffffff;

/// First pass: counts bytes, and finds everything that cannot be encoded.
class SizeSink {
  public:
    static constexpr bool kMeasures = true;

    template <class Integer>
    void integer(Integer) {
        size_.buffered += sizeof(Integer);
    }
    void varint(std::uint32_t value) { size_.buffered += unsigned_varint_size(value); }
    void raw(Bytes bytes) { size_.buffered += bytes.size(); }
    void external(const Records& records) {
        size_.external += static_cast<std::size_t>(records.size);
        has_external_ = true;
    }

    [[nodiscard]] EncodedSize size() const { return size_; }
    [[nodiscard]] bool has_external() const { return has_external_; }

  private:
    EncodedSize size_;
    bool has_external_ = false;
};

/// Second pass: writes into the room that the first pass measured.
class WriteSink {
  public:
    static constexpr bool kMeasures = false;

    WriteSink(std::byte* at, const std::byte* buffer_start, std::vector<SplitPoint>* splits)
        : at_(at), buffer_start_(buffer_start), splits_(splits) {}

    template <class Integer>
    void integer(Integer value) {
        store_big_endian(at_, value);
        at_ += sizeof value;
    }
    void varint(std::uint32_t value) { at_ = store_unsigned_varint(at_, value); }
    void raw(Bytes bytes) {
        if (bytes.empty()) {
            return;
        }
        std::memcpy(at_, bytes.data(), bytes.size());
        at_ += bytes.size();
    }
    void external(const Records& records) {
        splits_->push_back({static_cast<std::size_t>(at_ - buffer_start_), records.external_index, records.size});
    }

    [[nodiscard]] const std::byte* at() const { return at_; }

  private:
    std::byte* at_;
    const std::byte* buffer_start_;
    std::vector<SplitPoint>* splits_;
};

template <class Sink>
class Encoder {
  public:
    Encoder(Sink& sink, std::int16_t version, bool flexible) : sink_(sink), version_(version), flexible_(flexible) {}

    [[nodiscard]] bool encode_struct(const Schema& schema, const void* message);
    [[nodiscard]] bool encode_field(const Field& field, const void* value);
    [[nodiscard]] EncodeError error() const { return error_; }

  private:
    [[nodiscard]] bool encode_array(const Field& field, bool flexible, const ArrayBase& array);
    [[nodiscard]] bool encode_value(const Field& field, bool flexible, const void* value);
    [[nodiscard]] bool encode_records(const Field& field, bool flexible, const Records& records);
    [[nodiscard]] bool encode_tags(const Schema& schema, const void* message, std::uint32_t count);
    /// The field with the least tag above `tag`; nullptr if none is left.
    [[nodiscard]] const Field* next_tagged(const Schema& schema, std::int32_t tag) const;

    /// Encodes a length or count, or the null form after checking that null is allowed.
    template <class Classic>
    void encode_length(bool flexible, std::size_t length) {
        if (flexible) {
            sink_.varint(static_cast<std::uint32_t>(length + 1));
        } else {
            sink_.integer(static_cast<Classic>(length));
        }
    }
    template <class Classic>
    [[nodiscard]] bool encode_null(const Field& field, bool flexible) {
        if (!field.nullable.contains(version_)) {
            return fail(EncodeFailure::null_not_allowed, field);
        }
        if (flexible) {
            sink_.varint(0);
        } else {
            sink_.integer(static_cast<Classic>(-1));
        }
        return true;
    }

    bool fail(EncodeFailure failure, const Field& field) {
        error_ = {failure, field.name};
        return false;
    }

    Sink& sink_;
    std::int16_t version_;
    bool flexible_;
    EncodeError error_;
};

template <class Sink>
bool Encoder<Sink>::encode_struct(const Schema& schema, const void* message) {
    std::uint32_t tag_count = 0;
    for (const Field& field : schema.fields) {
        if (!field.versions.contains(version_)) {
            if constexpr (Sink::kMeasures) {
                if (!field.ignorable && !is_default(schema, field, message)) {
                    return fail(EncodeFailure::unsupported_field, field);
                }
            }
            continue;
        }
        if (flexible_ && field.tagged.contains(version_)) {
            if (!is_default(schema, field, message)) {
                ++tag_count;
            }
            continue;
        }
        if (!encode_field(field, member(message, field))) {
            return false;
        }
    }
    return !flexible_ || encode_tags(schema, message, tag_count);
}

template <class Sink>
const Field* Encoder<Sink>::next_tagged(const Schema& schema, std::int32_t tag) const {
    const Field* next = nullptr;
    for (const Field& field : schema.fields) {
        if (!field.tagged.contains(version_) || !field.versions.contains(version_) || field.tag <= tag) {
            continue;
        }
        if (next == nullptr || field.tag < next->tag) {
            next = &field;
        }
    }
    return next;
}

template <class Sink>
bool Encoder<Sink>::encode_tags(const Schema& schema, const void* message, std::uint32_t count) {
    sink_.varint(count);
    if (count == 0) {
        return true;
    }
    // Tags go in ascending order, fields in the order of their definition. The two orders differ in TransactionLogValue.
    for (const Field* next = next_tagged(schema, -1); next != nullptr; next = next_tagged(schema, next->tag)) {
        const Field& field = *next;
        if (is_default(schema, field, message)) {
            continue;
        }
        SizeSink measure;
        Encoder<SizeSink> measurer(measure, version_, flexible_);
        if (!measurer.encode_field(field, member(message, field))) {
            error_ = measurer.error();
            return false;
        }
        sink_.varint(static_cast<std::uint32_t>(field.tag));
        sink_.varint(static_cast<std::uint32_t>(measure.size().total()));
        if (!encode_field(field, member(message, field))) {
            return false;
        }
    }
    return true;
}

template <class Sink>
bool Encoder<Sink>::encode_field(const Field& field, const void* value) {
    const bool flexible = flexible_ && !field.always_classic;
    return field.is_array ? encode_array(field, flexible, as<ArrayBase>(value)) : encode_value(field, flexible, value);
}

template <class Sink>
bool Encoder<Sink>::encode_array(const Field& field, bool flexible, const ArrayBase& array) {
    if (array.size < 0) {
        return encode_null<std::int32_t>(field, flexible);
    }
    encode_length<std::int32_t>(flexible, static_cast<std::size_t>(array.size));
    const std::size_t element_size = value_size(field.kind, field.nested);
    const auto* element = static_cast<const std::byte*>(array.data);
    for (std::int32_t i = 0; i < array.size; ++i, element += element_size) {
        if (!encode_value(field, flexible, element)) {
            return false;
        }
    }
    return true;
}

template <class Sink>
bool Encoder<Sink>::encode_records(const Field& field, bool flexible, const Records& records) {
    if (records.is_null()) {
        return encode_null<std::int32_t>(field, flexible);
    }
    encode_length<std::int32_t>(flexible, static_cast<std::size_t>(records.size));
    if (records.is_external()) {
        sink_.external(records);
    } else {
        sink_.raw(records.bytes());
    }
    return true;
}

template <class Sink>
bool Encoder<Sink>::encode_value(const Field& field, bool flexible, const void* value) {
    switch (field.kind) {
        case Kind::boolean:
            sink_.integer(static_cast<std::int8_t>(as<bool>(value) ? 1 : 0));
            return true;
        case Kind::int8:
            sink_.integer(as<std::int8_t>(value));
            return true;
        case Kind::int16:
            sink_.integer(as<std::int16_t>(value));
            return true;
        case Kind::uint16:
            sink_.integer(as<std::uint16_t>(value));
            return true;
        case Kind::int32:
            sink_.integer(as<std::int32_t>(value));
            return true;
        case Kind::uint32:
            sink_.integer(as<std::uint32_t>(value));
            return true;
        case Kind::int64:
            sink_.integer(as<std::int64_t>(value));
            return true;
        case Kind::float64:
            sink_.integer(std::bit_cast<std::uint64_t>(as<double>(value)));
            return true;
        case Kind::uuid:
            sink_.raw({static_cast<const std::byte*>(value), sizeof(Uuid)});
            return true;
        case Kind::string:
        case Kind::nullable_string: {
            const std::optional<std::string_view> text = text_of(field.kind, value);
            if (!text) {
                return encode_null<std::int16_t>(field, flexible);
            }
            if (text->size() > kMaxEncodedStringBytes) {
                return fail(EncodeFailure::too_long, field);
            }
            encode_length<std::int16_t>(flexible, text->size());
            sink_.raw(as_bytes(*text));
            return true;
        }
        case Kind::bytes:
        case Kind::nullable_bytes: {
            const std::optional<Bytes> bytes = bytes_of(field.kind, value);
            if (!bytes) {
                return encode_null<std::int32_t>(field, flexible);
            }
            if (bytes->size() > kMaxMessageBytes) {
                return fail(EncodeFailure::too_long, field);
            }
            encode_length<std::int32_t>(flexible, bytes->size());
            sink_.raw(*bytes);
            return true;
        }
        case Kind::records:
            return encode_records(field, flexible, as<Records>(value));
        case Kind::structure:
            return encode_struct(*field.nested, value);
        case Kind::nullable_structure: {
            const void* object = struct_of(field.kind, value);
            if (object == nullptr) {
                if (!field.nullable.contains(version_)) {
                    return fail(EncodeFailure::null_not_allowed, field);
                }
                sink_.integer(std::int8_t{-1});
                return true;
            }
            sink_.integer(std::int8_t{1});
            return encode_struct(*field.nested, object);
        }
    }
    return false;
}

struct Measured {
    EncodedSize size;
    bool has_external = false;
};

std::expected<Measured, EncodeError> measure(const Schema& schema, const void* message, std::int16_t version) {
    if (!schema.versions.contains(version)) {
        return std::unexpected(EncodeError{EncodeFailure::unsupported_version, {}});
    }
    SizeSink sink;
    Encoder<SizeSink> encoder(sink, version, schema.is_flexible(version));
    if (!encoder.encode_struct(schema, message)) {
        return std::unexpected(encoder.error());
    }
    if (sink.size().total() > kMaxMessageBytes) {
        return std::unexpected(EncodeError{EncodeFailure::too_long, {}});
    }
    return Measured{sink.size(), sink.has_external()};
}

}  // namespace

std::expected<EncodedSize, EncodeError> encoded_size(const Schema& schema, const void* message, std::int16_t version) {
    PARTITA_TRY_ASSIGN(auto measured, measure(schema, message, version));
    return measured.size;
}

std::expected<EncodedSize, EncodeError> encode(const Schema& schema, const void* message, std::int16_t version, ByteBuffer& out,
                                               std::vector<SplitPoint>* splits) {
    PARTITA_TRY_ASSIGN(auto measured, measure(schema, message, version));
    if (measured.has_external && splits == nullptr) {
        return std::unexpected(EncodeError{EncodeFailure::external_not_expected, {}});
    }
    std::byte* place = out.extend(measured.size.buffered);
    WriteSink sink(place, out.data(), splits);
    Encoder<WriteSink> encoder(sink, version, schema.is_flexible(version));
    const bool written = encoder.encode_struct(schema, message);
    PARTITA_ASSERT(written, "what can be measured can be written");
    PARTITA_ASSERT(sink.at() == place + measured.size.buffered, "both passes agree on the size");
    return measured.size;
}

std::string_view to_string(EncodeFailure failure) {
    switch (failure) {
        case EncodeFailure::unsupported_version:
            return "unknown version";
        case EncodeFailure::unsupported_field:
            return "the version does not have the field";
        case EncodeFailure::null_not_allowed:
            return "null where none is allowed";
        case EncodeFailure::too_long:
            return "too long";
        case EncodeFailure::external_not_expected:
            return "external records without split points";
    }
    return "unknown";
}

}  // namespace partita
