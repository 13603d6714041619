// Records that no coordinator wrote, in the topics of coordinators: an administrator's client may write what it likes into
// Kafka's. They cost nobody else anything, neither while the broker runs nor at its next start.

#include <gmock/gmock.h>

#include <cerrno>

#include "broker/addons/claims/shell/claim_shards.h"
#include "broker/config/log_setup.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
constexpr std::string_view kTransactionsTopic = "__transaction_state";
constexpr std::string_view kClaimsTopic = "__partita_claims";

/// Too short for a key, one of a type that is known and goes on otherwise, and a known key whose value ends too early.
std::vector<std::byte> unreadable_batch() {
    using namespace std::string_view_literals;
    BatchBuilder builder{BatchOptions()};
    builder.append(TimestampMs{1}, as_bytes("x"), as_bytes("y"));
    builder.append(TimestampMs{1}, as_bytes("\0\0nonsense"sv), as_bytes("\0\0"sv));
    builder.append(TimestampMs{1}, as_bytes("\0\2"sv), as_bytes("\0"sv));
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

class UnreadableRecords : public ::testing::Test {
  protected:
    void SetUp() override {
        log::open(log::Level::error);
        start();
        ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    }
    void start() {
        broker_ =
            InProcessBroker::start({.data_directory = data_directory_,
                                    .file_system = &files_,
                                    .overrides = {"offsets.topic.num.partitions=1", "transaction.state.log.num.partitions=1"}});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void stop() {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
        broker_.reset();
    }
    void kill() {
        client_.reset();
        broker_.reset();
    }
    /// What the log says of it.
    std::string log_of_restart(bool after_a_kill = false) {
        ::testing::internal::CaptureStderr();
        after_a_kill ? kill() : stop();
        start();
        return ::testing::internal::GetCapturedStderr();
    }
    void TearDown() override { kill(); }
    std::optional<ErrorCode> produce_as(const std::string& client_id, std::string_view topic) {
        WireClient client(broker_->port(), WireClient::Caller{.client_id = client_id});
        return produce(client, topic, 0, unreadable_batch());
    }
    /// Straight into the log, where no client may write.
    void put_into_the_log_of(std::string_view topic) {
        const auto table = broker_->services().topics.table();
        std::vector<std::byte> batch = unreadable_batch();
        const auto appended = table->find(topic)->partitions.at(0)->log->append(batch, {.now = TimestampMs{1}});
        ASSERT_TRUE(appended.has_value());
    }

    TemporaryDirectory directory_;
    std::string data_directory_ = directory_ / "data";
    FaultyFileSystem files_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(UnreadableRecords, OfAnAdministratorCostNoGroupItsOffsets) {
    ASSERT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    EXPECT_EQ(produce_as("somebody", kOffsetsTopic), ErrorCode::invalid_topic_exception);
    ASSERT_EQ(produce_as("__admin_client", kOffsetsTopic), ErrorCode::none);
    ASSERT_EQ(client_->commit("h", "t", 0, 8), ErrorCode::none);
    EXPECT_THAT(log_of_restart(true),
                AllOf(HasSubstr("records cannot be read, and were left out"), HasSubstr("__consumer_offsets-0"),
                      HasSubstr("records=3"), HasSubstr("first_offset=1")));
    EXPECT_EQ(client_->committed("g", "t", 0), 7);
    EXPECT_EQ(client_->committed("h", "t", 0), 8);
    EXPECT_EQ(client_->commit("g", "t", 0, 9), ErrorCode::none);
    // The stop folded them into the checkpoint.
    EXPECT_THAT(log_of_restart(), AllOf(HasSubstr("records cannot be read"), HasSubstr("in the checkpoint")));
    EXPECT_EQ(client_->committed("g", "t", 0), 9);
}

TEST_F(UnreadableRecords, DoNotEndABrokerThatReadsItsCoordinatorsAnew) {
    ASSERT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    ASSERT_EQ(produce_as("__admin_client", kOffsetsTopic), ErrorCode::none);
    files_.fail(FileOperation::write, "/__consumer_offsets-", ENOSPC, 0, 1);
    EXPECT_NE(client_->commit("g", "t", 0, 8), ErrorCode::none);
    EXPECT_TRUE(eventually([&] { return client_->committed("g", "t", 0).has_value(); }));
    EXPECT_EQ(client_->committed("g", "t", 0), 7);
    EXPECT_EQ(client_->commit("g", "t", 0, 9), ErrorCode::none);
}

TEST_F(UnreadableRecords, OfAnAdministratorCostNoTransactionItsProducer) {
    ASSERT_EQ(client_->create_topic(std::string(kTransactionsTopic), 1).error, ErrorCode::none);
    ASSERT_EQ(produce_as("__admin_client", kTransactionsTopic), ErrorCode::none);
    EXPECT_THAT(log_of_restart(), AllOf(HasSubstr("records cannot be read"), HasSubstr("__transaction_state-0")));
    EXPECT_TRUE(broker_->services().transactions.is_attached());
}

TEST_F(UnreadableRecords, OfClientsAreTakenByNobodyWhereClaimsAre) {
    ASSERT_EQ(client_->create_topic(std::string(kClaimsTopic), 1).error, ErrorCode::none);
    EXPECT_EQ(produce_as("somebody", kClaimsTopic), ErrorCode::invalid_topic_exception);
    EXPECT_EQ(produce_as("__admin_client", kClaimsTopic), ErrorCode::invalid_topic_exception);
    put_into_the_log_of(kClaimsTopic);
    EXPECT_THAT(log_of_restart(), AllOf(HasSubstr("records cannot be read"), HasSubstr("__partita_claims-0")));
    EXPECT_TRUE(broker_->services().claims.is_attached());
}

}  // namespace
}  // namespace partita::test
