#pragma once

#include <cstdint>

/// Inside of the codec: numbers that keys and values of offsets and classic groups start with.

namespace partita::groups {

// A key starts with the type of the record. Type 0 is what offsets were before Kafka 0.9: same fields, older value.
inline constexpr std::int16_t kLegacyOffsetCommitType = 0;
inline constexpr std::int16_t kOffsetCommitType = 1;
inline constexpr std::int16_t kGroupMetadataType = 2;

// A value starts with its version.
inline constexpr std::int16_t kGroupMetadataVersion = 3;
inline constexpr std::int16_t kOffsetCommitVersion = 4;
/// The only version that has an expiry of its own.
inline constexpr std::int16_t kOffsetCommitVersionWithExpiry = 1;
inline constexpr std::int16_t kHighestOffsetCommitVersion = 4;
inline constexpr std::int16_t kHighestGroupMetadataVersion = 4;

}  // namespace partita::groups
