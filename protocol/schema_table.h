#pragma once

#include <cstddef>

#include "protocol/schema.h"

/// The small language of the tables in `protocol/messages/*.cc`. Only those files include this header. A table reads like this:
///
///     PARTITA_MESSAGE(HeartbeatRequest, versions(0, 4), flexible_since(4),
///         FIELD(group_id, "GroupId"),
///         FIELD(group_instance_id, "GroupInstanceId", since(3), nullable(since(3)), ignorable))
///
/// The member's type gives the kind of a field. A field without `since` or `versions` is in all versions. The order of the fields
/// is the order on the wire.
namespace partita::table {

consteval Versions versions(std::int16_t first, std::int16_t last) { return {first, last}; }
consteval Versions since(std::int16_t first) { return Versions{.first = first}; }

struct FieldOption {
    enum class What { present, nullable, tagged, ignorable, always_classic } what;
    Versions range{};
    std::int32_t tag = -1;

    constexpr FieldOption(Versions present) : what(What::present), range(present) {}
    constexpr FieldOption(What what_, Versions range_ = {}, std::int32_t tag_ = -1) : what(what_), range(range_), tag(tag_) {}
};

/// The field may be null in these versions.
consteval FieldOption nullable(Versions range = {}) { return {FieldOption::What::nullable, range}; }
/// The field is encoded as a tagged field in these versions.
consteval FieldOption tagged(std::int32_t tag, Versions range) { return {FieldOption::What::tagged, range, tag}; }
/// Versions without the field leave it out silently.
inline constexpr FieldOption ignorable{FieldOption::What::ignorable};
/// The field keeps its classic length prefix in flexible versions.
inline constexpr FieldOption always_classic{FieldOption::What::always_classic};

consteval std::int16_t flexible_since(std::int16_t version) { return version; }
inline constexpr std::int16_t never_flexible = kNeverFlexible;

struct MemberType {
    Kind kind = Kind::boolean;
    bool is_array = false;
    const Schema* nested = nullptr;
};

template <class T>
consteval MemberType member_type() {
    if constexpr (std::is_same_v<T, bool>) {
        return {Kind::boolean};
    } else if constexpr (std::is_same_v<T, std::int8_t>) {
        return {Kind::int8};
    } else if constexpr (std::is_same_v<T, std::int16_t> || std::is_same_v<T, ErrorCode>) {
        return {Kind::int16};
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
        return {Kind::uint16};
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return {Kind::int32};
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
        return {Kind::uint32};
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return {Kind::int64};
    } else if constexpr (std::is_same_v<T, double>) {
        return {Kind::float64};
    } else if constexpr (std::is_same_v<T, Uuid>) {
        return {Kind::uuid};
    } else if constexpr (std::is_same_v<T, std::string_view>) {
        return {Kind::string};
    } else if constexpr (std::is_same_v<T, std::optional<std::string_view>>) {
        return {Kind::nullable_string};
    } else if constexpr (std::is_same_v<T, Bytes>) {
        return {Kind::bytes};
    } else if constexpr (std::is_same_v<T, std::optional<Bytes>>) {
        return {Kind::nullable_bytes};
    } else if constexpr (std::is_same_v<T, Records>) {
        return {Kind::records};
    } else if constexpr (std::is_base_of_v<ArrayBase, T>) {
        MemberType element = member_type<typename T::value_type>();
        element.is_array = true;
        return element;
    } else if constexpr (std::is_pointer_v<T>) {
        return {Kind::nullable_structure, false, &std::remove_pointer_t<T>::schema};
    } else {
        return {Kind::structure, false, &T::schema};
    }
}

consteval Field make_field(std::string_view name, std::size_t offset, MemberType type,
                           std::initializer_list<FieldOption> options) {
    Field field{.name = name,
                .offset = static_cast<std::uint32_t>(offset),
                .kind = type.kind,
                .is_array = type.is_array,
                .nested = type.nested};
    for (const FieldOption& option : options) {
        switch (option.what) {
            case FieldOption::What::present:
                field.versions = option.range;
                break;
            case FieldOption::What::nullable:
                field.nullable = option.range;
                break;
            case FieldOption::What::tagged:
                field.tagged = option.range;
                field.tag = option.tag;
                break;
            case FieldOption::What::ignorable:
                field.ignorable = true;
                break;
            case FieldOption::What::always_classic:
                field.always_classic = true;
                break;
        }
    }
    return field;
}

/// The fields and a default instance of a struct. The macros below specialise it.
template <class Struct>
struct Table;

template <class Struct>
consteval Schema make_schema(std::string_view name, Versions range = {}, std::int16_t first_flexible = kNeverFlexible) {
    static_assert(std::is_trivially_copyable_v<Struct> && std::is_trivially_destructible_v<Struct>,
                  "messages live in arenas and are copied as bytes");
    return Schema{.name = name,
                  .fields = Table<Struct>::fields(),
                  .size = sizeof(Struct),
                  .alignment = alignof(Struct),
                  .defaults = &Table<Struct>::kDefaults,
                  .versions = range,
                  .first_flexible = first_flexible};
}

}  // namespace partita::table

#define FIELD(member, wire_name, ...)                                                                                        \
    ::partita::table::make_field(wire_name, offsetof(Self, member), ::partita::table::member_type<decltype(Self::member)>(), \
                                 {__VA_ARGS__})

#define PARTITA_TABLE(Struct, ...)                                           \
    template <>                                                              \
    struct table::Table<Struct> {                                            \
        using Self = Struct;                                                 \
        static constexpr Struct kDefaults{};                                 \
        static constexpr Field kFields[] = {__VA_ARGS__};                    \
        static constexpr std::span<const Field> fields() { return kFields; } \
    };

/// A struct inside a message.
#define PARTITA_STRUCT(Struct, ...)    \
    PARTITA_TABLE(Struct, __VA_ARGS__) \
    constinit const Schema Struct::schema = table::make_schema<Struct>(#Struct);

/// A message: name, valid versions, first flexible version, then its fields.
#define PARTITA_MESSAGE(Struct, range, first_flexible, ...) \
    PARTITA_TABLE(Struct, __VA_ARGS__)                      \
    constexpr Schema Struct::schema = table::make_schema<Struct>(#Struct, range, first_flexible);

/// A message without fields.
#define PARTITA_EMPTY_MESSAGE(Struct, range, first_flexible)            \
    template <>                                                         \
    struct table::Table<Struct> {                                       \
        static constexpr Struct kDefaults{};                            \
        static constexpr std::span<const Field> fields() { return {}; } \
    };                                                                  \
    constexpr Schema Struct::schema = table::make_schema<Struct>(#Struct, range, first_flexible);
