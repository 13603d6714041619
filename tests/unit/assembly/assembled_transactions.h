#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_mortal.h"
#include "tests/support/broker_process.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {

/// A whole broker with coordinators' topics of one partition each, and a topic "t". It dies and comes back, and the test takes
/// its steps. Commands ask the broker for what handlers of transactional APIs ask.
class AssembledTransactions : public ::testing::Test {
  protected:
    void SetUp() override { begin({}); }
    void begin(std::vector<std::string> overrides) {
        broker_.overrides = {"offsets.topic.num.partitions=1", "transaction.state.log.num.partitions=1",
                             "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000", "log.retention.ms=-1"};
        broker_.overrides.insert(broker_.overrides.end(), overrides.begin(), overrides.end());
        const auto began = broker_.start();
        ASSERT_TRUE(began) << began.error();
        in_turn([&](logs::Turn& turn) {
            ASSERT_TRUE(services().catalog.make_topic_of(catalog::CoordinatorKind::groups, turn));
            ASSERT_TRUE(services().catalog.make_topic_of(catalog::CoordinatorKind::transactions, turn));
        });
        make_topic("t");
    }
    [[nodiscard]] const runtime::Services& services() { return broker_.services(); }
    /// On the reactor, as a request would.
    template <class Act>
    void in_turn(Act act) {
        bool is_done = false;
        services().turns.first_reactor().post([&] {
            act(services().turns.first());
            is_done = true;
        });
        broker_.wake();
        while (!is_done && !broker_.is_dead()) {
            ASSERT_TRUE(broker_.step()) << "nobody does it";
        }
    }
    /// Lets the broker work by itself for that long.
    void rest(std::int64_t duration_ms) {
        const Instant end = clock_.now().monotonic + duration_ms;
        while (clock_.now().monotonic < end && !broker_.is_dead()) {
            if (!broker_.step()) {
                broker_.let_time_pass(end - clock_.now().monotonic);
            }
        }
    }
    void restart() {
        const auto began = broker_.restart(100);
        ASSERT_TRUE(began) << began.error();
    }
    void kill_and_restart() {
        broker_.die(MortalBroker::Death::kill);
        restart();
    }

    // Topics -------------------------------------------------------------------------------------

    void make_topic(const std::string& name) {
        in_turn([&](logs::Turn& turn) {
            const auto made = services().catalog.change(turn, catalog::AutoCreateTopic{name});
            ASSERT_TRUE(made && !made->error.failed());
        });
    }
    void delete_topic(const std::string& name) {
        in_turn([&](logs::Turn& turn) {
            const catalog::DeleteTopics command{.topics = {{.name = name, .id = {}}}};
            ASSERT_TRUE(services().catalog.change(turn, command));
        });
    }
    [[nodiscard]] PartitionLog& log(const std::string& topic) {
        return *services().topics.table()->find(topic)->partitions.front()->log;
    }
    /// Returns its batches that concern transactions: "7/0" for data, "commit 7/0" for a marker.
    [[nodiscard]] std::vector<std::string> transactions_in(const std::string& topic) {
        std::vector<std::string> found;
        std::string bytes = read_all(log(topic), Offset{0});
        std::vector<std::byte> copy(as_bytes(bytes).begin(), as_bytes(bytes).end());
        BatchCursor cursor(copy);
        while (cursor.next()) {
            const BatchHeader& header = cursor.batch().header;
            if (!header.attributes.is_transactional()) {
                continue;
            }
            std::string text = std::to_string(header.producer_id.value) + "/" + std::to_string(header.producer_epoch.value);
            RecordReader reader(cursor.batch());
            RecordView record;
            if (header.attributes.is_control() && reader.next(record).value_or(false)) {
                const auto marker = parse_end_transaction_marker(record);
                text = (!marker ? "? " : marker->type == ControlRecordType::commit ? "commit " : "abort ") + text;
            }
            found.push_back(std::move(text));
        }
        return found;
    }
    [[nodiscard]] bool is_open(const std::string& topic) { return log(topic).last_stable_offset() < log(topic).log_end_offset(); }

    // Producers ----------------------------------------------------------------------------------

    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> ask(Command command) {
        std::optional<typename Command::Result> result;
        in_turn([&](logs::Turn& turn) {
            result = services().coordinators.transactions.ask(turn, command.transactional_id, std::move(command));
        });
        return result;
    }
    [[nodiscard]] transactions::Producer init(const std::string& id, std::int32_t timeout_ms = 60'000) {
        transactions::InitProducerId command{.transactional_id = id, .timeout_ms = timeout_ms};
        auto result = ask(command);
        if (result && result->needs_producer_id) {
            in_turn([&](logs::Turn& turn) { command.fresh_producer_id = services().catalog.next_producer_id(turn); });
            result = ask(command);
        }
        EXPECT_TRUE(result.has_value());
        EXPECT_EQ(result->error, ErrorCode::none);
        return result->producer;
    }
    [[nodiscard]] ErrorCode add(const std::string& id, transactions::Producer producer, const std::string& topic) {
        const transactions::WrittenPartition partition{topic, {0}};
        const auto result = ask(transactions::AddPartitions{
            .transactional_id = id, .producer = producer, .partitions = {&partition, 1}, .client_version = client_version_});
        return result ? result->error : ErrorCode::not_coordinator;
    }
    /// Writes one record, as the handler of Produce does.
    void write(const std::string& id, transactions::Producer producer, const std::string& topic = "t") {
        std::vector<std::byte> batch;
        BatchBuilder builder(
            {.producer_id = producer.id, .producer_epoch = producer.epoch, .base_sequence = {0}, .transactional = true});
        builder.append(clock_.now().wall, std::nullopt, as_bytes(id));
        builder.build(batch);
        const auto header = parse_batch_header(batch);
        ASSERT_TRUE(header.has_value());
        const bool bumps_epoch = client_version_ == transactions::TransactionVersion::v2;
        const auto verification = log(topic).begin_verification(*header, bumps_epoch, clock_.now().wall);
        ASSERT_EQ(add(id, producer, topic), ErrorCode::none);
        in_turn([&](logs::Turn&) {
            const auto appended =
                log(topic).append(batch, {.now = clock_.now().wall, .verification = verification.value_or(kNotVerified)});
            ASSERT_TRUE(appended) << appended.error().message;
        });
    }
    /// Writes a record of a transaction without asking its coordinator.
    void write_unasked(transactions::Producer producer, const std::string& topic) {
        std::vector<std::byte> batch;
        BatchBuilder builder(
            {.producer_id = producer.id, .producer_epoch = producer.epoch, .base_sequence = {0}, .transactional = true});
        builder.append(clock_.now().wall, std::nullopt, as_bytes("unasked"));
        builder.build(batch);
        in_turn([&](logs::Turn&) { ASSERT_TRUE(log(topic).append(batch, {.now = clock_.now().wall})); });
    }
    /// Commits as the handler of TxnOffsetCommit does.
    [[nodiscard]] ErrorCode commit_offset(const std::string& id, transactions::Producer producer, const std::string& group,
                                          std::int64_t offset) {
        runtime::GroupShards& groups = services().coordinators.groups;
        const auto verification = groups.begin_verification(group, producer.id, producer.epoch, true, clock_.now());
        if (verification) {
            if (const ErrorCode error = add(id, producer, "__consumer_offsets"); error != ErrorCode::none) {
                return error;
            }
        }
        return commit_verified(producer, group, offset, verification.value_or(kNotVerified));
    }
    [[nodiscard]] ErrorCode commit_verified(transactions::Producer producer, const std::string& group, std::int64_t offset,
                                            TransactionVerification verification) {
        ErrorCode error = ErrorCode::none;
        in_turn([&](logs::Turn& turn) { error = commit_in(turn, producer, group, offset, verification); });
        return error;
    }
    [[nodiscard]] ErrorCode commit_in(logs::Turn& turn, transactions::Producer producer, const std::string& group,
                                      std::int64_t offset, TransactionVerification verification) {
        const groups::OffsetCommit::Partition partition{.partition = {0}, .offset = {offset}, .metadata = {}};
        const groups::OffsetCommit::Topic topic{.name = "t", .topic_id = {}, .partitions = {&partition, 1}};
        const auto result = services().coordinators.groups.commit_in_transaction(
            turn,
            {.offsets = {.group_id = group, .member_id = {}, .group_instance_id = {}, .topics = {&topic, 1}, .reply_to = {}},
             .producer_id = producer.id,
             .producer_epoch = producer.epoch,
             .reply_to = {}},
            verification);
        return result ? result->error : ErrorCode::not_coordinator;
    }
    struct Fetched {
        ErrorCode error = ErrorCode::none;
        std::int64_t offset = -1;
        friend bool operator==(const Fetched&, const Fetched&) = default;
        friend void PrintTo(const Fetched& fetched, std::ostream* out) {
            *out << error_name(fetched.error) << " " << fetched.offset;
        }
    };
    [[nodiscard]] Fetched fetch_offset(const std::string& group, bool require_stable = true) {
        const PartitionIndex partition{0};
        const groups::OffsetFetch::Topic topic{.name = "t", .topic_id = {}, .partitions = {&partition, 1}};
        const groups::OffsetFetch::Group wanted{.group_id = group, .member_id = {}, .topics = std::span(&topic, 1)};
        Fetched fetched{ErrorCode::not_coordinator};
        in_turn([&](logs::Turn& turn) {
            const auto result = services().coordinators.groups.ask(
                turn, group, groups::OffsetFetch{.groups = {&wanted, 1}, .require_stable = require_stable, .reply_to = {}});
            if (!result) {
                return;
            }
            const auto& found = result->groups.at(0).topics.at(0).partitions.at(0);
            fetched = {found.error, found.offset.value};
        });
        return fetched;
    }
    [[nodiscard]] transactions::EndTransactionResult end(const std::string& id, transactions::Producer producer, bool commit) {
        const auto result = ask(transactions::EndTransaction{
            .transactional_id = id, .producer = producer, .commit = commit, .client_version = client_version_});
        return result.value_or(transactions::EndTransactionResult{.error = ErrorCode::not_coordinator});
    }
    [[nodiscard]] transactions::DescribeTransactionResult describe(const std::string& id) {
        const auto result = ask(transactions::DescribeTransaction{.transactional_id = id});
        return result.value_or(transactions::DescribeTransactionResult{.error = ErrorCode::not_coordinator});
    }

    const TemporaryDirectory scratch_;
    std::mt19937_64 random_{7};
    VirtualClock clock_;
    /// The protocol that the producers speak.
    transactions::TransactionVersion client_version_ = transactions::TransactionVersion::v2;
    MortalBroker broker_{random_, clock_, scratch_.path(), 7};
};

}  // namespace partita::test
