#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "broker/net/plain_transport.h"
#include "broker/net/transport.h"
#include "tests/support/broker_process.h"
#include "tests/support/memory_file_system.h"

namespace partita::net {
namespace {

using Status = Transport::Status;

std::string text_of(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; text.size() < bytes; ++i) {
        text += std::to_string(i) + ",";
    }
    text.resize(bytes);
    return text;
}

class PlainTransportTest : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets_.data()), 0); }
    void TearDown() override {
        ::close(sockets_[0]);
        close_peer();
    }
    void close_peer() {
        if (sockets_[1] >= 0) {
            ::close(sockets_[1]);
        }
        sockets_[1] = -1;
    }
    /// Takes everything that the peer has received so far.
    [[nodiscard]] std::string take_all() {
        std::string all;
        std::array<char, 65536> some;
        for (ssize_t count = 0; (count = ::recv(sockets_[1], some.data(), some.size(), 0)) > 0;) {
            all.append(some.data(), static_cast<std::size_t>(count));
        }
        return all;
    }
    [[nodiscard]] std::shared_ptr<File> file_with(FileSystem& files, const std::string& path, const std::string& content) {
        auto file = files.open(path, OpenMode::create).value();
        const Bytes bytes = as_bytes(content);
        EXPECT_TRUE(file->write_at(0, {&bytes, 1}));
        return file;
    }

    std::array<int, 2> sockets_{-1, -1};
    test::TemporaryDirectory directory_;
    PosixFileSystem disk_;
    test::MemoryFileSystem memory_;
};

TEST_F(PlainTransportTest, ReceivesWhatCameAndSaysWhenThereIsNothingAndWhenThePeerIsGone) {
    PlainTransport transport(sockets_[0]);
    std::array<std::byte, 8> room{};
    EXPECT_EQ(transport.receive(room).status, Status::would_block);
    EXPECT_FALSE(transport.is_over());
    ASSERT_EQ(::send(sockets_[1], "hello", 5, 0), 5);
    EXPECT_FALSE(transport.is_over());
    const Transport::Moved moved = transport.receive(room);
    EXPECT_EQ(moved.status, Status::done);
    EXPECT_EQ(as_text(Bytes(room).first(moved.bytes)), "hello") << "looking whether it is over took nothing";
    close_peer();
    EXPECT_TRUE(transport.is_over());
    EXPECT_EQ(transport.receive(room).status, Status::ended);
}

TEST_F(PlainTransportTest, SendsPartsOneBehindTheOtherUntilTheSocketIsFull) {
    PlainTransport transport(sockets_[0]);
    const std::string text = text_of(3'000'000);
    std::string received;
    std::size_t sent = 0;
    bool was_full = false;
    while (sent < text.size()) {
        const Bytes rest = as_bytes(text).subspan(sent);
        const std::array parts{rest.first(rest.size() / 3), rest.subspan(rest.size() / 3)};
        const Transport::Moved moved = transport.send(parts, false);
        if (moved.status == Status::would_block) {
            EXPECT_EQ(moved.bytes, 0u);
            was_full = true;
            received += take_all();
            continue;
        }
        ASSERT_EQ(moved.status, Status::done);
        sent += moved.bytes;
    }
    EXPECT_TRUE(was_full);
    EXPECT_TRUE(received + take_all() == text);
    close_peer();
    const Bytes more = as_bytes("more");
    EXPECT_EQ(transport.send({&more, 1}, false).status, Status::ended);
}

TEST_F(PlainTransportTest, OfMorePartsThanOneCallTakesTheFirstOnesGo) {
    PlainTransport transport(sockets_[0]);
    const std::vector<Bytes> parts(PlainTransport::kPartsMax + 3, as_bytes("ab"));
    EXPECT_EQ(transport.send(parts, false).bytes, 2 * PlainTransport::kPartsMax);
}

TEST_F(PlainTransportTest, SendsAFileWithoutReadingItAndSaysWhereItEnds) {
    PlainTransport transport(sockets_[0]);
    const std::string text = text_of(50'000);
    const auto file = file_with(disk_, directory_ / "file", text);
    ASSERT_TRUE(transport.can_send(*file));
    EXPECT_EQ(transport.send_file(*file, 1000, 20'000).bytes, 20'000u);
    EXPECT_TRUE(take_all() == text.substr(1000, 20'000));
    EXPECT_EQ(transport.send_file(*file, text.size(), 1).status, Status::file_ended);
}

TEST_F(PlainTransportTest, AFileWithoutADescriptorIsSentByReadingIt) {
    PlainTransport transport(sockets_[0]);
    const std::string text = text_of(1000);
    const auto file = file_with(memory_, "/file", text);
    ASSERT_FALSE(transport.can_send(*file));
    std::array<std::byte, 64> scratch;
    EXPECT_EQ(send_from_file(transport, *file, 100, 500, scratch).bytes, scratch.size());
    EXPECT_EQ(take_all(), text.substr(100, scratch.size()));
    EXPECT_EQ(send_from_file(transport, *file, text.size(), 1, scratch).status, Status::file_ended);
}

/// A transport that takes a few bytes now and then and has to see all of them, as one that encrypts.
class Opaque final : public Transport {
  public:
    static constexpr std::size_t kAtOnce = 700;

    [[nodiscard]] Moved receive(MutableBytes) override { return {.status = Status::would_block}; }
    [[nodiscard]] Moved send(std::span<const Bytes> parts, bool more_follows) override {
        if (calls_++ % 3 == 1) {
            return {.status = Status::would_block};
        }
        const Bytes taken = parts[0].first(std::min(parts[0].size(), kAtOnce));
        sent += as_text(taken);
        announced_more = more_follows;
        return {.bytes = taken.size()};
    }
    [[nodiscard]] bool can_send(const File&) const override { return false; }
    [[nodiscard]] Moved send_file(File&, std::uint64_t, std::size_t) override {
        ADD_FAILURE() << "it cannot";
        return {.status = Status::ended};
    }
    [[nodiscard]] bool holds_bytes() const override { return false; }
    [[nodiscard]] bool is_over() override { return false; }
    [[nodiscard]] std::size_t bytes_on_the_way() override { return 0; }
    void shut_down() override {}

    std::string sent;
    bool announced_more = false;

  private:
    int calls_ = 0;
};

TEST_F(PlainTransportTest, ATransportThatCannotSendFilesGetsTheirBytes) {
    Opaque transport;
    const std::string text = text_of(10'000);
    const auto file = file_with(disk_, directory_ / "file", text);
    std::array<std::byte, 1024> scratch;
    constexpr std::size_t kFrom = 123;
    constexpr std::size_t kBytes = 9000;
    while (transport.sent.size() < kBytes) {
        const std::size_t done = transport.sent.size();
        const Transport::Moved moved = send_from_file(transport, *file, kFrom + done, kBytes - done, scratch);
        ASSERT_TRUE(moved.status == Status::done || (moved.status == Status::would_block && moved.bytes == 0));
        EXPECT_EQ(transport.sent.size(), done + moved.bytes);
    }
    EXPECT_EQ(transport.sent, text.substr(kFrom, kBytes));
    EXPECT_FALSE(transport.announced_more) << "the last piece is the end";
}

}  // namespace
}  // namespace partita::net
