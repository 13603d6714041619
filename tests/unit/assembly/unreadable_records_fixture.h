#pragma once

#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/log_setup.h"
#include "broker/handlers/services.h"
#include "broker/logs/published_topics.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {

/// Three records: one too short for a key, one of a known type that continues differently, and a known key whose value ends too
/// early.
inline std::vector<std::byte> unreadable_batch() {
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
    /// Restarts the broker and returns what it logs meanwhile.
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
    /// Writes directly to the log, since no client may write there.
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

}  // namespace partita::test
