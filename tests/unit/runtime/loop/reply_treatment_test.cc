// Replies that are repeated and cut, with parts of files in them.

#include "broker/runtime/loop/reply_treatment.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/memory_file_system.h"

namespace partita::runtime {
namespace {

/// "head", a piece of 3 bytes, "middle", a piece of 2, "tail".
Reply reply_with_pieces() {
    Reply reply;
    reply.bytes.append(as_bytes("headmiddletail"));
    reply.pieces.push_back({.position = 4, .slice = {.size = 3}});
    reply.pieces.push_back({.position = 10, .slice = {.size = 2}});
    return reply;
}

/// The reply with an "x" for each byte of a file.
std::string shape_of(const Reply& reply) {
    std::string text(as_text(reply.bytes.bytes()));
    for (auto piece = reply.pieces.rbegin(); piece != reply.pieces.rend(); ++piece) {
        text.insert(piece->position, piece->slice.size, 'x');
    }
    return text;
}

TEST(ReplyTreatment, ACutReplyIsItsBeginning) {
    const std::string whole = shape_of(reply_with_pieces());
    ASSERT_EQ(whole, "headxxxmiddlexxtail");
    for (std::size_t bytes = 0; bytes <= whole.size() + 1; ++bytes) {
        Reply reply = reply_with_pieces();
        cut(reply, bytes);
        EXPECT_EQ(shape_of(reply), whole.substr(0, bytes));
    }
}

TEST(ReplyTreatment, AGatheredReplyHasTheBytesOfFilesUpToALimit) {
    test::MemoryFileSystem files;
    const std::shared_ptr<File> file = files.open("/file", OpenMode::create).value();
    const Bytes content = as_bytes("0123456789");
    ASSERT_TRUE(file->write_at(0, {&content, 1}));
    Reply reply = reply_with_pieces();
    reply.pieces[0].slice.file = file;
    reply.pieces[0].slice.position = 2;
    reply.pieces[1].slice.file = file;
    reply.pieces[1].slice.position = 9;
    EXPECT_FALSE(gather(reply, 100)) << "the file ends before";
    reply.pieces[1].slice.position = 8;
    EXPECT_FALSE(gather(reply, 18));
    EXPECT_EQ(shape_of(reply), "headxxxmiddlexxtail");
    EXPECT_TRUE(gather(reply, 19));
    EXPECT_EQ(shape_of(reply), "head234middle89tail");
    EXPECT_TRUE(reply.pieces.empty());
    EXPECT_TRUE(gather(reply, 19)) << "there is nothing to do";
    EXPECT_EQ(shape_of(reply), "head234middle89tail");
}

TEST(ReplyTreatment, ARepeatedReplyIsItselfTwice) {
    Reply reply = reply_with_pieces();
    treat({.is_sent_twice = true}, reply);
    EXPECT_EQ(shape_of(reply), "headxxxmiddlexxtailheadxxxmiddlexxtail");
    EXPECT_FALSE(reply.close);
    Reply empty;
    treat({.is_sent_twice = true}, empty);
    EXPECT_EQ(shape_of(empty), "");
}

TEST(ReplyTreatment, AResetClosesTheConnectionEvenAfterAShorterReply) {
    for (const std::size_t bytes : {0UL, 5UL, 1000UL}) {
        Reply reply = reply_with_pieces();
        treat({.reset_after_bytes = bytes}, reply);
        EXPECT_TRUE(reply.close);
        EXPECT_EQ(shape_of(reply), std::string("headxxxmiddlexxtail").substr(0, bytes));
    }
}

}  // namespace
}  // namespace partita::runtime
