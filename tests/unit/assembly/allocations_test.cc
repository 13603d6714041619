// Tests that the hot paths allocate no memory: a request uses memory that earlier ones left behind. The test counts on the
// reactors' threads, at malloc, below operator new and everything else.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/08_offset_commit.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARTITA_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PARTITA_OWN_MALLOC 0
#endif
#endif
#ifndef PARTITA_OWN_MALLOC
#ifdef __GLIBC__
#define PARTITA_OWN_MALLOC 1
#else
#define PARTITA_OWN_MALLOC 0
#endif
#endif

namespace {
thread_local bool is_counted = false;
std::atomic<std::uint64_t> allocations = 0;
}  // namespace

#if PARTITA_OWN_MALLOC
static void count_allocation() {
    if (is_counted) {
        allocations.fetch_add(1, std::memory_order_relaxed);
    }
}

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) {
    count_allocation();
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    count_allocation();
    return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
    count_allocation();
    return __libc_realloc(memory, size);
}
}
#endif

namespace partita::test {
namespace {

constexpr int kWarmUp = 300;
constexpr int kRequests = 1000;
/// Allocations that may come once in a while: the index of a segment and the list of recent batches grow.
constexpr std::uint64_t kOddOnes = kRequests / 50;

class Allocations : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!PARTITA_OWN_MALLOC) {
            GTEST_SKIP() << "malloc belongs to the sanitizer here";
        }
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data",
                                          .file_system = &files_,
                                          .metadata_store = {},
                                          // The broker copies a batch that it samples, and time decides how many it samples.
                                          .overrides = {"offsets.topic.num.partitions=2", "partita.detection.enable=false"}});
        ASSERT_NE(broker_, nullptr);
        for (const auto& reactor : broker_->services().turns.reactors()) {
            std::promise<void> done;
            reactor->post([&] {
                is_counted = true;
                done.set_value();
            });
            done.get_future().wait();
        }
        client_ = std::make_unique<WireClient>(broker_->port());
        ASSERT_TRUE(create_topic(*client_, "topic", 3));
    }
    void TearDown() override {
        client_.reset();
        broker_.reset();
    }

    /// Allocations of `kRequests` requests like this one, `in_flight` at a time.
    [[nodiscard]] std::uint64_t counted(const std::vector<std::byte>& frame, int in_flight = 1) {
        const auto exchange = [&](int times) {
            for (int done = 0; done < times; done += in_flight) {
                for (int i = 0; i < in_flight; ++i) {
                    ASSERT_TRUE(client_->send(frame));
                }
                for (int i = 0; i < in_flight; ++i) {
                    const auto answer = client_->receive();
                    ASSERT_TRUE(answer.has_value());
                    answer_bytes_ = answer->size();
                }
            }
        };
        exchange(kWarmUp);
        const std::uint64_t before = allocations.load();
        exchange(kRequests);
        return allocations.load() - before;
    }

    [[nodiscard]] static std::vector<std::byte> produce_frame(std::size_t value_bytes) {
        const std::vector<std::string> values(3, std::string(value_bytes, 'v'));
        const std::vector<std::byte> batch = make_batch(values);
        std::vector<ProduceRequest::PartitionProduceData> partitions;
        for (std::int32_t index = 0; index < 3; ++index) {
            partitions.push_back({.index = index, .records = Records(Bytes(batch))});
        }
        ProduceRequest::TopicProduceData topic{.name = "topic", .partition_data = partitions};
        const ProduceRequest request{.acks = -1, .timeout_ms = 1000, .topic_data = {&topic, 1}};
        return request_frame(7, request);
    }

    [[nodiscard]] static std::vector<std::byte> fetch_frame(std::int32_t most_bytes) {
        std::vector<FetchRequest::FetchPartition> partitions;
        for (std::int32_t index = 0; index < 3; ++index) {
            partitions.push_back({.partition = index, .fetch_offset = 0, .partition_max_bytes = most_bytes});
        }
        FetchRequest::FetchTopic topic{.topic = "topic", .partitions = partitions};
        const FetchRequest request{.max_wait_ms = 0, .min_bytes = 1, .topics = {&topic, 1}};
        return request_frame(4, request);
    }

    TemporaryDirectory directory_;
    PosixFileSystem files_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
    std::size_t answer_bytes_ = 0;
};

TEST_F(Allocations, AreCounted) {
    // Otherwise the other tests could not fail.
    is_counted = true;
    const std::uint64_t before = allocations.load();
    void* volatile plain = std::malloc(100);
    std::string* volatile text = new std::string(1000, 'x');
    is_counted = false;
    EXPECT_GE(allocations.load() - before, 3u);
    delete text;
    std::free(plain);
}

TEST_F(Allocations, ProduceMakesNone) { EXPECT_LE(counted(produce_frame(300)), kOddOnes); }

// The machine decides how many of ten requests come together. Whenever more do than ever before, lists of them grow.
TEST_F(Allocations, PipelinedProduceMakesNone) { EXPECT_LE(counted(produce_frame(300), 10), 2 * kOddOnes); }

TEST_F(Allocations, FetchOfCopiedRecordsMakesNone) {
    ASSERT_LE(counted(produce_frame(300)), kOddOnes);
    EXPECT_LE(counted(fetch_frame(3000)), kOddOnes);
    EXPECT_GT(answer_bytes_, 3000u);
}

TEST_F(Allocations, FetchOfRecordsSentFromTheFileMakesNone) {
    ASSERT_LE(counted(produce_frame(300)), kOddOnes);
    EXPECT_LE(counted(fetch_frame(50'000), 5), kOddOnes);
    EXPECT_GT(answer_bytes_, 100'000u);
}

TEST_F(Allocations, OffsetCommitMakesNone) {
    std::vector<OffsetCommitRequest::Partition> partitions;
    for (std::int32_t index = 0; index < 3; ++index) {
        partitions.push_back({.partition_index = index, .committed_offset = 7});
    }
    OffsetCommitRequest::Topic topic{.name = "topic", .partitions = partitions};
    const OffsetCommitRequest request{.group_id = "a group whose name is long", .topics = {&topic, 1}};
    ASSERT_EQ(find_coordinator(*client_, request.group_id), ErrorCode::none);
    const auto* committed = client_->call<OffsetCommitResponse>(6, request);
    ASSERT_NE(committed, nullptr) << client_->failure();
    ASSERT_EQ(committed->topics[0].partitions[0].error_code, ErrorCode::none);
    EXPECT_LE(counted(request_frame(6, request)), kOddOnes);
}

}  // namespace
}  // namespace partita::test
