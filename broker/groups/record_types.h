#pragma once

#include <cstdint>

/// Internal to the codec: the leading numbers of keys and values of offsets and classic groups.

namespace partita::groups {

// A key starts with the type of the record. Type 0 is that of offsets before Kafka 0.9: same fields, older value.
inline constexpr std::int16_t kLegacyOffsetCommitType = 0;
inline constexpr std::int16_t kOffsetCommitType = 1;
inline constexpr std::int16_t kGroupMetadataType = 2;

// A value starts with its version.
inline constexpr std::int16_t kGroupMetadataVersion = 3;
inline constexpr std::int16_t kOffsetCommitVersion = 4;
/// The only version with an expiry of its own.
inline constexpr std::int16_t kOffsetCommitVersionWithExpiry = 1;
inline constexpr std::int16_t kHighestOffsetCommitVersion = 4;
inline constexpr std::int16_t kHighestGroupMetadataVersion = 4;

}  // namespace partita::groups
