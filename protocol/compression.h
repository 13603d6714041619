#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita {

/// Compression codecs with their numbers in a batch's attributes (bits 0 to 2).
enum class Codec : std::uint8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };

/// The codec with that number; empty for the undefined 5, 6 and 7.
[[nodiscard]] std::optional<Codec> codec_from_id(int id);

/// Kafka's name, as in `compression.type`: "none", "gzip", "snappy", "lz4", "zstd".
[[nodiscard]] std::string_view codec_name(Codec codec);

enum class [[nodiscard]] CompressionError : std::uint8_t {
    corrupt,    ///< Damaged, not in the codec's format, or ends early.
    too_large,  ///< Would yield more than the limit; the output so far was within it.
};

/// The lowest limit for the decompressed records of a batch, whatever its size on the wire. A small batch of very repetitive
/// records is legitimate (zstd easily reaches a factor of a thousand), so this is generous. Readers stream, so the limit bounds
/// their work. It bounds their memory only if a single record is that large.
inline constexpr std::size_t kMinDecompressedLimitBytes = std::size_t{64} << 20;
/// The limit of a larger batch is this many times its size.
inline constexpr std::size_t kDecompressedLimitFactor = 16;

/// The default limit for compressed input of that size: the greater of the two above.
[[nodiscard]] constexpr std::size_t default_decompressed_limit(std::size_t compressed_bytes) {
    const std::size_t scaled = compressed_bytes * kDecompressedLimitFactor;
    return scaled > kMinDecompressedLimitBytes ? scaled : kMinDecompressedLimitBytes;
}

/// The largest accepted zstd window: 2^27 bytes, the limit of zstd's own default and of the Java client. Level 22 reaches it.
/// Window memory is touched only as output fills it.
inline constexpr int kMaxZstdWindowLog = 27;

namespace internal {
class DecompressionEngine;
}

/// Decompresses borrowed input piece by piece. Each thread keeps its engines and reuses them, so that nothing is allocated after
/// the first use of a codec on a thread. Engines that grew large on unusual input are not kept.
///
/// Formats:
///
/// - gzip (RFC 1952, concatenated members).
/// - snappy, raw or in the framing of the Java library (8 magic bytes, two version words, chunks with a 4-byte length). The magic
///   tells them apart: the Java client writes the framing, other clients write either.
/// - lz4 frames with independent blocks (the only ones that Kafka reads) and a correct header checksum.
/// - zstd frames.
///
/// As Kafka does, it ignores bytes behind a complete lz4 frame or gzip member.
class Decompressor {
  public:
    /// `input` must outlive the decompressor. At most `limit_bytes` come out.
    Decompressor(Codec codec, Bytes input, std::size_t limit_bytes);
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;
    Decompressor(Decompressor&&) = delete;
    Decompressor& operator=(Decompressor&&) = delete;

    /// Writes as many bytes as fit into `out`, or fewer, and returns their number: 0 only at the end of the input. `out` must not
    /// be empty. After an error every call returns the same error.
    [[nodiscard]] std::expected<std::size_t, CompressionError> read(MutableBytes out);

  private:
    [[nodiscard]] std::expected<std::size_t, CompressionError> fail(CompressionError error);

    Codec codec_;
    Bytes input_;
    std::size_t left_before_limit_;
    std::optional<CompressionError> error_;
    std::unique_ptr<internal::DecompressionEngine> engine_;
};

/// Appends the whole output to `out`. After an error `out` holds the output before it. Memory grows with the real output, not
/// with a declared size.
[[nodiscard]] std::expected<void, CompressionError> decompress(Codec codec, Bytes input, std::size_t limit_bytes,
                                                               std::vector<std::byte>& out);

/// Default levels. Levels are the codec's own (`compression.gzip.level` 1 to 9 and -1, lz4 1 to 17, zstd -131072 to 22); snappy
/// and none have no level. `compress` brings values outside into the range.
inline constexpr int kDefaultGzipLevel = -1;
inline constexpr int kDefaultLz4Level = 9;
inline constexpr int kDefaultZstdLevel = 3;
[[nodiscard]] int default_compression_level(Codec codec);

/// Appends the compressed form of `input` to `out`. Writes snappy in the Java framing and lz4 with independent 64 KiB blocks, as
/// the Java client does, so that every consumer can read it.
void compress(Codec codec, int level, Bytes input, std::vector<std::byte>& out);

}  // namespace partita
