#include "protocol/compression.h"

#include <gtest/gtest.h>

#include <lz4frame.h>
#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace partita {
namespace {

using Buffer = std::vector<std::byte>;
constexpr Codec kCodecs[] = {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd};
constexpr Codec kRealCodecs[] = {Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd};
constexpr std::size_t kMiB = std::size_t{1} << 20;

Buffer compressed(Codec codec, Bytes input) {
    Buffer out;
    compress(codec, default_compression_level(codec), input, out);
    return out;
}

Buffer random_bytes(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    Buffer bytes(size);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    return bytes;
}

Buffer repetitive_bytes(std::size_t size) {
    Buffer bytes(size);
    for (std::size_t index = 0; index < size; ++index) {
        bytes[index] = static_cast<std::byte>(index / 100 % 7 + 'a');
    }
    return bytes;
}

Buffer framing_header() {
    const std::string_view text("\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

Buffer with_chunk_length(std::uint32_t length) {
    Buffer bytes = framing_header();
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<std::byte>(length >> shift));
    }
    bytes.resize(bytes.size() + 100);
    return bytes;
}

std::expected<void, CompressionError> result_of(Codec codec, Bytes input, std::size_t limit = kMiB) {
    Buffer out;
    return decompress(codec, input, limit, out);
}

TEST(Compression, WhatIsCompressedComesBackInEveryCodecAndSize) {
    for (const Codec codec : kCodecs) {
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{32768}, std::size_t{32769}, 2 * kMiB + 17}) {
            for (const Buffer& input : {random_bytes(size, 3), repetitive_bytes(size)}) {
                Buffer out{std::byte{'x'}};
                ASSERT_TRUE(decompress(codec, compressed(codec, input), 16 * kMiB, out)) << codec_name(codec) << size;
                ASSERT_EQ(out.size(), size + 1);
                EXPECT_TRUE(std::equal(input.begin(), input.end(), out.begin() + 1)) << codec_name(codec) << size;
            }
        }
    }
}

TEST(Compression, EveryLevelProducesReadableOutput) {
    const Buffer input = repetitive_bytes(100000);
    for (const Codec codec : kRealCodecs) {
        for (const int level : {-200000, -1, 0, 1, 3, 9, 12, 17, 1000}) {
            // The highest zstd level takes hundreds of MiB and much time; 17 shows the same.
            if (codec == Codec::zstd && level == 1000) {
                continue;
            }
            Buffer packed;
            compress(codec, level, input, packed);
            Buffer out;
            ASSERT_TRUE(decompress(codec, packed, kMiB, out)) << codec_name(codec) << level;
            EXPECT_EQ(out, input);
        }
    }
}

TEST(Compression, ReadsArriveInPiecesOfAnySize) {
    const Buffer input = repetitive_bytes(70000);
    for (const Codec codec : kCodecs) {
        const Buffer packed = compressed(codec, input);
        for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{100000}}) {
            Decompressor decompressor(codec, packed, kMiB);
            Buffer out;
            Buffer piece(step);
            while (true) {
                const auto got = decompressor.read(piece);
                ASSERT_TRUE(got) << codec_name(codec);
                if (*got == 0) {
                    break;
                }
                out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
            }
            EXPECT_EQ(out, input) << codec_name(codec) << " in steps of " << step;
        }
    }
}

TEST(Compression, ReadersMayNestOnOneThread) {
    const Buffer first = repetitive_bytes(5000);
    const Buffer second = random_bytes(5000, 5);
    for (const Codec codec : kRealCodecs) {
        const Buffer packed_first = compressed(codec, first);
        const Buffer packed_second = compressed(codec, second);
        Decompressor outer(codec, packed_first, kMiB);
        Buffer piece(1000);
        ASSERT_TRUE(outer.read(piece));
        Buffer inner_out;
        ASSERT_TRUE(decompress(codec, packed_second, kMiB, inner_out));
        EXPECT_EQ(inner_out, second);
        ASSERT_TRUE(outer.read(piece));
        EXPECT_TRUE(std::equal(piece.begin(), piece.end(), first.begin() + 1000)) << codec_name(codec);
    }
}

TEST(Compression, OutputOfExactlyTheLimitIsAllowedAndOneByteMoreIsNot) {
    const Buffer input = repetitive_bytes(100000);
    for (const Codec codec : kCodecs) {
        const Buffer packed = compressed(codec, input);
        EXPECT_TRUE(result_of(codec, packed, input.size())) << codec_name(codec);
        const auto refused = result_of(codec, packed, input.size() - 1);
        ASSERT_FALSE(refused) << codec_name(codec);
        EXPECT_EQ(refused.error(), CompressionError::too_large) << codec_name(codec);
    }
}

TEST(Compression, BombsStopAtTheLimitWithMemoryOfItsOrder) {
    const Buffer zeros(100 * kMiB);
    for (const Codec codec : kRealCodecs) {
        const Buffer bomb = compressed(codec, zeros);
        Buffer out;
        const auto result = decompress(codec, bomb, kMiB, out);
        ASSERT_FALSE(result) << codec_name(codec);
        EXPECT_EQ(result.error(), CompressionError::too_large) << codec_name(codec);
        EXPECT_LE(out.size(), kMiB);
        EXPECT_LE(out.capacity(), 3 * kMiB) << codec_name(codec);
    }
}

TEST(Compression, TheDefaultLimitIsKindToSmallAndProportionalToLargeInput) {
    EXPECT_EQ(default_decompressed_limit(100), 64 * kMiB);
    EXPECT_EQ(default_decompressed_limit(10 * kMiB), 160 * kMiB);
}

TEST(Compression, TruncationAtAnyByteIsNeverTakenForTheWhole) {
    const Buffer input = repetitive_bytes(40000);  // Two chunks in the Java framing.
    for (const Codec codec : kRealCodecs) {
        const Buffer packed = compressed(codec, input);
        for (std::size_t size = 0; size < packed.size(); ++size) {
            Buffer out;
            const auto result = decompress(codec, Bytes(packed).first(size), kMiB, out);
            // The Java framing has no end mark; a cut between chunks leaves a shorter stream.
            if (codec == Codec::snappy && result) {
                EXPECT_TRUE(out.empty() || out.size() == 32768) << size;
                continue;
            }
            ASSERT_FALSE(result) << codec_name(codec) << " cut to " << size;
            EXPECT_EQ(result.error(), CompressionError::corrupt);
        }
    }
}

TEST(Compression, FlippedBytesNeverCrash) {
    const Buffer input = repetitive_bytes(3000);
    std::mt19937 random(99);
    for (const Codec codec : kRealCodecs) {
        const Buffer packed = compressed(codec, input);
        for (int round = 0; round < 2000; ++round) {
            Buffer damaged = packed;
            damaged[random() % damaged.size()] = static_cast<std::byte>(random());
            Buffer out;
            const auto result = decompress(codec, damaged, kMiB, out);
            EXPECT_TRUE(result || out.size() <= kMiB);
        }
    }
}

TEST(Compression, AfterAnErrorTheErrorStays) {
    Decompressor decompressor(Codec::zstd, as_bytes("this is no zstd frame"), kMiB);
    Buffer piece(100);
    for (int round = 0; round < 3; ++round) {
        const auto got = decompressor.read(piece);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error(), CompressionError::corrupt);
    }
}

// CVE-2023-43642 in the Java library: chunk lengths that are negative or huge.
TEST(SnappyFraming, ChunkLengthsBeyondTheInputAreRefused) {
    for (const std::uint32_t length : {0xffffffffu, 0x80000000u, 0x7fffffffu, 101u}) {
        const auto result = result_of(Codec::snappy, with_chunk_length(length));
        ASSERT_FALSE(result) << length;
        EXPECT_EQ(result.error(), CompressionError::corrupt);
    }
}

TEST(SnappyFraming, AnIncompatibleVersionIsRefused) {
    Buffer packed = compressed(Codec::snappy, as_bytes("text"));
    packed[15] = std::byte{2};  // The lowest version that can read it.
    EXPECT_FALSE(result_of(Codec::snappy, packed));
}

TEST(SnappyFraming, ConcatenatedStreamsAreReadOn) {
    Buffer packed = compressed(Codec::snappy, as_bytes("one "));
    const Buffer second = compressed(Codec::snappy, as_bytes("two"));
    packed.insert(packed.end(), second.begin(), second.end());
    Buffer out;
    ASSERT_TRUE(decompress(Codec::snappy, packed, kMiB, out));
    EXPECT_EQ(as_text(out), "one two");
}

// librdkafka writes the raw format: one block without any framing.
TEST(SnappyRaw, ABlockWithoutFramingIsRead) {
    const Buffer input = repetitive_bytes(100000);
    std::string packed;
    snappy::Compress(reinterpret_cast<const char*>(input.data()), input.size(), &packed);
    Buffer out;
    ASSERT_TRUE(decompress(Codec::snappy, as_bytes(packed), kMiB, out));
    EXPECT_EQ(out, input);
}

TEST(SnappyRaw, ADeclaredSizeThatTheInputCannotReachTakesNoMemory) {
    // A preamble of 4 GiB - 1 before four bytes.
    const std::string lie("\xff\xff\xff\xff\x0f\x01\x02\x03\x04", 9);
    Buffer out;
    const auto result = decompress(Codec::snappy, as_bytes(lie), std::size_t{1} << 40, out);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), CompressionError::corrupt);
    EXPECT_LE(out.capacity(), kMiB);
}

TEST(Gzip, ConcatenatedMembersAreReadAndOtherBytesBehindAreIgnored) {
    Buffer packed = compressed(Codec::gzip, as_bytes("one "));
    const Buffer second = compressed(Codec::gzip, as_bytes("two"));
    packed.insert(packed.end(), second.begin(), second.end());
    packed.push_back(std::byte{0});
    Buffer out;
    ASSERT_TRUE(decompress(Codec::gzip, packed, kMiB, out));
    EXPECT_EQ(as_text(out), "one two");
}

Buffer lz4_frame(Bytes input, LZ4F_blockMode_t mode, LZ4F_blockSizeID_t block_size) {
    LZ4F_preferences_t preferences{};
    preferences.frameInfo.blockMode = mode;
    preferences.frameInfo.blockSizeID = block_size;
    preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    Buffer out(LZ4F_compressFrameBound(input.size(), &preferences));
    out.resize(LZ4F_compressFrame(out.data(), out.size(), input.data(), input.size(), &preferences));
    return out;
}

TEST(Lz4, FramesWithLinkedBlocksAreRefusedBecauseKafkaCannotReadThem) {
    const Buffer input = repetitive_bytes(200000);
    EXPECT_TRUE(result_of(Codec::lz4, lz4_frame(input, LZ4F_blockIndependent, LZ4F_max64KB)));
    EXPECT_FALSE(result_of(Codec::lz4, lz4_frame(input, LZ4F_blockLinked, LZ4F_max64KB)));
}

TEST(Lz4, BlocksOfFourMegabytesAreRead) {
    const Buffer input = repetitive_bytes(5 * kMiB);
    Buffer out;
    ASSERT_TRUE(decompress(Codec::lz4, lz4_frame(input, LZ4F_blockIndependent, LZ4F_max4MB), 8 * kMiB, out));
    EXPECT_EQ(out, input);
}

TEST(Lz4, AWrongHeaderChecksumIsRefused) {
    Buffer packed = compressed(Codec::lz4, as_bytes("text"));
    packed[6] ^= std::byte{0x40};
    EXPECT_FALSE(result_of(Codec::lz4, packed));
}

TEST(Zstd, AWindowBeyondTheBoundIsRefused) {
    // Frame header: magic, no content size, window descriptor with exponent 18 (2^28), one raw last block.
    const std::string frame("\x28\xb5\x2f\xfd\x00\x90\x09\x00\x00x", 10);
    const auto result = result_of(Codec::zstd, as_bytes(frame));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), CompressionError::corrupt);
    // The same with exponent 17 (2^27) is a frame like others.
    std::string allowed = frame;
    allowed[5] = '\x88';
    Buffer out;
    ASSERT_TRUE(decompress(Codec::zstd, as_bytes(allowed), kMiB, out));
    EXPECT_EQ(as_text(out), "x");
}

TEST(Zstd, ConcatenatedFramesAreRead) {
    Buffer packed = compressed(Codec::zstd, as_bytes("one "));
    const Buffer second = compressed(Codec::zstd, as_bytes("two"));
    packed.insert(packed.end(), second.begin(), second.end());
    Buffer out;
    ASSERT_TRUE(decompress(Codec::zstd, packed, kMiB, out));
    EXPECT_EQ(as_text(out), "one two");
}

TEST(Codec, NumbersBeyondZstdAreUnknown) {
    EXPECT_EQ(codec_from_id(4), Codec::zstd);
    for (const int id : {-1, 5, 6, 7}) {
        EXPECT_EQ(codec_from_id(id), std::nullopt);
    }
}

}  // namespace
}  // namespace partita
