// Tests what strangers may send. Each connection gets what Kafka gives, the log reports it once, memory stays bounded, and a
// well-behaved client beside them notices nothing.

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "protocol/compression.h"
#include "protocol/crc32c.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/18_api_versions.h"
#include "tests/support/broker_process.h"
#include "tests/support/good_neighbour.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kTopic = "target";

class BadInput : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = BrokerProcess::start({.overrides = {"socket.listen.backlog.size=1024"}});
        ASSERT_NE(broker_, nullptr);
        WireClient client(broker_->port());
        ASSERT_TRUE(create_topic(client, kTopic, 1));
        // Time that the machine spends on other programs does not count here.
        neighbour_.emplace(broker_->port(), "neighbour", [this] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration_cast<std::chrono::milliseconds>(now) - broker_->kept_waiting() - thread_kept_waiting();
        });
    }

    void TearDown() override {
        ASSERT_NE(broker_, nullptr);
        ASSERT_TRUE(broker_->is_running());
        neighbour_->finish();
        if (!is_busy_on_purpose_) {
            EXPECT_LT(neighbour_->slowest_round(), 2s * patience());
        }
        neighbour_.reset();
        EXPECT_EQ(broker_->count_in_output("ERROR"), 0u) << broker_->output();
        EXPECT_EQ(broker_->stop().exit_code, 0);
    }

    /// Expects that these bytes close the connection, and that the log says `reason`.
    void expect_closed(std::span<const std::byte> bytes, const std::string& reason) {
        WireClient client(broker_->port());
        client.send(bytes);
        EXPECT_FALSE(client.receive().has_value()) << reason;
        EXPECT_TRUE(client.was_closed()) << reason << ": " << client.failure();
        EXPECT_TRUE(broker_->wait_for_output(reason)) << reason << "\n" << broker_->output();
    }

    void expect_produce_error(std::span<const std::byte> batch, ErrorCode expected, const std::string& what) {
        WireClient client(broker_->port());
        const auto error = produce(client, kTopic, 0, batch);
        ASSERT_TRUE(error.has_value()) << what << ": " << client.failure();
        EXPECT_EQ(static_cast<int>(*error), static_cast<int>(expected)) << what;
    }

    std::unique_ptr<BrokerProcess> broker_;
    /// The test keeps the broker, or the machine, so busy that the neighbour's waiting times mean nothing.
    bool is_busy_on_purpose_ = false;
    std::optional<GoodNeighbour> neighbour_;
};

std::vector<std::byte> prefix(std::int32_t size) {
    std::vector<std::byte> bytes(4);
    store_big_endian(bytes.data(), size);
    return bytes;
}

TEST_F(BadInput, LengthsOutsideOfTheLimitCloseTheConnection) {
    for (const std::int32_t size : {-1, -2147483647 - 1, 2147483647, 104857601}) {
        expect_closed(prefix(size), "frame of ");
    }
    expect_closed(frame_of({}), "request header: ");
}

TEST_F(BadInput, HeadersAndBodiesThatEndEarlyCloseTheConnection) {
    const std::vector<std::byte> whole = request_frame<MetadataRequest>(12, {});
    for (std::size_t size = 1; size + 4 < whole.size(); ++size) {
        WireClient client(broker_->port());
        client.send(frame_of(std::span(whole).subspan(4, size)));
        EXPECT_FALSE(client.receive().has_value()) << size;
        EXPECT_TRUE(client.was_closed()) << size;
    }
    EXPECT_TRUE(broker_->wait_for_output("request header: "));
    EXPECT_TRUE(broker_->wait_for_output("malformed Metadata"));
}

TEST_F(BadInput, OtherProtocolsOnThePortCloseTheConnectionAndAreNamed) {
    expect_closed(bytes_of("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "an HTTP request came to the Kafka port");
    const std::array<unsigned char, 10> hello{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03};
    expect_closed(std::as_bytes(std::span(hello)), "a TLS handshake came to a PLAINTEXT listener");
    expect_closed(bytes_of("SSH-2.0-OpenSSH_9.2p1\r\n"), "connection closed");
}

TEST_F(BadInput, GarbageClosesTheConnection) {
    std::uint64_t state = 42;
    for (int round = 0; round < 300; ++round) {
        std::vector<std::byte> garbage(1 + round * 7);
        for (std::byte& byte : garbage) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            byte = static_cast<std::byte>(state >> 56);
        }
        WireClient client(broker_->port());
        client.send(round % 2 == 0 ? garbage : frame_of(garbage));
        client.finish_sending();
        EXPECT_TRUE(client.is_closed_within()) << round;
    }
}

TEST_F(BadInput, AFloodOfTheSameFaultIsOneLogLine) {
    for (int round = 0; round < 500; ++round) {
        WireClient client(broker_->port());
        client.send(bytes_of("GET / HTTP/1.1\r\n\r\n"));
        EXPECT_TRUE(client.is_closed_within());
    }
    const std::size_t lines = broker_->count_in_output("an HTTP request came");
    EXPECT_GE(lines, 1u);
    EXPECT_LT(lines, 100u);
    EXPECT_GE(broker_->metric("partita_connections_closed_for_bad_input_total").value_or(0), 500.0);
}

TEST_F(BadInput, ArrayAndTagBombsCostNothing) {
    const std::int64_t before = broker_->resident_kib();
    const auto header = [](std::int16_t key, std::int16_t version, bool flexible) {
        ByteBuffer content;
        content.append_big_endian(key);
        content.append_big_endian(version);
        content.append_big_endian(std::int32_t{1});
        content.append_big_endian(std::int16_t{-1});
        if (flexible) {
            content.append_big_endian(std::int8_t{0});
        }
        return content;
    };
    const auto five_bytes_varint = bytes_of("\xff\xff\xff\xff\x0f");
    const std::vector<std::byte> filling(1024 * 1024, std::byte{1});
    {
        // An array of 2^31-1 topics, classic and compact.
        ByteBuffer classic = header(3, 4, false);
        classic.append_big_endian(std::int32_t{2147483647});
        expect_closed(frame_of(classic.bytes()), "malformed Metadata");
        ByteBuffer compact = header(3, 12, true);
        compact.append(five_bytes_varint);
        compact.append(filling);
        expect_closed(frame_of(compact.bytes()), "malformed Metadata");
    }
    {
        // Tags: a count of 2^32-1 in the header, in the body; and half a million real ones, which are legal.
        ByteBuffer in_header;
        in_header.append_big_endian(std::int16_t{18});
        in_header.append_big_endian(std::int16_t{3});
        in_header.append_big_endian(std::int32_t{1});
        in_header.append_big_endian(std::int16_t{-1});
        in_header.append(five_bytes_varint);
        in_header.append(filling);
        expect_closed(frame_of(in_header.bytes()), "request header: ");
        ByteBuffer in_body = header(18, 3, true);
        in_body.append(
            bytes_of("\x02"
                     "a\x02"
                     "b"));
        in_body.append(five_bytes_varint);
        in_body.append(filling);
        expect_closed(frame_of(in_body.bytes()), "malformed ApiVersions");
    }
    {
        // Strings that claim to be long.
        ByteBuffer text = header(10, 0, false);
        text.append_big_endian(std::int16_t{32767});
        expect_closed(frame_of(text.bytes()), "malformed FindCoordinator");
    }
    EXPECT_LT(broker_->resident_kib(), before + 24 * 1024 * patience());
}

/// A flexible request of that kind, up to its body.
ByteBuffer flexible_request(std::int16_t key, std::int16_t version) {
    ByteBuffer content;
    content.append_big_endian(key);
    content.append_big_endian(version);
    content.append_big_endian(std::int32_t{1});
    content.append_big_endian(std::int16_t{-1});
    content.append_big_endian(std::int8_t{0});
    return content;
}

void append_varint(ByteBuffer& content, std::uint32_t value) {
    for (; value >= 0x80; value >>= 7) {
        content.append_big_endian(static_cast<std::uint8_t>(value | 0x80));
    }
    content.append_big_endian(static_cast<std::uint8_t>(value));
}

TEST_F(BadInput, NestedArraysTakeMemoryLikeTheirBytes) {
    const std::int64_t before = broker_->resident_kib();
    {
        // Produce v3: one topic, whose partitions are 2^31-1.
        ByteBuffer produce;
        produce.append_big_endian(std::int16_t{0});
        produce.append_big_endian(std::int16_t{3});
        produce.append_big_endian(std::int32_t{1});
        produce.append_big_endian(std::int16_t{-1});
        produce.append_big_endian(std::int16_t{-1});
        produce.append_big_endian(std::int16_t{1});
        produce.append_big_endian(std::int32_t{1000});
        produce.append_big_endian(std::int32_t{1});
        produce.append_big_endian(std::int16_t{1});
        produce.append(bytes_of("t"));
        produce.append_big_endian(std::int32_t{2147483647});
        expect_closed(frame_of(produce.bytes()), "malformed Produce");
    }
    constexpr std::uint32_t kElements = 300'000;
    {
        // OffsetFetch v8 of groups without names and topics, three bytes each: legal, and answered.
        ByteBuffer groups = flexible_request(9, 8);
        append_varint(groups, kElements + 1);
        const std::vector<std::byte> group = bytes_of(std::string_view("\1\0\0", 3));
        for (std::uint32_t i = 0; i < kElements; ++i) {
            groups.append(group);
        }
        groups.append(bytes_of(std::string_view("\0\0", 2)));
        WireClient client(broker_->port());
        ASSERT_TRUE(client.send(frame_of(groups.bytes())));
        EXPECT_TRUE(client.receive(std::chrono::seconds(10) * patience()).has_value());
    }
    {
        // Fetch v12 of topics without names, each with an array of no partitions.
        ByteBuffer fetch = flexible_request(1, 12);
        fetch.append_big_endian(std::int32_t{-1});
        fetch.append_big_endian(std::int32_t{0});
        fetch.append_big_endian(std::int32_t{0});
        fetch.append_big_endian(std::int32_t{1 << 20});
        fetch.append_big_endian(std::int8_t{0});
        fetch.append_big_endian(std::int32_t{0});
        fetch.append_big_endian(std::int32_t{-1});
        append_varint(fetch, kElements + 1);
        const std::vector<std::byte> topic = bytes_of(std::string_view("\1\1\0", 3));
        for (std::uint32_t i = 0; i < kElements; ++i) {
            fetch.append(topic);
        }
        fetch.append(bytes_of(std::string_view("\1\1\0", 3)));
        WireClient client(broker_->port());
        ASSERT_TRUE(client.send(frame_of(fetch.bytes())));
        EXPECT_TRUE(client.receive(std::chrono::seconds(10) * patience()).has_value());
    }
    EXPECT_LT(broker_->resident_kib(), before + 96 * 1024 * patience());
}

TEST_F(BadInput, DeclaredButNotSentFramesTakeNoMemory) {
    const std::int64_t before = broker_->resident_kib();
    std::vector<WireClient> clients;
    for (int i = 0; i < 200; ++i) {
        clients.emplace_back(broker_->port());
        ASSERT_TRUE(clients.back().is_connected());
        auto bytes = prefix(100 * 1024 * 1024);
        bytes.resize(bytes.size() + 10);
        ASSERT_TRUE(clients.back().send(bytes));
    }
    ASSERT_TRUE(clients.back().is_silent_for(200ms));
    // 200 connections, 16 KiB each, and room for the neighbour's work.
    EXPECT_LT(broker_->resident_kib(), before + (200 * 16 + 8 * 1024) * patience());
}

TEST_F(BadInput, LargestLegalFrameIsServedAndItsMemoryComesBack) {
    // Large and useless: a Metadata request whose unknown tag is 30 MB long.
    const std::int64_t before = broker_->resident_kib();
    ByteBuffer content;
    content.append_big_endian(std::int16_t{18});
    content.append_big_endian(std::int16_t{3});
    content.append_big_endian(std::int32_t{5});
    content.append_big_endian(std::int16_t{-1});
    content.append_big_endian(std::int8_t{0});
    content.append(
        bytes_of("\x02"
                 "a\x02"
                 "b"));
    content.append(bytes_of("\x01\x63"));  // One tag, number 99.
    constexpr std::uint32_t kSize = 30'000'000;
    for (std::uint32_t rest = kSize; true; rest >>= 7) {
        if (rest < 128) {
            content.append_big_endian(static_cast<std::uint8_t>(rest));
            break;
        }
        content.append_big_endian(static_cast<std::uint8_t>(rest | 128));
    }
    std::memset(content.extend(kSize), 7, kSize);
    WireClient client(broker_->port());
    ASSERT_TRUE(client.send(frame_of(content.bytes())));
    EXPECT_NE(client.read_reply(*find_api(ApiKey::api_versions), 3, 5, WireClient::kPatience), nullptr) << client.failure();
    // Pools may keep some of it for the next one.
    EXPECT_LT(broker_->resident_kib(), before + 48 * 1024 * patience());
}

TEST_F(BadInput, DamagedBatchesAreRefusedWithKafkasCodes) {
    const std::array values{std::string(200, 'x'), std::string(200, 'y')};
    const std::vector<std::byte> good = make_batch(values);
    expect_produce_error(good, ErrorCode::none, "as it is");

    auto wrong_checksum = good;
    wrong_checksum.back() ^= std::byte{1};
    expect_produce_error(wrong_checksum, ErrorCode::corrupt_message, "one bit of a value");
    auto truncated = good;
    truncated.resize(good.size() - 1);
    // A truncated frame has no whole batch. Kafka calls a missing batch invalid rather than corrupt.
    expect_produce_error(truncated, ErrorCode::invalid_record, "one byte less");
    expect_produce_error(std::span(good).first(30), ErrorCode::invalid_record, "half a header");
    auto old_magic = good;
    old_magic[16] = std::byte{1};
    expect_produce_error(old_magic, ErrorCode::invalid_record, "magic 1");
    std::vector<std::byte> two = good;
    two.insert(two.end(), good.begin(), good.end());
    expect_produce_error(two, ErrorCode::invalid_record, "two batches");
    expect_produce_error({}, ErrorCode::invalid_record, "no batch");
    expect_produce_error(good, ErrorCode::none, "and the partition goes on");
}

/// Returns that many zeros, compressed.
std::vector<std::byte> gzip_bomb(std::size_t uncompressed_bytes) {
    std::vector<std::byte> out(1024 * 1024);
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    std::vector<unsigned char> zeros(1 << 20);
    for (std::size_t done = 0; done < uncompressed_bytes; done += zeros.size()) {
        stream.next_in = zeros.data();
        stream.avail_in = static_cast<uInt>(zeros.size());
        deflate(&stream, Z_NO_FLUSH);
    }
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::vector<std::byte> batch_around(Codec codec, std::span<const std::byte> compressed) {
    const std::array values{std::string("v")};
    std::vector<std::byte> batch = make_batch(values);
    batch.resize(61);
    batch.insert(batch.end(), compressed.begin(), compressed.end());
    store_big_endian(batch.data() + 8, static_cast<std::int32_t>(batch.size() - 12));
    store_big_endian(batch.data() + 21, static_cast<std::int16_t>(codec));
    store_big_endian(batch.data() + 17, static_cast<std::int32_t>(crc32c(std::span(batch).subspan(21))));
    return batch;
}

/// Returns the most memory that the process ever had.
std::int64_t peak_resident_kib(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return std::stoll(line.substr(6));
        }
    }
    return -1;
}

// The cost of a bomb is counted in the broker's own processor time and memory, and the test waits for its answer however long
// that takes. On a machine that is busy otherwise the numbers are the same.
TEST_F(BadInput, DecompressionBombsStayBounded) {
    is_busy_on_purpose_ = true;
    std::chrono::milliseconds spent{0};
    const auto refusal_of = [&](std::span<const std::byte> batch) -> std::optional<ErrorCode> {
        std::array partitions{ProduceRequest::PartitionProduceData{.index = 0, .records = Records(Bytes(batch))}};
        std::array topics{ProduceRequest::TopicProduceData{.name = kTopic, .partition_data = partitions}};
        const ProduceRequest request{.acks = 1, .timeout_ms = 5000, .topic_data = topics};
        WireClient client(broker_->port());
        const auto before = broker_->processor_time();
        const auto* response = client.call<ProduceResponse>(9, request, 1h);
        spent += broker_->processor_time() - before;
        return response == nullptr ? std::nullopt : std::optional(response->responses[0].partition_responses[0].error_code);
    };
    // A frame as large as the following ones, without anything to decompress.
    (void)refusal_of(std::vector<std::byte>(1 << 20));
    spent = {};
    const std::int64_t before = broker_->resident_kib();
    const std::int64_t peak = peak_resident_kib(broker_->process_id());
    {
        // Zeros without end, which are not records, either.
        const std::vector<std::byte> bomb = gzip_bomb(std::size_t{128} << 20);
        ASSERT_LT(bomb.size(), 512u * 1024);
        EXPECT_EQ(refusal_of(batch_around(Codec::gzip, bomb)), ErrorCode::invalid_record);
    }
    // One record above the limit of 64 MiB, small when compressed, in every codec.
    for (const Codec codec : {Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
        BatchBuilder builder({.codec = codec});
        const std::vector<std::byte> zeros(std::size_t{80} << 20);
        builder.append(TimestampMs{1}, std::nullopt, Bytes(zeros));
        std::vector<std::byte> batch;
        builder.build(batch);
        const auto error = refusal_of(batch);
        ASSERT_TRUE(error.has_value()) << codec_name(codec);
        EXPECT_NE(*error, ErrorCode::none) << codec_name(codec);
    }
    // A buffer that grows to the limit by doubling exists three times for a moment, and is gone afterwards.
    EXPECT_LT(peak_resident_kib(broker_->process_id()), peak + (3 * 64 + 64) * 1024 * patience());
    EXPECT_LT(broker_->resident_kib(), before + 128 * 1024 * patience());
    EXPECT_LT(spent, 2s * patience()) << "all five together";
}

TEST_F(BadInput, RequestsArriveByteByByte) {
    const ApiVersionsRequest request{.client_software_name = "slow", .client_software_version = "1"};
    const std::vector<std::byte> frame = request_frame(3, request, 9);
    std::vector<WireClient> clients;
    for (int i = 0; i < 20; ++i) {
        clients.emplace_back(broker_->port());
    }
    for (const std::byte byte : frame) {
        for (WireClient& client : clients) {
            ASSERT_TRUE(client.send({&byte, 1}));
        }
        std::this_thread::sleep_for(1ms);
    }
    for (WireClient& client : clients) {
        EXPECT_NE(client.read_reply(*find_api(ApiKey::api_versions), 3, 9, WireClient::kPatience), nullptr) << client.failure();
    }
}

TEST_F(BadInput, ConnectionsThatSayNothingOrHalfCloseDisturbNobody) {
    std::vector<WireClient> silent;
    for (int i = 0; i < 100; ++i) {
        silent.emplace_back(broker_->port());
        if (i % 2 == 0) {
            silent.back().finish_sending();
            EXPECT_TRUE(silent.back().is_closed_within());
        }
    }
    EXPECT_TRUE(silent.back().is_silent_for(100ms));
}

}  // namespace
}  // namespace partita::test
