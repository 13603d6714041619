// Runs everything that watches producers and consumers of growing topics at once, for a few seconds. There are samples of keys,
// readers of grown topics, findings over HTTP and as events, plans, fences and compaction, while topics come, grow and go. The
// test is meant for the thread sanitizer; a normal build checks that the answers stay sane and the findings come.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

constexpr int kFirstPartitions = 3;
constexpr int kLastPartitions = 6;
constexpr int kKeys = 40;
constexpr int kGrowths = kLastPartitions - kFirstPartitions;
constexpr int kProducedMin = 10;

class InsightStress : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = BrokerProcess::start(
            {.overrides = {"group.initial.rebalance.delay.ms=0", "log.cleaner.backoff.ms=20", "partita.connections.gather=false",
                           "log.initial.task.delay.ms=50", "log.retention.check.interval.ms=100",
                           "log.flush.offset.checkpoint.interval.ms=100"}});
        ASSERT_NE(broker_, nullptr);
        deadline_ = std::chrono::steady_clock::now() + 4s;
    }
    void fail(const std::string& what) {
        const std::scoped_lock lock(mutex_);
        failures_.insert(what);
        stopping_ = true;
    }
    /// Goes on until the time is over, and on a slow machine until each client has done something.
    [[nodiscard]] bool goes_on() const {
        return !stopping_ && (std::chrono::steady_clock::now() < deadline_ || grown_ < kGrowths || produced_ <= kProducedMin ||
                              heard_bytes_ == 0);
    }

    void run_producer(const std::string& topic, int number);
    void run_reader(const std::string& topic, int number);
    void run_growth(const std::string& topic);
    void run_short_lived_topics();
    void run_questions(int number);
    void run_listener(const std::string& request);

    std::unique_ptr<BrokerProcess> broker_;
    std::chrono::steady_clock::time_point deadline_;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::set<std::string> failures_;
    std::atomic<std::size_t> heard_bytes_ = 0;
    std::atomic<int> grown_ = 0;
    std::atomic<int> produced_ = 0;
};

/// A producer that never learns of new partitions: each key stays where three partitions put it.
void InsightStress::run_producer(const std::string& topic, int number) {
    PlainClient client(broker_->port());
    for (int round = 0; goes_on(); ++round) {
        BatchBuilder builder({.codec = number % 2 == 0 ? Codec::lz4 : Codec::none});
        const int partition = round % kFirstPartitions;
        for (int key = partition; key < kKeys; key += kFirstPartitions) {
            const std::string name = "key-" + std::to_string(key);
            builder.append({wall_ms()}, as_bytes(name), as_bytes(std::string(2000, static_cast<char>('a' + round % 26))));
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        if (const ErrorCode error = client.produce(topic, partition, batch).error; error != ErrorCode::none) {
            return fail("produce: error " + std::to_string(static_cast<int>(error)) + " " + client.wire().failure());
        }
        ++produced_;
    }
}

void InsightStress::run_reader(const std::string& topic, int number) {
    PlainClient client(broker_->port());
    const std::string group = "readers-" + std::to_string(number);
    for (int round = 0; goes_on(); ++round) {
        const int partition = round % kFirstPartitions;
        const auto latest = client.list_offset(topic, partition, -1);
        const auto from = client.committed(group, topic, partition);
        if (!latest || !from) {
            return fail("a reader is refused: " + client.wire().failure());
        }
        // The end moves on during the read: the client needs only the records before the end that it saw.
        if (const auto records = client.read_all(topic, partition, std::max<std::int64_t>({0, *from, *latest - 50})); !records) {
            return fail("fetch: " + client.wire().failure());
        }
        if (client.commit(group, topic, partition, *latest) != ErrorCode::none) {
            return fail("commit: " + client.wire().failure());
        }
    }
}

void InsightStress::run_growth(const std::string& topic) {
    PlainClient client(broker_->port());
    for (int count = kFirstPartitions + 1; count <= kLastPartitions && goes_on(); ++count) {
        std::this_thread::sleep_for(300ms);
        if (const ErrorCode error = client.expand_topic(topic, count); error != ErrorCode::none) {
            return fail("expand: error " + std::to_string(static_cast<int>(error)));
        }
        ++grown_;
    }
}

void InsightStress::run_short_lived_topics() {
    PlainClient client(broker_->port());
    for (int round = 0; goes_on(); ++round) {
        const std::string name = "short-lived-" + std::to_string(round % 3);
        const std::map<std::string, std::string> mode{{"partita.expansion.mode", round % 2 == 0 ? "safe-offsets" : "fenced"}};
        if (client.create_topic(name, 2, mode).error != ErrorCode::none ||
            client.produce_value(name, 0, "before").error != ErrorCode::none ||
            client.commit("short-lived", name, 0, 1) != ErrorCode::none || client.expand_topic(name, 4) != ErrorCode::none ||
            client.produce_value(name, 3, "after").error != ErrorCode::none || !client.read_all(name, 3) ||
            client.delete_topic(name) != ErrorCode::none) {
            return fail("a short life: " + client.wire().failure());
        }
    }
}

void InsightStress::run_questions(int number) {
    constexpr std::array kQuestions{"/v1/findings",
                                    "/v1/topics/compacted/producers",
                                    "/v1/topics/compacted/expansions",
                                    "/v1/topics/fenced/protection",
                                    "/v1/topics/compacted/expansion?to=8",
                                    "/v1/topics/short-lived-0/protection",
                                    "/v1/topics/short-lived-1/producers",
                                    "/metrics"};
    for (std::size_t round = static_cast<std::size_t>(number); goes_on(); ++round) {
        const std::string question = kQuestions[round % kQuestions.size()];
        const auto answer = broker_->http_get(question);
        // Short-lived topics may be gone, and the plan of the other client may still be running.
        if (!answer || (answer->status != 200 && answer->status != 404 && answer->status != 503)) {
            return fail(question + ": " + (answer ? std::to_string(answer->status) + " " + answer->body : "no answer"));
        }
    }
}

/// Connects, listens for a while and leaves, again and again.
void InsightStress::run_listener(const std::string& request) {
    while (goes_on()) {
        const WireClient connection(broker_->http_port());
        if (!connection.is_connected() || ::send(connection.descriptor(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
            return fail("no events");
        }
        const timeval limit{0, 200'000};
        ::setsockopt(connection.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        std::array<char, 4096> piece;
        for (int reads = 0; reads < 5 && goes_on(); ++reads) {
            const ssize_t count = ::recv(connection.descriptor(), piece.data(), piece.size(), 0);
            if (count == 0) {
                return fail("the stream of events ended");
            }
            heard_bytes_ += count > 0 ? static_cast<std::size_t>(count) : 0;
        }
    }
}

TEST_F(InsightStress, WatchersQuestionsAndGrowthAtOnce) {
    PlainClient first(broker_->port());
    ASSERT_EQ(
        first
            .create_topic("compacted", kFirstPartitions,
                          {{"cleanup.policy", "compact"}, {"segment.bytes", "1048576"}, {"min.cleanable.dirty.ratio", "0.01"}})
            .error,
        ErrorCode::none);
    ASSERT_EQ(first.create_topic("fenced", kFirstPartitions, {{"partita.expansion.mode", "fenced"}}).error, ErrorCode::none);
    std::vector<std::thread> threads;
    for (int number = 0; number < 2; ++number) {
        threads.emplace_back([this, number] { run_producer(number == 0 ? "compacted" : "fenced", number); });
        threads.emplace_back([this, number] { run_reader(number == 0 ? "compacted" : "fenced", number); });
        threads.emplace_back([this, number] { run_questions(4 * number); });
    }
    threads.emplace_back([this] { run_growth("compacted"); });
    threads.emplace_back([this] {
        // A fenced topic grows to a multiple of its partition count.
        std::this_thread::sleep_for(500ms);
        PlainClient client(broker_->port());
        if (client.expand_topic("fenced", 2 * kFirstPartitions) != ErrorCode::none) {
            fail("the fenced topic did not grow");
        }
    });
    threads.emplace_back([this] { run_short_lived_topics(); });
    threads.emplace_back([this] { run_listener("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); });
    threads.emplace_back([this] {
        run_listener(
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    });
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(failures_.empty()) << *failures_.begin();
    EXPECT_EQ(grown_, kGrowths);
    EXPECT_GT(produced_, kProducedMin);
    EXPECT_GT(heard_bytes_, 0u);
    std::string producers;
    EXPECT_TRUE(eventually([&] {
        producers = broker_->http_get("/v1/topics/compacted/producers")->body;
        return producers.contains("\"scenario\"");
    })) << "nobody looked at the keys: "
        << producers;
    const Finished finished = broker_->stop();
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.output.find("ThreadSanitizer"), std::string::npos) << finished.output;
}

}  // namespace
}  // namespace partita::test
