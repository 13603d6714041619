// Tests how events of findings get into their topic, in a whole broker.

#include "broker/insight/local/findings_topic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/local/event_history.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using insight::FindingsTopic;

class FindingsTopicInABroker : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        PlainClient client(broker_->port());
        ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
        ASSERT_EQ(client.expand_topic("t", 2), ErrorCode::none);
    }
    void TearDown() override { EXPECT_TRUE(broker_->stop()); }

    /// Opens `count` findings about the topic that has grown. This happens on the reactor, which therefore cannot write some of
    /// them before the others come.
    void open_findings(std::size_t count) {
        std::vector<insight::Finding> findings;
        for (std::size_t index = 0; index < count; ++index) {
            findings.push_back(insight::make_finding(insight::HazardId::stale_producer,
                                                     {.topic = "t", .client_id = "client-" + std::to_string(index)}, "late"));
        }
        std::promise<void> opened;
        broker_->services().turns.first_reactor().post([&] {
            broker_->services().insight.findings.settle("a test", findings, {1});
            opened.set_value();
        });
        opened.get_future().wait();
    }
    /// Records of each batch of the topic so far.
    [[nodiscard]] std::vector<std::int32_t> batches() {
        const auto table = broker_->services().topics.table();
        const logs::TopicState* topic = table->find(FindingsTopic::kName);
        std::vector<std::int32_t> records;
        if (topic == nullptr) {
            return records;
        }
        const PartitionLog& log = *topic->partitions.front()->log;
        for (Offset from = log.log_start_offset(); from < log.log_end_offset();) {
            const auto slice = log.read(from, {.upper_bound = log.log_end_offset(), .max_bytes = 1, .minimum_one_batch = true});
            if (!slice || slice->file == nullptr) {
                break;
            }
            std::vector<std::byte> bytes(slice->size);
            if (const auto count = slice->file->read_at(slice->position, bytes); !count || *count != bytes.size()) {
                break;
            }
            const auto batch = parse_batch(bytes);
            if (!batch) {
                break;
            }
            records.push_back(batch->header.record_count);
            from = Offset{batch->header.base_offset.value + batch->header.last_offset_delta + 1};
        }
        return records;
    }

    const TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
};

TEST_F(FindingsTopicInABroker, ATurnWritesOneBatchOfSoManyAndLaterTurnsTheRest) {
    constexpr std::size_t kFindings = 2 * FindingsTopic::kBatchRecordsMax + 1;
    open_findings(kFindings);
    const auto written = [&] {
        std::int64_t sum = 0;
        for (const std::int32_t records : batches()) {
            sum += records;
        }
        return sum;
    };
    ASSERT_TRUE(eventually([&] { return written() >= static_cast<std::int64_t>(kFindings); })) << written();
    EXPECT_EQ(std::ranges::max(batches()), static_cast<std::int32_t>(FindingsTopic::kBatchRecordsMax));
}

TEST_F(FindingsTopicInABroker, TheHistoryHasTheNewestEventsUpToTheEndThatItBeganWith) {
    using insight::TopicEventHistory;
    open_findings(1);
    ASSERT_TRUE(eventually([&] { return !batches().empty(); }));
    const auto table = broker_->services().topics.table();
    const auto partition = table->find(FindingsTopic::kName)->partitions.front();
    // Clients may write to the topic, too.
    PlainClient client(broker_->port());
    std::int64_t written = partition->log->log_end_offset().value;
    const auto write = [&](std::int64_t records) {
        BatchBuilder builder;
        for (std::int64_t record = 0; record < records; ++record) {
            builder.append({1}, as_bytes("t"), as_bytes(std::to_string(written++)));
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client.produce(std::string(FindingsTopic::kName), 0, batch).error, ErrorCode::none);
    };
    constexpr std::int64_t kBatchRecords = 10'000;
    while (written <= TopicEventHistory::kEventsMax) {
        ASSERT_NO_FATAL_FAILURE(write(kBatchRecords));
    }
    TopicEventHistory history(partition);
    const std::int64_t end = written;
    ASSERT_NO_FATAL_FAILURE(write(1));
    std::int64_t next = end - TopicEventHistory::kEventsMax;
    while (history.has_more()) {
        const std::vector<std::string> events = history.next();
        EXPECT_LE(events.size(), TopicEventHistory::kPageEvents);
        for (const std::string& event : events) {
            ASSERT_EQ(event, std::to_string(next++));
        }
    }
    EXPECT_EQ(next, end);
}

}  // namespace
}  // namespace partita::test
