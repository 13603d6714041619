#pragma once

#include <cstdint>

#include "protocol/types.h"

/// The hash functions that Kafka clients apply to the serialized bytes of a key.
///
/// All of them are pure and take any bytes, of any length. CRC-32 comes from zlib and xxHash from libxxhash. No library has the
/// others in the exact form that clients use (Kafka's seed, KafkaJS's rounding, Erlang's initial value), so they are implemented
/// here and checked against the clients.
namespace partita::partitioners {

/// MurmurHash2, 32 bits, seed 0x9747b28c: Kafka's `Utils.murmur2`.
[[nodiscard]] std::uint32_t murmur2(Bytes key);
/// FNV-1a, 32 bits.
[[nodiscard]] std::uint32_t fnv1a(Bytes key);
/// CRC-32 of IEEE 802.3 and zlib, not CRC-32C.
[[nodiscard]] std::uint32_t crc32(Bytes key);
/// KafkaJS's "murmur2" before 2.0: multiplications in doubles, which lose low bits, and one round too many for keys whose length
/// is not a multiple of four. It differs from murmur2 for practically every key.
[[nodiscard]] std::uint32_t kafkajs_legacy(Bytes key);
/// Jenkins' lookup3 (hashlittle2, both seeds 0), its halves xored and cut to 16 bits, as a signed number: Event Hubs maps
/// partition keys of AMQP and HTTP with it.
[[nodiscard]] std::uint32_t lookup3_folded(Bytes key);
/// Erlang's `phash2/1` of a binary: Jenkins' lookup2, 27 bits.
[[nodiscard]] std::uint32_t phash2(Bytes key);
/// kafka-node's string hash: h = 31 h + unit over the UTF-16 units of the key's text, 31 bits, and 1 instead of 0. Invalid UTF-8
/// counts as U+FFFD, as in a JavaScript string.
[[nodiscard]] std::uint32_t h31(Bytes key);
/// xxHash with seed 0, 32 bits.
[[nodiscard]] std::uint32_t xxh32(Bytes key);
/// The low 32 bits of xxHash with 64 bits and seed 0.
[[nodiscard]] std::uint32_t xxh64_low(Bytes key);

}  // namespace partita::partitioners
