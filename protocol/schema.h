#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

/// Messages are plain structs. Each has a table that says how its members are encoded: wire name, versions, nullability, tag. One
/// codec (`protocol/codec.h`) interprets the tables. It does not use templates over the members, so all messages together compile
/// in seconds, and one place judges foreign bytes.
namespace partita {

struct Schema;

// ---------------------------------------------------------------------------------------------
// Member types of messages. All are trivially copyable views: the bytes belong to the request
// buffer, to an arena, or to the builder of the message, and must outlive it.
// ---------------------------------------------------------------------------------------------

/// The codec's view of any Array<T>.
struct ArrayBase {
    void* data = nullptr;
    std::int32_t size = 0;  ///< -1 stands for null.
};

/// A sequence, or null. A view: copying it copies no element. Handlers may build a std::vector, assign it to an Array member and
/// keep the vector alive until the message is encoded.
template <class T>
struct Array : ArrayBase {
    using value_type = T;

    constexpr Array() = default;
    constexpr Array(std::nullptr_t) : ArrayBase{nullptr, -1} {}
    constexpr Array(T* elements, std::size_t count) : ArrayBase{elements, static_cast<std::int32_t>(count)} {}
    constexpr Array(std::span<T> elements) : Array(elements.data(), elements.size()) {}
    /// Borrows from an lvalue container (std::vector, std::array).
    template <class Container>
        requires requires(Container& container) {
            { container.data() } -> std::convertible_to<const T*>;
            { container.size() } -> std::convertible_to<std::size_t>;
        }
    Array(Container& container) : Array(const_cast<T*>(container.data()), container.size()) {}

    [[nodiscard]] bool is_null() const { return size < 0; }
    [[nodiscard]] bool empty() const { return size <= 0; }
    /// Number of elements; 0 when null.
    [[nodiscard]] std::size_t count() const { return size < 0 ? 0 : static_cast<std::size_t>(size); }
    [[nodiscard]] T* begin() { return static_cast<T*>(data); }
    [[nodiscard]] T* end() { return begin() + count(); }
    [[nodiscard]] const T* begin() const { return static_cast<const T*>(data); }
    [[nodiscard]] const T* end() const { return begin() + count(); }
    [[nodiscard]] T& operator[](std::size_t index) { return begin()[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const { return begin()[index]; }
    [[nodiscard]] std::span<const T> span() const { return {begin(), count()}; }
};

/// Builds an Array in an arena. Growth leaves the old elements behind in the arena, so reserve if the count is known. The arena's
/// limit does not apply: for replies, not for decoding.
template <class T>
class ArenaVector {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit ArenaVector(Arena& arena, std::size_t expected = 0) : arena_(&arena) { reserve(expected); }

    void reserve(std::size_t count) {
        if (count > capacity_) {
            grow(count);
        }
    }
    T& push_back(const T& element) {
        if (size_ == capacity_) {
            const T copy = element;  // The element may live in the array that is about to move.
            grow(capacity_ < 4 ? 8 : capacity_ * 2);
            return *new (data_ + size_++) T(copy);
        }
        return *new (data_ + size_++) T(element);
    }
    T& emplace_back() { return push_back(T()); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T* begin() { return data_; }
    [[nodiscard]] T* end() { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t index) { return data_[index]; }
    [[nodiscard]] T& back() { return data_[size_ - 1]; }
    [[nodiscard]] Array<T> array() const { return Array<T>(data_, size_); }
    operator Array<T>() const { return array(); }

  private:
    void grow(std::size_t capacity) {
        auto* data = static_cast<T*>(arena_->allocate_unlimited(capacity * sizeof(T), alignof(T)));
        if (size_ > 0) {
            std::memcpy(static_cast<void*>(data), data_, size_ * sizeof(T));
        }
        data_ = data;
        capacity_ = capacity;
    }

    Arena* arena_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// Record batches in wire format, or null. A decoded one is a view into the request buffer. A message to encode may announce the
/// payload instead. With `external(...)` the codec writes only the length and reports the place (SplitPoint), and the caller
/// sends the payload from its source (sendfile).
struct Records {
    static constexpr std::int32_t kInline = -1;

    const std::byte* data = nullptr;
    std::int32_t size = 0;                  ///< -1 stands for null.
    std::int32_t external_index = kInline;  ///< The caller's number for the payload.

    constexpr Records() = default;
    constexpr Records(std::nullptr_t) : size(-1) {}
    constexpr Records(Bytes bytes) : data(bytes.data()), size(static_cast<std::int32_t>(bytes.size())) {}

    [[nodiscard]] static constexpr Records external(std::int32_t index, std::int32_t size_bytes) {
        Records records;
        records.size = size_bytes;
        records.external_index = index;
        return records;
    }

    [[nodiscard]] bool is_null() const { return size < 0; }
    [[nodiscard]] bool is_external() const { return external_index != kInline; }
    /// The payload; empty when null or external.
    [[nodiscard]] Bytes bytes() const {
        return size <= 0 || is_external() ? Bytes{} : Bytes{data, static_cast<std::size_t>(size)};
    }
};

// ---------------------------------------------------------------------------------------------
// Tables
// ---------------------------------------------------------------------------------------------

/// An inclusive range of versions; empty when last < first.
struct Versions {
    std::int16_t first = 0;
    std::int16_t last = std::numeric_limits<std::int16_t>::max();

    [[nodiscard]] constexpr bool contains(std::int16_t version) const { return version >= first && version <= last; }
    [[nodiscard]] constexpr bool empty() const { return last < first; }
    friend constexpr bool operator==(Versions, Versions) = default;
};

inline constexpr Versions kNoVersions{0, -1};
inline constexpr std::int16_t kNeverFlexible = std::numeric_limits<std::int16_t>::max();

/// How a value is encoded. A field's `nullable` decides whether its string, bytes or struct member has the optional form; arrays
/// and records have their own null.
enum class Kind : std::uint8_t {
    boolean,
    int8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    float64,
    uuid,
    string,             ///< std::string_view
    nullable_string,    ///< std::optional<std::string_view>
    bytes,              ///< Bytes
    nullable_bytes,     ///< std::optional<Bytes>
    records,            ///< Records
    structure,          ///< a message struct, inline
    nullable_structure  ///< pointer to a message struct, nullptr for null
};

struct Field {
    std::string_view name;  ///< As in Kafka's definitions, for example "GroupInstanceId".
    std::uint32_t offset = 0;
    std::int32_t tag = -1;      ///< Valid when `tagged` is not empty.
    Kind kind = Kind::boolean;  ///< The kind of the element, if `is_array`.
    bool is_array = false;
    /// How to encode a version without this field if the value is not the default. True drops the value; false makes the message
    /// impossible to encode.
    bool ignorable = false;
    /// The length prefix stays the classic one in flexible versions.
    bool always_classic = false;
    Versions versions;
    Versions nullable = kNoVersions;
    Versions tagged = kNoVersions;  ///< In these (flexible) versions the field travels as a tag.
    const Schema* nested = nullptr;
};

/// The table of one struct. Only the table of a message has versions; nested structs use those of the message.
struct Schema {
    std::string_view name;
    std::span<const Field> fields;
    std::uint32_t size = 0;  ///< sizeof the struct
    std::uint32_t alignment = 0;
    const void* defaults = nullptr;  ///< a default-constructed instance
    Versions versions;               ///< valid versions of the message
    std::int16_t first_flexible = kNeverFlexible;

    [[nodiscard]] constexpr bool is_flexible(std::int16_t version) const { return version >= first_flexible; }
};

}  // namespace partita
