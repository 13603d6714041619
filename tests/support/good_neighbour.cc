#include "tests/support/good_neighbour.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch.h"
#include "tests/support/wire_client.h"

namespace partita::test {

using namespace std::chrono_literals;

GoodNeighbour::GoodNeighbour(std::uint16_t port, std::string topic, Time time)
    : port_(port), topic_(std::move(topic)), time_(std::move(time)), thread_([this] { run(); }) {}

std::chrono::milliseconds GoodNeighbour::steady_time() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

GoodNeighbour::~GoodNeighbour() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void GoodNeighbour::finish() {
    // A test may end sooner than its neighbour gets anything done.
    constexpr std::int64_t kRoundsMin = 5;
    const auto deadline = std::chrono::steady_clock::now() + WireClient::kPatience;
    while (rounds_ < kRoundsMin && !has_failed_ && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);
    }
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
    EXPECT_EQ(failure_, "") << "after " << rounds_ << " rounds";
    EXPECT_GT(rounds_, 0);
}

void GoodNeighbour::run() {
    WireClient client(port_);
    if (!client.is_connected() || !create_topic(client, topic_, 1)) {
        failure_ = "cannot begin";
        has_failed_ = true;
        return;
    }
    for (std::int64_t number = 0; !stopping_; ++number) {
        const auto begin = time_();
        failure_ = round(client, number);
        slowest_ = std::max(slowest_, time_() - begin);
        if (!failure_.empty()) {
            has_failed_ = true;
            return;
        }
        ++rounds_;
        std::this_thread::sleep_for(2ms);
    }
}

std::string GoodNeighbour::round(WireClient& client, std::int64_t number) {
    const std::array values{"value " + std::to_string(number)};
    const std::vector<std::byte> batch = make_batch(values);
    std::int64_t offset = -1;
    const auto error = produce(client, topic_, 0, batch, &offset);
    if (error != ErrorCode::none) {
        return error ? "produce was answered with error " + std::to_string(static_cast<int>(*error))
                     : "produce: " + client.failure();
    }
    if (offset != number) {
        return "produce was given offset " + std::to_string(offset) + " in place of " + std::to_string(number);
    }
    std::array partitions{FetchRequest::FetchPartition{.partition = 0, .fetch_offset = number, .partition_max_bytes = 1 << 20}};
    std::array topics{FetchRequest::FetchTopic{.topic = topic_, .partitions = partitions}};
    const FetchRequest request{.max_wait_ms = 1000, .min_bytes = 1, .topics = topics};
    const auto* response = client.call<FetchResponse>(11, request);
    if (response == nullptr) {
        return "fetch: " + client.failure();
    }
    if (response->responses.count() != 1 || response->responses[0].partitions.count() != 1) {
        return "fetch: not the one partition that was asked for";
    }
    const Bytes records = response->responses[0].partitions[0].records.bytes();
    // The broker sets base offset and leader epoch; everything from the attributes on is the producer's.
    constexpr std::size_t kFirstByteOfProducer = 21;
    if (records.size() != batch.size() ||
        !std::equal(records.begin() + kFirstByteOfProducer, records.end(), batch.begin() + kFirstByteOfProducer)) {
        return "fetch: not the bytes that were produced";
    }
    return "";
}

}  // namespace partita::test
