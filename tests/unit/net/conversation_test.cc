// Tests the conversation on a connection, driven byte by byte without a socket.

#include "broker/net/conversation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "broker/kafka/frames.h"
#include "schedule/executor.h"
#include "tests/support/memory_file_system.h"

namespace partita::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr kafka::Frames kFrames{.bytes_max = 1'000'000};

std::string frame(const std::string& content) {
    const auto size = static_cast<std::uint32_t>(content.size());
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) {
        bytes.push_back(static_cast<char>(size >> shift & 0xff));
    }
    return bytes + content;
}

runtime::Reply reply_of(std::string_view text, bool close = false) {
    runtime::Reply reply;
    for (const char letter : text) {
        reply.bytes.append_big_endian(static_cast<std::int8_t>(letter));
    }
    reply.close = close;
    return reply;
}

/// Plays the connection: hands bytes over in pieces, and takes the bytes to send in pieces.
class Dialogue : public ::testing::Test {
  protected:
    /// Receives `bytes`, at most `piece_bytes` at a time, and serves the requests that may be served. False when there was no
    /// room, which is how TCP pushes back.
    bool receive(std::string_view bytes, std::size_t piece_bytes = 1) {
        while (!bytes.empty()) {
            if (!conversation_.may_serve()) {
                return false;
            }
            const MutableBytes room = conversation_.room(pool_);
            if (room.empty()) {
                return false;
            }
            const std::size_t count = std::min({room.size(), piece_bytes, bytes.size()});
            std::memcpy(room.data(), bytes.data(), count);
            conversation_.received(count);
            bytes.remove_prefix(count);
            serve();
        }
        return true;
    }
    /// Takes all requests that may be served.
    void serve() {
        while (error_.empty()) {
            const auto request = conversation_.next_request(kFrames);
            if (!request) {
                error_ = request.error();
            } else if (!*request) {
                break;
            } else {
                served_.push_back(std::string(as_text((*request)->frame)));
                slots_.push_back((*request)->slot);
            }
        }
        conversation_.release_if_empty(pool_);
        pool_.end_turn();
    }
    /// Sends all that is ready, at most `piece_bytes` at a time.
    void send(std::size_t piece_bytes = 1) {
        std::array<Bytes, ReplyQueue::kGatheredMax> parts;
        while (!closed_) {
            const ReplyQueue::Next next = conversation_.next_to_send(parts);
            std::size_t count = 0;
            if (next.kind == ReplyQueue::Kind::nothing) {
                return;
            }
            if (next.kind == ReplyQueue::Kind::close) {
                closed_ = true;
                return;
            }
            if (next.kind == ReplyQueue::Kind::file) {
                count = std::min(piece_bytes, next.file_bytes);
                std::string piece(count, '\0');
                ASSERT_EQ(next.slice->file->read_at(next.file_position, std::as_writable_bytes(std::span(piece))), count);
                sent_ += piece;
            } else {
                for (const Bytes part : next.parts) {
                    const Bytes taken = part.first(std::min(part.size(), piece_bytes - count));
                    sent_ += as_text(taken);
                    count += taken.size();
                }
            }
            ASSERT_GT(count, 0u) << "what is to be sent is never nothing";
            conversation_.sent(count);
        }
    }
    bool fill(std::size_t request, runtime::Reply reply) { return conversation_.fill(slots_.at(request), std::move(reply)); }
    bool fill(std::size_t request, std::string_view text) { return fill(request, reply_of(text)); }

    [[nodiscard]] std::shared_ptr<File> file_with(const std::string& content) {
        auto file = files_.open("/file", OpenMode::create).value();
        const Bytes bytes = as_bytes(content);
        EXPECT_TRUE(file->write_at(0, {&bytes, 1}));
        return file;
    }

    test::MemoryFileSystem files_;
    RequestMemory memory_{0};
    BufferPool pool_{memory_};
    Conversation conversation_;
    std::vector<std::string> served_;
    std::vector<std::uint64_t> slots_;
    std::string error_;
    std::string sent_;
    bool closed_ = false;
};

TEST_F(Dialogue, FramesThatArriveByteByByteAreServedWholeAndInOrder) {
    EXPECT_TRUE(receive(frame("one") + frame("") + frame("three")));
    EXPECT_THAT(served_, ElementsAre("one", "", "three"));
    EXPECT_THAT(slots_, ElementsAre(0, 1, 2));
}

TEST_F(Dialogue, HowBytesAreCutIntoPiecesMakesNoDifference) {
    std::mt19937 chance(1);
    std::vector<std::string> contents;
    std::string stream;
    for (int i = 0; i < 60; ++i) {
        // Around the sizes of buffers, and small ones in between.
        const std::size_t size =
            i % 3 == 0 ? BufferPool::kSmallestBytes - 20 + chance() % 40 : chance() % 300'000 >> chance() % 18;
        contents.push_back(std::string(size, static_cast<char>('a' + i % 26)));
        stream += frame(contents.back());
    }
    for (std::string_view left = stream; !left.empty();) {
        const std::size_t count = std::min<std::size_t>(1 + (chance() % 400'000 >> chance() % 19), left.size());
        ASSERT_TRUE(receive(left.substr(0, count), count));
        left.remove_prefix(count);
    }
    ASSERT_EQ(served_.size(), contents.size());
    for (std::size_t i = 0; i < contents.size(); ++i) {
        ASSERT_TRUE(served_[i] == contents[i]) << i;
    }
    EXPECT_EQ(memory_.taken_bytes(), static_cast<std::int64_t>(pool_.pooled_bytes()))
        << "a connection without bytes holds no buffer";
}

TEST_F(Dialogue, AFrameAboveTheLimitAndWhatIsNoFrameAreRefusedAtTheirFourthByte) {
    EXPECT_TRUE(receive(frame("good")));
    const auto refuse = [&](std::string_view bytes) {
        conversation_ = Conversation();
        error_.clear();
        receive(bytes.substr(0, 3));
        EXPECT_EQ(error_, "");
        receive(bytes.substr(3, 1));
        return error_;
    };
    EXPECT_THAT(refuse(frame(std::string(kFrames.bytes_max + 1, 'x'))),
                HasSubstr("frame of 1000001 bytes is outside of 0..1000000"));
    EXPECT_THAT(refuse("\xff\xff\xff\xff"), HasSubstr("frame of -1 bytes"));
    EXPECT_THAT(refuse("GET / HTTP/1.1"), HasSubstr("an HTTP request"));
    EXPECT_THAT(refuse("\x16\x03\x01\x02"), HasSubstr("a TLS handshake"));
    EXPECT_THAT(served_, ElementsAre("good"));
}

TEST_F(Dialogue, MemoryFollowsBytesReceivedAndNotBytesDeclared) {
    const std::string large = frame(std::string(900'000, 'x'));
    ASSERT_TRUE(receive(large.substr(0, 10), 10));
    EXPECT_EQ(memory_.taken_bytes(), static_cast<std::int64_t>(BufferPool::kSmallestBytes));
    ASSERT_TRUE(receive(large.substr(10, 100'000), 100'000));
    EXPECT_LE(memory_.taken_bytes() - static_cast<std::int64_t>(pool_.pooled_bytes()), 4 * 131'072);
}

TEST_F(Dialogue, AFrameThatTricklesInIsMovedAFewTimesAndNotWithEveryPiece) {
    FrameReader reader;
    const std::string large = frame(std::string(900'000, 'x'));
    int moves = 0;
    const std::byte* end = nullptr;
    for (std::size_t filled = 0; filled < large.size();) {
        const MutableBytes room = reader.room(pool_);
        if (room.data() != end) {
            ++moves;
        }
        const std::size_t count = std::min({room.size(), large.size() - filled, std::size_t{100}});
        std::memcpy(room.data(), large.data() + filled, count);
        reader.received(count);
        end = room.data() + count;
        filled += count;
        const auto found = reader.next(kFrames);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->has_value(), filled == large.size());
        pool_.end_turn();
    }
    EXPECT_LE(moves, 8);
}

/// Fills `bytes` of each of `times` rooms, and returns the size of the room that the reader gives then. The bytes must end with a
/// whole frame if the reader is used again.
std::size_t room_after(FrameReader& reader, BufferPool& pool, std::size_t frame_bytes, std::size_t bytes, int times) {
    const std::string content = frame(std::string(frame_bytes - kafka::Frames::kSizePrefixBytes, 'x'));
    std::size_t sent = 0;
    for (int i = 0; i < times; ++i) {
        const MutableBytes room = reader.room(pool);
        const std::size_t count = std::min(bytes, room.size());
        for (std::size_t at = 0; at < count; ++at, ++sent) {
            room[at] = as_bytes(content)[sent % content.size()];
        }
        reader.received(count);
        while (reader.next(kFrames).value()) {
        }
        reader.release_if_empty(pool);
        pool.end_turn();
    }
    return reader.room(pool).size();
}

TEST_F(Dialogue, WhoHasMuchUnderWayIsReceivedInLargePiecesAndAgainInSmallOnesWhenItHasLittle) {
    constexpr std::size_t kMost = FrameReader::kReachBytesMax;
    for (const std::size_t frame_bytes : {std::size_t{200}, std::size_t{66'000}}) {
        FrameReader single;
        EXPECT_LE(room_after(single, pool_, frame_bytes, frame_bytes, 5), 2 * BufferPool::kSmallestBytes);
        FrameReader busy;
        const std::size_t room = room_after(busy, pool_, frame_bytes, kMost, 8);
        EXPECT_LE(room, kMost);
        EXPECT_GE(room, kMost - frame_bytes) << "what is left of a frame takes its place";
    }
    FrameReader reader;
    ASSERT_EQ(room_after(reader, pool_, 256, kMost, 8), kMost);
    EXPECT_EQ(room_after(reader, pool_, 256, 256, 8), BufferPool::kSmallestBytes);
}

TEST_F(Dialogue, AfterAVeryLargeFrameTheNextOneIsExpectedUpToALimit) {
    constexpr std::size_t kLargest = 2 * FrameReader::kExpectedBytesMax;
    FrameReader reader;
    const std::string large = frame(std::string(kLargest, 'x'));
    for (std::size_t filled = 0; filled < large.size();) {
        const MutableBytes room = reader.room(pool_);
        const std::size_t count = std::min(room.size(), large.size() - filled);
        std::memcpy(room.data(), large.data() + filled, count);
        ASSERT_GT(count, 0u);
        reader.received(count);
        filled += count;
        const auto found = reader.next(kafka::Frames{.bytes_max = kLargest});
        ASSERT_TRUE(found.has_value());
        ASSERT_EQ(found->has_value(), filled == large.size());
    }
    reader.release_if_empty(pool_);
    pool_.end_turn();
    EXPECT_EQ(reader.room(pool_).size(), FrameReader::kExpectedBytesMax);
}

TEST_F(Dialogue, WithoutMemoryForMuchThereIsRoomForTheNextFrame) {
    RequestMemory small(5 * static_cast<std::int64_t>(BufferPool::kSmallestBytes));
    BufferPool pool(small);
    FrameReader reader;
    EXPECT_GE(room_after(reader, pool, 66'000, FrameReader::kReachBytesMax, 8), 1u);
    EXPECT_LE(small.taken_bytes(), 5 * static_cast<std::int64_t>(BufferPool::kSmallestBytes));
}

TEST_F(Dialogue, ThereIsNoRoomWhileTheRequestMemoryIsUsedUp) {
    RequestMemory small(3 * static_cast<std::int64_t>(BufferPool::kSmallestBytes) / 2);
    BufferPool pool(small);
    FrameReader reader;
    const std::string start = frame(std::string(200'000, 'x')).substr(0, BufferPool::kSmallestBytes);
    for (std::size_t filled = 0; filled < start.size();) {
        const MutableBytes room = reader.room(pool);
        ASSERT_FALSE(room.empty()) << "the smallest buffer is everybody's";
        std::memcpy(room.data(), start.data() + filled, room.size());
        reader.received(room.size());
        filled += room.size();
    }
    ASSERT_TRUE(reader.next(kFrames).has_value());
    EXPECT_THAT(reader.room(pool), IsEmpty());
}

TEST_F(Dialogue, RepliesLeaveInTheOrderOfRequestsWheneverTheyBecomeReady) {
    receive(frame("a") + frame("b") + frame("c"));
    EXPECT_TRUE(fill(2, "third."));
    send();
    EXPECT_EQ(sent_, "");
    EXPECT_TRUE(fill(0, "first."));
    send();
    EXPECT_EQ(sent_, "first.");
    EXPECT_TRUE(fill(1, "second."));
    send();
    EXPECT_EQ(sent_, "first.second.third.");
    EXPECT_TRUE(conversation_.is_everything_answered());
}

TEST_F(Dialogue, ARequestThatIsGivenBackStaysTheNextOneUntilTheRestEnds) {
    receive(frame("a"));
    const std::string bytes = frame("b") + frame("c");
    const MutableBytes room = conversation_.room(pool_);
    std::memcpy(room.data(), bytes.data(), bytes.size());
    conversation_.received(bytes.size());
    const auto request = conversation_.next_request(kFrames);
    ASSERT_TRUE(request.has_value() && request->has_value());
    conversation_.give_back((*request)->slot);
    conversation_.rest(kNever);
    serve();
    conversation_.advance(Instant{1'000'000});
    serve();
    EXPECT_THAT(served_, ElementsAre("a"));
    EXPECT_TRUE(fill(0, "first."));
    send();
    EXPECT_EQ(sent_, "first.") << "earlier replies leave meanwhile";
    EXPECT_TRUE(conversation_.is_everything_answered());
    conversation_.end_rest();
    serve();
    EXPECT_THAT(served_, ElementsAre("a", "b", "c"));
    EXPECT_TRUE(fill(2, "third."));
    EXPECT_TRUE(fill(1, "second."));
    send();
    EXPECT_EQ(sent_, "first.second.third.");
}

TEST_F(Dialogue, OfMoreRepliesThanOneSendTakesTheOldestGoFirst) {
    constexpr std::size_t kReplies = ReplyQueue::kGatheredMax + 5;
    std::string expected;
    for (std::size_t i = 0; i < kReplies; ++i) {
        receive(frame("r"));
        expected += std::to_string(i) + ";";
        EXPECT_TRUE(fill(i, std::to_string(i) + ";"));
    }
    std::array<Bytes, ReplyQueue::kGatheredMax> parts;
    EXPECT_EQ(conversation_.next_to_send(parts).parts.size(), ReplyQueue::kGatheredMax);
    send(100'000);
    EXPECT_EQ(sent_, expected);
}

TEST_F(Dialogue, AReplyThatNobodyWaitsForIsDropped) {
    receive(frame("a"));
    EXPECT_FALSE(conversation_.fill(7, reply_of("never asked")));
    EXPECT_TRUE(fill(0, "answer"));
    send();
    EXPECT_FALSE(fill(0, "late"));
    send();
    EXPECT_EQ(sent_, "answer");
}

TEST_F(Dialogue, PartsOfFilesLeaveAtTheirPlacesInAReply) {
    const auto file = file_with("0123456789");
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
        receive(frame("fetch") + frame("next"));
        const std::size_t first = slots_.size() - 2;
        runtime::Reply reply = reply_of("headmiddletail");
        reply.pieces.push_back({.position = 4, .slice = {.file = file, .position = 2, .size = 3}});
        reply.pieces.push_back({.position = 4, .slice = {.file = file, .position = 9, .size = 0}});
        reply.pieces.push_back({.position = 10, .slice = {.file = file, .position = 0, .size = 2}});
        reply.pieces.push_back({.position = 14, .slice = {.file = file, .position = 9, .size = 1}});
        sent_.clear();
        EXPECT_TRUE(fill(first, std::move(reply)));
        EXPECT_TRUE(fill(first + 1, "."));
        send(piece_bytes);
        EXPECT_EQ(sent_, "head234middle01tail9.") << piece_bytes << " at a time";
        EXPECT_TRUE(conversation_.is_everything_answered());
    }
}

TEST_F(Dialogue, AReplyWithATreatmentLeavesAlone) {
    receive(frame("a") + frame("b") + frame("treated"));
    conversation_.treat(slots_[2], std::make_unique<runtime::ReplyTreatment>());
    receive(frame("c"));
    for (std::size_t request = 0; request < slots_.size(); ++request) {
        EXPECT_TRUE(fill(request, std::to_string(request)));
    }
    std::array<Bytes, ReplyQueue::kGatheredMax> parts;
    std::vector<std::string> sends;
    std::vector<bool> are_treated;
    for (ReplyQueue::Next next = conversation_.next_to_send(parts); next.kind != ReplyQueue::Kind::nothing;
         next = conversation_.next_to_send(parts)) {
        std::string& together = sends.emplace_back();
        for (const Bytes part : next.parts) {
            together += as_text(part);
        }
        are_treated.push_back(next.treatment != nullptr);
        conversation_.sent(next.parts_bytes);
    }
    EXPECT_THAT(sends, ElementsAre("01", "2", "3"));
    EXPECT_THAT(are_treated, ElementsAre(false, true, false));
}

TEST_F(Dialogue, ATreatmentChangesTheReplyThenRepeatsItAndThenCutsIt) {
    const auto file = file_with("0123456789");
    receive(frame("treated") + frame("next"));
    // The reply to the last request is the one that is treated.
    conversation_.treat(slots_[1], std::make_unique<runtime::ReplyTreatment>(runtime::ReplyTreatment{
                                       .change = [](runtime::Reply& reply) { reply.bytes.append(as_bytes("!")); },
                                       .is_sent_twice = true,
                                       .reset_after_bytes = 15}));
    runtime::Reply reply = reply_of("headtail");
    reply.pieces.push_back({.position = 4, .slice = {.file = file, .position = 2, .size = 3}});
    EXPECT_TRUE(fill(0, "."));
    EXPECT_TRUE(fill(1, std::move(reply)));
    send();
    EXPECT_EQ(sent_, ".head234tail!hea");
    EXPECT_TRUE(closed_);
}

TEST_F(Dialogue, NoRequestIsServedBehindAParkedOne) {
    receive(frame("wait"));
    conversation_.park(slots_[0]);
    EXPECT_TRUE(conversation_.is_parked());
    EXPECT_FALSE(receive(frame("next"))) << "nothing is received either";
    EXPECT_TRUE(fill(0, "now"));
    EXPECT_FALSE(conversation_.is_parked());
    EXPECT_TRUE(receive(frame("next")));
    EXPECT_THAT(served_, ElementsAre("wait", "next"));
}

TEST_F(Dialogue, RequestsThatWereReceivedTogetherWithAParkedOneAreServedAfterIt) {
    const std::string both = frame("wait") + frame("next");
    const MutableBytes room = conversation_.room(pool_);
    std::memcpy(room.data(), both.data(), both.size());
    conversation_.received(both.size());
    const auto first = conversation_.next_request(kFrames);
    ASSERT_TRUE(first && *first);
    slots_.push_back((*first)->slot);
    conversation_.park(slots_[0]);
    serve();
    EXPECT_THAT(served_, IsEmpty());
    EXPECT_TRUE(fill(0, "now"));
    serve();
    EXPECT_THAT(served_, ElementsAre("next"));
}

TEST_F(Dialogue, ARequestThatWasAnsweredBeforeItWasParkedHoldsNothingUp) {
    receive(frame("join"));
    EXPECT_TRUE(fill(0, "at once"));
    conversation_.park(slots_[0]);
    EXPECT_TRUE(conversation_.may_serve());
    send();
    conversation_.park(slots_[0]);
    EXPECT_TRUE(conversation_.may_serve()) << "nor when its answer has left";
}

TEST_F(Dialogue, NothingIsServedBeforeTheLatestOfItsRestsIsOver) {
    receive(frame("much"));
    EXPECT_EQ(conversation_.rest({100}), Instant{100});
    EXPECT_EQ(conversation_.rest({70}), Instant{100});
    EXPECT_FALSE(receive(frame("next")));
    conversation_.advance({99});
    EXPECT_FALSE(conversation_.may_serve());
    EXPECT_TRUE(fill(0, "first the answer"));
    send();
    EXPECT_EQ(sent_, "first the answer");
    conversation_.advance({100});
    EXPECT_TRUE(receive(frame("next")));
    EXPECT_THAT(served_, ElementsAre("much", "next"));
}

TEST_F(Dialogue, NothingIsServedWhileTooManyRequestsWaitForTheirReplies) {
    for (std::size_t i = 0; i < Conversation::kPipelinedRequestsMax; ++i) {
        ASSERT_TRUE(receive(frame("r"), 5)) << i;
    }
    EXPECT_FALSE(receive(frame("one more")));
    EXPECT_TRUE(fill(0, "."));
    EXPECT_FALSE(conversation_.may_serve()) << "it was not sent yet";
    send();
    EXPECT_TRUE(receive(frame("one more")));
}

TEST_F(Dialogue, NothingIsServedWhileTooManyBytesWaitToBeSent) {
    const auto file = file_with("x");
    receive(frame("a") + frame("b"));
    runtime::Reply large = reply_of("head");
    large.pieces.push_back({.position = 4, .slice = {.file = file, .size = Conversation::kQueuedReplyBytesMax - 5}});
    EXPECT_TRUE(fill(0, std::move(large)));
    EXPECT_TRUE(conversation_.may_serve());
    EXPECT_TRUE(fill(1, "b"));
    EXPECT_FALSE(receive(frame("c")));
}

TEST_F(Dialogue, AfterTheLastRequestEarlierRepliesStillLeaveAndThenItIsClosed) {
    receive(frame("a") + frame("bad"));
    conversation_.serve_no_more();
    EXPECT_FALSE(receive(frame("behind")));
    EXPECT_TRUE(fill(1, runtime::Reply{.close = true}));
    send();
    EXPECT_FALSE(closed_);
    EXPECT_TRUE(fill(0, "answer"));
    send();
    EXPECT_EQ(sent_, "answer");
    EXPECT_TRUE(closed_);
}

TEST_F(Dialogue, WhatFollowsAReplyThatClosesIsNotSent) {
    receive(frame("a") + frame("b"));
    EXPECT_TRUE(fill(0, reply_of("last words", true)));
    EXPECT_TRUE(fill(1, "unheard"));
    send(100);
    EXPECT_EQ(sent_, "last words");
    EXPECT_TRUE(closed_);
}

TEST_F(Dialogue, ItLeavesBetweenTwoRequestsWithWhatWasReceived) {
    receive(frame("a") + frame("second").substr(0, 5));
    conversation_.prepare_to_leave();
    EXPECT_FALSE(conversation_.may_leave()) << "a reply is due";
    EXPECT_FALSE(receive(frame("second").substr(5))) << "it receives elsewhere";
    EXPECT_TRUE(fill(0, "answer"));
    EXPECT_FALSE(conversation_.may_leave()) << "the reply has not left";
    conversation_.rest({50});
    send();
    EXPECT_FALSE(conversation_.may_leave()) << "it rests";
    conversation_.advance({50});
    ASSERT_TRUE(conversation_.may_leave());
    conversation_ = Conversation(conversation_.leave());
    EXPECT_TRUE(receive(frame("second").substr(5)));
    EXPECT_THAT(served_, ElementsAre("a", "second"));
}

TEST_F(Dialogue, OneThatIsAboutToEndDoesNotLeave) {
    receive(frame("bad"));
    conversation_.serve_no_more();
    conversation_.prepare_to_leave();
    EXPECT_TRUE(fill(0, runtime::Reply{.close = true}));
    send();
    EXPECT_TRUE(closed_);
    EXPECT_FALSE(conversation_.may_leave());
}

TEST_F(Dialogue, WhenItIsOverNothingIsServedOrFilledAndNoBufferIsHeld) {
    receive(frame("a") + frame("half").substr(0, 6));
    conversation_.end(pool_);
    EXPECT_TRUE(conversation_.is_over());
    EXPECT_FALSE(fill(0, "late"));
    EXPECT_FALSE(conversation_.may_serve());
    pool_.end_turn();
    EXPECT_EQ(memory_.taken_bytes(), static_cast<std::int64_t>(pool_.pooled_bytes()));
}

/// Receiving, answering and sending come in any order. Each request is served once and in order, and each is answered once and in
/// order.
TEST_F(Dialogue, EveryRequestIsAnsweredOnceAndInOrderWhateverHappensWhen) {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 chance(seed);
        conversation_ = Conversation();
        served_.clear();
        slots_.clear();
        sent_.clear();
        std::string stream;
        std::string expected;
        constexpr std::size_t kRequests = 40;
        for (std::size_t i = 0; i < kRequests; ++i) {
            stream += frame(std::to_string(i));
            if (i % 7 != 3) {
                expected += "reply " + std::to_string(i) + ";";
            }
        }
        std::vector<std::size_t> unanswered;
        std::size_t known = 0;
        Instant now{0};
        while (sent_.size() < expected.size() || !conversation_.is_everything_answered()) {
            ASSERT_EQ(error_, "");
            const std::size_t piece = 1 + chance() % 9;
            switch (chance() % 5) {
                case 0:
                    while (!stream.empty() && conversation_.may_serve()) {
                        const std::string part = stream.substr(0, piece);
                        ASSERT_TRUE(receive(part, piece));
                        stream.erase(0, part.size());
                        if (chance() % 2 == 0) {
                            break;
                        }
                    }
                    break;
                case 1:
                    if (!unanswered.empty()) {
                        const auto chosen = unanswered.begin() + static_cast<std::ptrdiff_t>(chance() % unanswered.size());
                        // Some requests get no bytes, such as a Produce with acks=0.
                        ASSERT_TRUE(fill(*chosen, *chosen % 7 == 3 ? "" : "reply " + std::to_string(*chosen) + ";"));
                        unanswered.erase(chosen);
                    }
                    break;
                case 2:
                    if (!unanswered.empty() && chance() % 4 == 0) {
                        conversation_.park(slots_[unanswered.back()]);
                    }
                    break;
                case 3:
                    if (chance() % 8 == 0) {
                        conversation_.rest(now + 1 + chance() % 5);
                    }
                    break;
                default:
                    conversation_.advance(now = now + 1);
                    send(piece);
            }
            serve();
            for (; known < served_.size(); ++known) {
                unanswered.push_back(known);
            }
        }
        ASSERT_EQ(sent_, expected) << "seed " << seed;
        ASSERT_EQ(served_.size(), kRequests);
        for (std::size_t i = 0; i < kRequests; ++i) {
            ASSERT_EQ(served_[i], std::to_string(i)) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace partita::net
