#include "tests/unit/protocol/message_generator.h"

#include <cstring>

#include "protocol/codec_member.h"

namespace partita::testing {

using namespace codec_detail;

namespace {

constexpr std::uint64_t kMaxElements = 4;
constexpr std::uint64_t kMaxBlobBytes = 24;

}  // namespace

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t MessageGenerator::next() {
    std::uint64_t value = (state_ += 0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

void MessageGenerator::generate(const Schema& schema, std::int16_t version, void* out) {
    version_ = version;
    generate_struct(schema, out);
}

void MessageGenerator::generate_struct(const Schema& schema, void* out) {
    std::memcpy(out, schema.defaults, schema.size);
    ++depth_;
    for (const Field& field : schema.fields) {
        if (!field.versions.contains(version_)) {
            continue;
        }
        if (below(6) == 0 && !(field.kind == Kind::structure && !field.is_array)) {
            // The field keeps its default when the version can express it: a default may be null in versions that have no null.
            const bool null_default = (field.is_array && as<ArrayBase>(member(out, field)).size < 0) ||
                                      (!field.is_array && field.kind != Kind::boolean);
            if (!null_default || field.nullable.contains(version_)) {
                continue;
            }
        }
        generate_field(field, member(out, field));
    }
    --depth_;
}

void MessageGenerator::generate_field(const Field& field, void* out) {
    const bool may_be_null = field.nullable.contains(version_);
    if (!field.is_array) {
        return generate_value(field, out, may_be_null);
    }
    if (may_be_null && below(5) == 0) {
        put(out, ArrayBase{nullptr, -1});
        return;
    }
    const std::uint64_t count = below(depth_ > 3 ? 2 : kMaxElements);
    const std::size_t element_size = value_size(field.kind, field.nested);
    auto* elements =
        static_cast<std::byte*>(arena_.allocate_unlimited(count * element_size, value_alignment(field.kind, field.nested)));
    for (std::uint64_t i = 0; i < count; ++i) {
        generate_value(field, elements + i * element_size, false);
    }
    put(out, ArrayBase{elements, static_cast<std::int32_t>(count)});
}

Bytes MessageGenerator::random_bytes() {
    const std::uint64_t size = below(40) == 0 ? 200 : below(kMaxBlobBytes);
    auto* bytes = static_cast<std::byte*>(arena_.allocate_unlimited(size, 1));
    for (std::uint64_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(next());
    }
    return {bytes, size};
}

void MessageGenerator::generate_value(const Field& field, void* out, bool may_be_null) {
    const bool null = may_be_null && below(4) == 0;
    // Edges come up often: zero, minus one, the extremes.
    std::uint64_t number = next();
    switch (below(6)) {
        case 0:
            number = 0;
            break;
        case 1:
            number = ~std::uint64_t{0};
            break;
        case 2:
            number = 0x7fffffffffffffff;
            break;
        case 3:
            number = 0x8080808080808080;
            break;
        default:
            break;
    }
    switch (field.kind) {
        case Kind::boolean:
            put(out, (number & 1) != 0);
            return;
        case Kind::int8:
            put(out, static_cast<std::int8_t>(number));
            return;
        case Kind::int16:
        case Kind::uint16:
            put(out, static_cast<std::uint16_t>(number));
            return;
        case Kind::int32:
        case Kind::uint32:
            put(out, static_cast<std::uint32_t>(number));
            return;
        case Kind::int64:
        case Kind::float64:
            put(out, number);
            return;
        case Kind::uuid: {
            const std::uint64_t halves[2] = {number, next()};
            std::memcpy(out, halves, sizeof halves);
            return;
        }
        case Kind::string:
            put(out, as_text(random_bytes()));
            return;
        case Kind::nullable_string:
            put<std::optional<std::string_view>>(out, null ? std::nullopt : std::optional(as_text(random_bytes())));
            return;
        case Kind::bytes:
            put(out, random_bytes());
            return;
        case Kind::nullable_bytes:
            put<std::optional<Bytes>>(out, null ? std::nullopt : std::optional(random_bytes()));
            return;
        case Kind::records:
            put(out, null ? Records(nullptr) : Records(random_bytes()));
            return;
        case Kind::structure:
            generate_struct(*field.nested, out);
            return;
        case Kind::nullable_structure: {
            void* object = nullptr;
            if (!null) {
                object = arena_.allocate_unlimited(field.nested->size, field.nested->alignment);
                generate_struct(*field.nested, object);
            }
            put(out, object);
            return;
        }
    }
}

}  // namespace partita::testing
