#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace partita {

/// An integer with a meaning. Different meanings never mix: no StrongInt type converts to another. An integer becomes one only if
/// the code names the type, and comes out only with `.value`. Arithmetic exists only where it makes sense (see `Offset`).
template <class Tag, class Representation>
struct StrongInt {
    using representation = Representation;
    Representation value{};

    friend constexpr auto operator<=>(StrongInt, StrongInt) = default;
};

/// Position of a record in a partition: dense, monotone, never reused.
struct Offset : StrongInt<struct OffsetTag, std::int64_t> {
    friend constexpr auto operator<=>(Offset, Offset) = default;
    friend constexpr Offset operator+(Offset offset, std::int64_t records) { return {offset.value + records}; }
    friend constexpr Offset operator-(Offset offset, std::int64_t records) { return {offset.value - records}; }
    friend constexpr std::int64_t operator-(Offset later, Offset earlier) { return later.value - earlier.value; }
};

/// Milliseconds since 1970-01-01 UTC: record timestamps, retention, commit times.
/// Timers never use it (a wall clock may jump); see `Instant`.
struct TimestampMs : StrongInt<struct TimestampTag, std::int64_t> {
    friend constexpr auto operator<=>(TimestampMs, TimestampMs) = default;
};

/// Milliseconds on a clock that only goes forward; its zero has no meaning. All deadlines of the cores are instants, passed in
/// and out as values, so that a test can step the clock.
struct Instant : StrongInt<struct InstantTag, std::int64_t> {
    friend constexpr auto operator<=>(Instant, Instant) = default;
    friend constexpr Instant operator+(Instant instant, std::int64_t duration_ms) { return {instant.value + duration_ms}; }
    friend constexpr std::int64_t operator-(Instant later, Instant earlier) { return later.value - earlier.value; }
};

/// Both clocks at one moment. Timers use the monotonic one; the wall clock is only recorded.
struct Now {
    Instant monotonic;
    TimestampMs wall;
};

struct PartitionIndex : StrongInt<struct PartitionIndexTag, std::int32_t> {
    friend constexpr auto operator<=>(PartitionIndex, PartitionIndex) = default;
};
struct LeaderEpoch : StrongInt<struct LeaderEpochTag, std::int32_t> {
    friend constexpr auto operator<=>(LeaderEpoch, LeaderEpoch) = default;
};
struct BrokerId : StrongInt<struct BrokerIdTag, std::int32_t> {
    friend constexpr auto operator<=>(BrokerId, BrokerId) = default;
};
struct ProducerId : StrongInt<struct ProducerIdTag, std::int64_t> {
    friend constexpr auto operator<=>(ProducerId, ProducerId) = default;
};
struct ProducerEpoch : StrongInt<struct ProducerEpochTag, std::int16_t> {
    friend constexpr auto operator<=>(ProducerEpoch, ProducerEpoch) = default;
};
/// Sequence number of a producer in a partition. Wraps from 2^31-1 to 0.
struct Sequence : StrongInt<struct SequenceTag, std::int32_t> {
    friend constexpr auto operator<=>(Sequence, Sequence) = default;
};
/// Generation of a classic group; -1 for commits from outside a group.
struct Generation : StrongInt<struct GenerationTag, std::int32_t> {
    friend constexpr auto operator<=>(Generation, Generation) = default;
};

inline constexpr ProducerId kNoProducerId{-1};
inline constexpr LeaderEpoch kNoLeaderEpoch{-1};
/// No broker in particular: nobody leads, or a client asked none of them.
inline constexpr BrokerId kNoBroker{-1};
inline constexpr Offset kNoOffset{-1};
inline constexpr TimestampMs kNoTimestamp{-1};

/// 128 bits, big-endian as on the wire. All zero means "none". Text form is Kafka's: 22 characters
/// of unpadded base64url.
struct Uuid {
    std::array<std::uint8_t, 16> bytes{};

    friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
    [[nodiscard]] constexpr bool is_zero() const { return *this == Uuid{}; }
    [[nodiscard]] std::string to_string() const;
    /// False when `text` is not 22 characters of base64url; `out` is then unchanged.
    [[nodiscard]] static bool parse(std::string_view text, Uuid& out);
};

using TopicId = Uuid;

/// Borrowed bytes. The function that returns them says who owns them.
using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace partita

template <class Strong>
    requires requires(Strong strong) {
        typename Strong::representation;
        strong.value;
    }
struct std::hash<Strong> {
    std::size_t operator()(Strong strong) const noexcept { return std::hash<typename Strong::representation>{}(strong.value); }
};

template <>
struct std::hash<partita::Uuid> {
    std::size_t operator()(const partita::Uuid& uuid) const noexcept {
        return std::hash<std::string_view>{}({reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()});
    }
};
