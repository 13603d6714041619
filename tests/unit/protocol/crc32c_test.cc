#include "protocol/crc32c.h"
#include "protocol/crc32c_folding.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace partita {
namespace {

std::vector<std::byte> filled(std::size_t size, int (*value)(std::size_t)) {
    std::vector<std::byte> bytes(size);
    for (std::size_t index = 0; index < size; ++index) {
        bytes[index] = static_cast<std::byte>(value(index));
    }
    return bytes;
}

// RFC 3720, appendix B.4.
TEST(Crc32c, MatchesTheVectorsOfRfc3720) {
    EXPECT_EQ(crc32c(filled(32, [](std::size_t) { return 0; })), 0x8a9136aau);
    EXPECT_EQ(crc32c(filled(32, [](std::size_t) { return 0xff; })), 0x62a8ab43u);
    EXPECT_EQ(crc32c(filled(32, [](std::size_t index) { return static_cast<int>(index); })), 0x46dd794eu);
    EXPECT_EQ(crc32c(filled(32, [](std::size_t index) { return 31 - static_cast<int>(index); })), 0x113fdb5cu);
    constexpr unsigned char kReadCommand[] = {0x01, 0xc0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
                                              0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                              0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};
    EXPECT_EQ(crc32c(std::as_bytes(std::span(kReadCommand))), 0xd9963a56u);
}

TEST(Crc32c, MatchesTheCheckValueOfTheCatalogue) {
    EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u);
    EXPECT_EQ(crc32c_extend_portable(0, as_bytes("123456789")), 0xe3069283u);
}

TEST(Crc32c, OfNothingIsZero) {
    EXPECT_EQ(crc32c({}), 0u);
    EXPECT_EQ(crc32c_extend(0x1234u, {}), 0x1234u);
}

TEST(Crc32c, AllWaysAgreeAtEverySizeAroundTheSwitchAndAtEveryAlignment) {
    std::mt19937 random(20260101);
    std::vector<std::byte> bytes(3000);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    for (std::size_t start = 0; start < 16; ++start) {
        for (std::size_t size = 0; size < 600; ++size) {
            const Bytes piece = Bytes(bytes).subspan(start, size);
            ASSERT_EQ(crc32c(piece), crc32c_extend_portable(0, piece)) << "start " << start << " size " << size;
        }
    }
    EXPECT_EQ(crc32c(bytes), crc32c_extend_portable(0, bytes));
}

TEST(Crc32c, ExtendsAcrossAnySplit) {
    std::vector<std::byte> bytes(700);
    std::mt19937 random(7);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    const std::uint32_t whole = crc32c(bytes);
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
        ASSERT_EQ(crc32c_extend(crc32c(Bytes(bytes).first(split)), Bytes(bytes).subspan(split)), whole);
    }
}

#if defined(__x86_64__)
/// Sizes around every step of the folding, with and without a state before, at several alignments.
void expect_folding_agrees(crc32c_folding::Fold fold) {
    std::mt19937 random(99);
    std::vector<std::byte> bytes(3 * 1024 + 80);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    for (const std::uint32_t crc : {0u, 0x8a9136aau}) {
        for (std::size_t size = crc32c_folding::kLeastBytes; size < bytes.size() - 16; ++size) {
            const Bytes piece = Bytes(bytes).subspan(size % 16, size);
            ASSERT_EQ(~fold(~crc, piece), crc32c_extend_portable(crc, piece)) << "size " << size;
        }
    }
}

TEST(Crc32cFolding, Of128BitsAgreesWithTheTable) {
    if (!crc32c_folding::has_fold_128()) {
        GTEST_SKIP() << "no PCLMULQDQ here";
    }
    expect_folding_agrees(crc32c_folding::fold_128);
}

TEST(Crc32cFolding, Of512BitsAgreesWithTheTable) {
    if (!crc32c_folding::has_fold_512()) {
        GTEST_SKIP() << "no VPCLMULQDQ with AVX-512 here";
    }
    expect_folding_agrees(crc32c_folding::fold_512);
}
#endif

}  // namespace
}  // namespace partita
