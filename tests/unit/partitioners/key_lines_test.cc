#include "broker/partitioners/key_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::partitioners {
namespace {

using Notation = KeyLineMapper::Notation;

KeyLineMapper mapper(std::string_view name, std::int32_t count, Notation notation = Notation::text) {
    return {*find_partitioner(name), count, notation};
}

TEST(KeyLines, EachLineGivesItsPartitionOnALineOfItsOwn) {
    KeyLineMapper java = mapper("java", 12);
    std::string output;
    ASSERT_TRUE(java.feed("a\nabc\n\nuser-42\n", output));
    ASSERT_TRUE(java.finish(output));
    EXPECT_EQ(output, "4\n3\n9\n4\n");
}

TEST(KeyLines, ALastLineWithoutLineFeedCounts) {
    KeyLineMapper java = mapper("java", 12);
    std::string output;
    ASSERT_TRUE(java.feed("a\nabc", output));
    EXPECT_EQ(output, "4\n");
    ASSERT_TRUE(java.finish(output));
    EXPECT_EQ(output, "4\n3\n");
}

TEST(KeyLines, PiecesMayEndAnywhere) {
    const std::string input = "user-42\norder-1001\n\nkafka\n\ngiberish123456789\n";
    std::string whole;
    KeyLineMapper at_once = mapper("sarama", 7);
    ASSERT_TRUE(at_once.feed(input, whole));
    for (std::size_t size = 1; size < input.size(); ++size) {
        KeyLineMapper in_pieces = mapper("sarama", 7);
        std::string output;
        for (std::size_t i = 0; i < input.size(); i += size) {
            ASSERT_TRUE(in_pieces.feed(std::string_view(input).substr(i, size), output));
        }
        ASSERT_TRUE(in_pieces.finish(output));
        EXPECT_EQ(output, whole) << size;
    }
}

TEST(KeyLines, KeysThatDoNotDecideAreShownAsADash) {
    KeyLineMapper librdkafka = mapper("librdkafka", 6);
    std::string output;
    ASSERT_TRUE(librdkafka.feed("\na\n", output));
    EXPECT_EQ(output, "-\n3\n");
}

TEST(KeyLines, HexadecimalIsBytes) {
    KeyLineMapper java = mapper("java", 12, Notation::hexadecimal);
    std::string output;
    ASSERT_TRUE(java.feed("61\n0000000000000001\nFfffFFffff\n", output));
    EXPECT_EQ(output, "4\n0\n6\n");
}

TEST(KeyLines, BadHexadecimalIsNamedByItsLine) {
    for (const std::string_view bad : {"6", "6g", "é", " 61"}) {
        KeyLineMapper java = mapper("java", 12, Notation::hexadecimal);
        std::string output;
        const auto mapped = java.feed("61\n" + std::string(bad) + "\n", output);
        ASSERT_FALSE(mapped) << bad;
        EXPECT_EQ(mapped.error().line, 2u);
        EXPECT_EQ(output, "4\n") << "what came before is given out";
    }
}

TEST(KeyLines, ALineThatNeverEndsIsRefusedAtItsLimit) {
    KeyLineMapper java = mapper("java", 12);
    const std::string piece(std::size_t{25} << 20, 'x');
    std::string output;
    std::size_t fed = 0;
    auto result = java.feed(piece, output);
    for (fed = piece.size(); result && fed <= KeyLineMapper::kLineBytesMax; fed += piece.size()) {
        result = java.feed(piece, output);
    }
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().line, 1u);
}

}  // namespace
}  // namespace partita::partitioners
