#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Places keys as the producers of a history do. The code follows the definitions of the hashes and is checked against published
/// values. It shares nothing with the broker's own hashes, so that it does not repeat their mistakes.
namespace partita::test::histories {

enum class Placing : std::uint8_t {
    /// (murmur2 & 0x7fffffff) % n: the Java client.
    murmur2,
    /// CRC-32 % n: librdkafka.
    crc32,
    /// |FNV-1a % n|, signed: sarama.
    fnv1a,
    /// Without regard to the key.
    at_random,
};
[[nodiscard]] std::string_view to_string(Placing placing);

[[nodiscard]] std::uint32_t murmur2(std::string_view key);
[[nodiscard]] std::uint32_t crc32(std::string_view key);
[[nodiscard]] std::uint32_t fnv1a(std::string_view key);

/// The partition of the key among `count`. Not for `at_random`.
[[nodiscard]] int place(Placing placing, std::string_view key, int count);
/// The partitions that the three rules by which clients bring one hash into range (positive, unsigned, signed) choose for the
/// key. An observer of few partitions cannot tell these rules apart.
[[nodiscard]] std::vector<int> places_of_siblings(Placing placing, std::string_view key, int count);

/// The text of a history's key: "key-17".
[[nodiscard]] std::string key_text(int key);

}  // namespace partita::test::histories
