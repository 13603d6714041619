#include "broker/net/tls_transport.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/net/any_transport.h"
#include "broker/tls/server_context.h"
#include "tests/support/memory_file_system.h"
#include "tests/unit/tls/stores.h"
#include "tests/unit/tls/tls_client.h"

namespace partita::net {
namespace {

using Status = Transport::Status;

// Connections without TLS are as large as before.
static_assert(sizeof(AnyTransport) == sizeof(std::variant<PlainTransport>));

std::string long_text(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; text.size() < bytes; ++i) {
        text += std::to_string(i) + ",";
    }
    text.resize(bytes);
    return text;
}

class TlsTransportTest : public ::testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets_.data()), 0);
        auto material =
            tls::load_key_material(test::configs_of({{"ssl.keystore.type", "PEM"},
                                                     {"ssl.keystore.key", test::store_text("server.key")},
                                                     {"ssl.keystore.certificate.chain", test::store_text("chain.pem")}}));
        const auto context = tls::ServerContext::make(std::move(material.value()), {}).value();
        tls::ConnectionPointer server = context->connect(sockets_[0]);
        client_ = std::make_unique<test::TlsClient>(sockets_[1], test::TlsClient::Wishes{.version_max = GetParam()});
        for (int step = 0; step < 10 && tls::shake_hands(*server).status != tls::HandshakeStep::Status::complete; ++step) {
            ASSERT_GE(client_->go_on(), 0);
        }
        ASSERT_EQ(client_->go_on(), 1);
        transport_ = std::make_unique<TlsTransport>(std::move(server));
    }
    void TearDown() override {
        for (const int each : sockets_) {
            ::close(each);
        }
    }
    [[nodiscard]] std::string take_all() {
        std::string all;
        for (std::string some = client_->receive(); !some.empty(); some = client_->receive()) {
            all += some;
        }
        return all;
    }

    std::array<int, 2> sockets_{-1, -1};
    std::unique_ptr<test::TlsClient> client_;
    std::unique_ptr<TlsTransport> transport_;
};

INSTANTIATE_TEST_SUITE_P(Versions, TlsTransportTest, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST_P(TlsTransportTest, ReceivesWhatCameAndSaysWhenThereIsNothingAndWhenThePeerIsGone) {
    std::array<std::byte, 64> room;
    EXPECT_EQ(transport_->receive(room).status, Status::would_block);
    EXPECT_FALSE(transport_->is_over());
    ASSERT_TRUE(client_->send("hello"));
    ASSERT_TRUE(client_->send(" again"));
    const Transport::Moved moved = transport_->receive(room);
    EXPECT_EQ(as_text(Bytes(room).first(moved.bytes)), "hello again") << "one call takes what is there";
    EXPECT_FALSE(transport_->holds_bytes());
    ASSERT_TRUE(client_->send("unread"));
    SSL_shutdown(&client_->connection());
    ::shutdown(sockets_[1], SHUT_WR);
    EXPECT_TRUE(transport_->is_over()) << "also with something unread";
    EXPECT_EQ(transport_->receive(room).bytes, 6u);
    EXPECT_EQ(transport_->receive(room).status, Status::ended);
}

TEST_P(TlsTransportTest, WhatOneRecordHoldsBeyondTheRoomIsNotForgotten) {
    const std::string text = long_text(10'000);
    ASSERT_TRUE(client_->send(text));
    std::string received;
    std::array<std::byte, 1000> room;
    while (received.size() < text.size()) {
        const Transport::Moved moved = transport_->receive(room);
        ASSERT_EQ(moved.status, Status::done);
        received += as_text(Bytes(room).first(moved.bytes));
        EXPECT_EQ(transport_->holds_bytes(), received.size() < text.size()) << "the socket has nothing to read any more";
    }
    EXPECT_EQ(received, text);
}

TEST_P(TlsTransportTest, HalfARecordIsNothingToWaitForInMemory) {
    std::array<std::byte, 64> room;
    // Takes the record that the client would send; only a part of it will arrive.
    std::array<int, 2> other{-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, other.data()), 0);
    SSL_set_fd(&client_->connection(), other[0]);
    ASSERT_TRUE(client_->send("hello"));
    std::array<char, 256> record;
    const ssize_t size = ::recv(other[1], record.data(), record.size(), 0);
    ASSERT_GT(size, 10);
    ASSERT_EQ(::send(sockets_[1], record.data(), static_cast<std::size_t>(size) - 3, 0), size - 3);
    EXPECT_EQ(transport_->receive(room).status, Status::would_block);
    EXPECT_FALSE(transport_->holds_bytes());
    ASSERT_EQ(::send(sockets_[1], record.data() + size - 3, 3, 0), 3);
    EXPECT_EQ(transport_->receive(room).bytes, 5u);
    for (const int each : other) {
        ::close(each);
    }
}

TEST_P(TlsTransportTest, AFloodOfSmallRecordsIsTakenInTurns) {
    constexpr std::size_t kSent = TlsTransport::kRecordsMax + 10;
    for (std::size_t each = 0; each < kSent; ++each) {
        ASSERT_TRUE(client_->send("x"));
    }
    std::array<std::byte, 4096> room;
    EXPECT_EQ(transport_->receive(room).bytes, TlsTransport::kRecordsMax);
    EXPECT_TRUE(transport_->holds_bytes()) << "OpenSSL has received the rest already";
    EXPECT_EQ(transport_->receive(room).bytes, kSent - TlsTransport::kRecordsMax);
    EXPECT_FALSE(transport_->holds_bytes());
}

TEST_P(TlsTransportTest, AClientMayChangeItsKeysAndNotWithoutEnd) {
    if (GetParam() != TLS1_3_VERSION) {
        GTEST_SKIP() << "keys change in TLS 1.3 alone";
    }
    std::array<std::byte, 64> room;
    const auto change_keys = [&](std::size_t times) {
        for (std::size_t each = 0; each < times; ++each) {
            ASSERT_EQ(SSL_key_update(&client_->connection(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
            ASSERT_EQ(SSL_do_handshake(&client_->connection()), 1);
        }
    };
    // The client may change keys as often as it likes, as long as it sends data in between.
    for (int round = 0; round < 3; ++round) {
        change_keys(tls::kRecordsWithoutDataMax);
        ASSERT_TRUE(client_->send("data"));
        EXPECT_EQ(transport_->receive(room).bytes, 4u);
    }
    change_keys(tls::kRecordsWithoutDataMax + 1);
    ASSERT_TRUE(client_->send("data"));
    EXPECT_EQ(transport_->receive(room).status, Status::ended);
}

TEST_P(TlsTransportTest, SendsPartsOneBehindTheOtherUntilTheSocketIsFullAndGoesOnThere) {
    const std::string text = long_text(3'000'000);
    std::string received;
    std::size_t sent = 0;
    bool was_full = false;
    while (sent < text.size()) {
        const std::string_view rest = std::string_view(text).substr(sent);
        // Small parts, a large one and an empty one, with different borders in each call.
        const std::array parts{as_bytes(rest.substr(0, 10)), as_bytes(rest.substr(std::min<std::size_t>(10, rest.size()), 0)),
                               as_bytes(rest.substr(std::min<std::size_t>(10, rest.size()), 100'000)),
                               as_bytes(rest.substr(std::min<std::size_t>(100'010, rest.size()), 500'000))};
        const Transport::Moved moved = transport_->send(parts, true);
        ASSERT_TRUE(moved.status == Status::done || moved.status == Status::would_block);
        sent += moved.bytes;
        if (moved.status == Status::would_block) {
            was_full = true;
            received += take_all();
        }
    }
    received += take_all();
    EXPECT_TRUE(was_full);
    EXPECT_EQ(received, text);
}

TEST_P(TlsTransportTest, FilesAreSentByTheirBytes) {
    test::MemoryFileSystem files;
    const std::string text = long_text(50'000);
    auto file = files.open("/file", OpenMode::create).value();
    const Bytes bytes = as_bytes(text);
    ASSERT_TRUE(file->write_at(0, {&bytes, 1}));
    ASSERT_FALSE(transport_->can_send(*file));
    std::array<std::byte, 40'000> scratch;
    EXPECT_EQ(send_from_file(*transport_, *file, 100, 45'000, scratch).bytes, scratch.size());
    EXPECT_EQ(take_all(), text.substr(100, scratch.size()));
}

TEST_P(TlsTransportTest, SaysGoodBye) {
    transport_->shut_down();
    EXPECT_EQ(client_->receive(), "");
    EXPECT_EQ(SSL_get_shutdown(&client_->connection()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
}

TEST_P(TlsTransportTest, BytesThatAreNoRecordsEndIt) {
    ASSERT_EQ(::send(sockets_[1], "\0\0\0\x2a no TLS at all", 16, 0), 16);
    std::array<std::byte, 64> room;
    EXPECT_EQ(transport_->receive(room).status, Status::ended);
    transport_->shut_down();
    EXPECT_EQ(transport_->receive(room).status, Status::ended);
}

}  // namespace
}  // namespace partita::net
