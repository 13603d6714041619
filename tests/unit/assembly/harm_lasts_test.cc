// Tests that a whole broker tells a key in wrong order a day later: the clock is set forward, not waited for.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "broker/insight/hub/findings_hub.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/broker_process.h"
#include "tests/support/classic_member.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;
const std::string kOrders = "orders";
const std::string kReaders = "readers";
constexpr int kKeyCount = 20;

class HarmLasts : public ::testing::Test {
  protected:
    void start() {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data",
                                          .overrides = {"group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=1"},
                                          .clock = &clock_,
                                          .executor = &executor_});
        ASSERT_NE(broker_, nullptr);
    }
    /// Sets the clock forward. A turn that began before may close the connections of that moment, which seem idle.
    void pass(std::int64_t duration_ms) {
        clock_.shift_ms += duration_ms;
        ASSERT_TRUE(eventually([&] { return PlainClient(broker_->port()).metadata().has_value(); }));
        ASSERT_TRUE(PlainClient(broker_->port()).metadata().has_value());
    }
    /// Every key once, with the broker's time.
    void write(PlainClient& client, int partition) {
        BatchBuilder builder;
        for (int key = 0; key < kKeyCount; ++key) {
            const std::string text = "key-" + std::to_string(key);
            builder.append({clock_.now().wall.value}, as_bytes(text), as_bytes("value"));
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client.produce(kOrders, partition, batch).error, ErrorCode::none);
    }
    /// A member that reads all of these partitions, one after the other, and commits.
    void read(const std::vector<std::int32_t>& partitions) {
        PlainClient client(broker_->port());
        std::vector<std::int32_t> held = partitions;
        std::ranges::sort(held);
        const JoinedMember member = join_as_member(client.wire(), kReaders, {{kOrders, held}});
        ASSERT_EQ(member.error, ErrorCode::none);
        for (const std::int32_t partition : partitions) {
            const auto records = client.read_all(kOrders, partition);
            ASSERT_TRUE(records);
            ASSERT_EQ(records->size(), static_cast<std::size_t>(kKeyCount));
        }
        for (const std::int32_t partition : partitions) {
            ASSERT_EQ(commit_as_member(client.wire(), kReaders, member, kOrders, partition, kKeyCount), ErrorCode::none);
        }
    }
    [[nodiscard]] std::optional<insight::Finding> open(insight::HazardId id) {
        for (const insight::OpenFinding& one : broker_->services().insight.findings.open()) {
            if (one.finding.id == id && one.finding.subject.group == kReaders) {
                return one.finding;
            }
        }
        return std::nullopt;
    }

    const TemporaryDirectory directory_;
    AdjustedClock clock_;
    AdjustedExecutor executor_{clock_};
    std::unique_ptr<InProcessBroker> broker_;
};

TEST_F(HarmLasts, AGroupThatComesBackAnHourAfterTheGrowthIsToldADayLaterAndAfterARestart) {
    ASSERT_NO_FATAL_FAILURE(start());
    {
        PlainClient client(broker_->port());
        ASSERT_EQ(client.create_topic(kOrders, 1).error, ErrorCode::none);
        ASSERT_NO_FATAL_FAILURE(write(client, 0));
        ASSERT_EQ(client.commit(kReaders, kOrders, 0, 0), ErrorCode::none);
        ASSERT_EQ(client.expand_topic(kOrders, 2), ErrorCode::none);
        ASSERT_NO_FATAL_FAILURE(write(client, 1));
    }
    ASSERT_TRUE(eventually([&] { return open(insight::HazardId::backlog_inversion).has_value(); }));
    ASSERT_NO_FATAL_FAILURE(pass(kHourMs));
    EXPECT_TRUE(open(insight::HazardId::backlog_inversion));
    // The new partition first: every key's newer record comes before its older one.
    ASSERT_NO_FATAL_FAILURE(read({1, 0}));
    ASSERT_TRUE(eventually([&] {
        const auto told = open(insight::HazardId::inversion_delivered);
        return told && told->count == kKeyCount;
    }));
    ASSERT_TRUE(eventually([&] { return !open(insight::HazardId::backlog_inversion); }));

    ASSERT_NO_FATAL_FAILURE(pass(kDayMs));
    auto told = open(insight::HazardId::inversion_delivered);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, kKeyCount);
    EXPECT_EQ(told->severity, insight::Severity::block);

    EXPECT_TRUE(broker_->stop());
    broker_.reset();
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(pass(kDayMs));
    ASSERT_TRUE(eventually([&] { return open(insight::HazardId::inversion_delivered).has_value(); }));
    told = open(insight::HazardId::inversion_delivered);
    EXPECT_EQ(told->count, kKeyCount);
    EXPECT_TRUE(told->is_restored);
    EXPECT_TRUE(broker_->stop());
}

}  // namespace
}  // namespace partita::test
