// Tests readers of a fenced topic that the broker does not know yet, in a whole broker: what they get meanwhile, and how many the
// broker tells apart.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <numeric>
#include <utility>

#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/fences/fence_readers.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "protocol/messages/01_fetch.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/classic_member.h"
#include "tests/support/coordinator.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"
#include "tests/support/transactional_client.h"

namespace partita::test {
namespace {

using insight::Attribution;

class HeldReaders : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(start());
        ASSERT_EQ(client_->create_topic("t", 2, {{"partita.expansion.mode", "fenced"}}).error, ErrorCode::none);
    }
    void TearDown() override {
        client_.reset();
        broker_.reset();
    }
    void start() {
        broker_ =
            InProcessBroker::start({.data_directory = directory_ / "data", .overrides = {"group.initial.rebalance.delay.ms=0"}});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
        ASSERT_EQ(find_coordinator(client_->wire(), "any"), ErrorCode::none);
    }
    [[nodiscard]] const runtime::Services& services() { return broker_->services(); }
    [[nodiscard]] TopicId topic_id() { return services().topics.table()->find("t")->topic->id; }

    struct Fetched {
        std::int64_t high_watermark = -1;
        std::size_t bytes = 0;
    };
    static constexpr std::int16_t kFetchVersion = 12;
    /// Asks for the records from `from` on in partition 2; returns the id of the request.
    static std::int32_t ask(WireClient& wire, std::int64_t from, std::int32_t max_wait_ms, bool read_committed) {
        FetchRequest::FetchPartition item{.partition = 2, .fetch_offset = from, .partition_max_bytes = 1 << 20};
        FetchRequest::FetchTopic wanted{.topic = "t"};
        wanted.partitions = {&item, 1};
        FetchRequest request;
        request.max_wait_ms = max_wait_ms;
        request.min_bytes = 1;
        request.isolation_level = read_committed ? 1 : 0;
        request.topics = {&wanted, 1};
        return wire.send_request(kFetchVersion, request);
    }
    static Fetched answer(WireClient& wire, std::int32_t id) {
        const auto* answer = wire.read_reply<FetchResponse, FetchRequest>(kFetchVersion, id);
        if (answer == nullptr || answer->responses.empty()) {
            return {};
        }
        const auto& data = answer->responses[0].partitions[0];
        EXPECT_EQ(data.error_code, ErrorCode::none);
        return {data.high_watermark, data.records.bytes().size()};
    }
    /// Fetches from `from` on in partition 2, without waiting for anything.
    static Fetched fetch(WireClient& wire, std::int64_t from = 0) { return answer(wire, ask(wire, from, 0, false)); }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

// The partition begins with a record in an open transaction. Behind it is a record that has to wait for its parent.
TEST_F(HeldReaders, GetWhatTheFenceLeavesThemWhenItsTransactionEnds) {
    ASSERT_EQ(join_alone(client_->wire(), "g", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
    ASSERT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
    TransactionalClient writer(broker_->port(), "writer", "writer");
    ASSERT_EQ(writer.begin(), ErrorCode::none);
    ASSERT_EQ(writer.write("t", 2, "while the parent is empty"), ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 0, "waits to be read").error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 2, "after it").error, ErrorCode::none);
    WireClient reader(broker_->port());
    const std::int32_t id = ask(reader, 0, 2 * static_cast<std::int32_t>(WireClient::kPatience.count()), true);
    EXPECT_TRUE(reader.is_silent_for(std::chrono::milliseconds(100)));
    ASSERT_EQ(writer.end(true), ErrorCode::none);
    EXPECT_GT(answer(reader, id).bytes, 0u) << "at once, and not when its time is over";
    EXPECT_EQ(answer(reader, ask(reader, 1, 0, true)).bytes, 0u) << "order comes first";
}

// The group has read everything available of the parent; the rest is in a transaction. No member reads the parent, and none
// commits.
TEST_F(HeldReaders, GoOnWhenWhatTheyWaitForIsAborted) {
    ASSERT_EQ(join_alone(client_->wire(), "g", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
    ASSERT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
    TransactionalClient writer(broker_->port(), "writer", "writer");
    ASSERT_EQ(writer.begin(), ErrorCode::none);
    ASSERT_EQ(writer.write("t", 0, "will be aborted"), ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 2, "after it").error, ErrorCode::none);
    WireClient reader(broker_->port());
    const std::int32_t id = ask(reader, 0, 2 * static_cast<std::int32_t>(WireClient::kPatience.count()), true);
    EXPECT_TRUE(reader.is_silent_for(std::chrono::milliseconds(100)));
    ASSERT_EQ(writer.end(false), ErrorCode::none);
    EXPECT_GT(answer(reader, id).bytes, 0u) << "at once, and not when its time is over";
}

// librdkafka fetches all partitions at once and hands out one after the other, so a group may fetch a parent for minutes before
// it commits there. Only a group that commits nothing at all shows its progress by its fetches.
TEST_F(HeldReaders, WaitForTheCommitsOfAGroupThatCommitsInOtherPartitions) {
    for (const bool commits : {false, true}) {
        const std::string name = commits ? "commits" : "silent";
        ASSERT_EQ(client_->create_topic(name, 2, {{"partita.expansion.mode", "fenced"}}).error, ErrorCode::none);
        ASSERT_EQ(client_->produce_value(name, 0, "waits to be read").error, ErrorCode::none);
        ASSERT_EQ(client_->produce_value(name, 1, "another").error, ErrorCode::none);
        if (commits) {
            ASSERT_EQ(client_->commit(name, name, 1, 1), ErrorCode::none);
        }
        ASSERT_EQ(join_alone(client_->wire(), name, {{name, {0, 1, 2, 3}}}), ErrorCode::none);
        ASSERT_EQ(client_->expand_topic(name, 4), ErrorCode::none);
        ASSERT_EQ(client_->produce_value(name, 2, "after it").error, ErrorCode::none);
        const auto table = services().topics.table();
        const logs::TopicState& topic = *table->find(name);
        const runtime::TopicExpansion::Reader reader{"scenario", "/127.0.0.1", insight::ConnectionId{1'000'000}, false};
        Now now = real_schedule().clock.now();
        const auto limit = [&](PartitionIndex partition, Offset from) {
            return topic.expansion->on_fetch(topic, partition, reader, from, Offset{1}, now).limit;
        };
        (void)limit({0}, Offset{1});
        now.monotonic = now.monotonic + insight::Fence::kCommitGraceMs;
        (void)limit({0}, Offset{1});
        EXPECT_EQ(limit({2}, Offset{0}), commits ? std::optional(Offset{0}) : std::nullopt) << name;
    }
}

// A mark behind the end of the parent must not hold readers for ever, whatever made it.
TEST_F(HeldReaders, AreSlowWhenNoTransactionIsOpen) {
    ASSERT_EQ(join_alone(client_->wire(), "g", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
    ASSERT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
    const auto table = services().topics.table();
    const logs::TopicState& topic = *table->find("t");
    Now now = real_schedule().clock.now();
    insight::Fence fence;
    fence.open(1, 2, 4, now.wall, {}, now.wall);
    fence.mark(PartitionIndex{2}, Offset{0}, Offset{100});
    topic.expansion->restore_fence(std::move(fence));
    const auto limit = [&] {
        const runtime::TopicExpansion::Reader reader{"scenario", "/127.0.0.1", insight::ConnectionId{1'000'000}, true};
        return topic.expansion->on_fetch(topic, PartitionIndex{2}, reader, Offset{0}, Offset{1}, now).limit;
    };
    EXPECT_EQ(limit(), Offset{0});
    now.monotonic = now.monotonic + topic.config->expansion_fence_timeout_ms;
    EXPECT_EQ(limit(), std::nullopt);
}

// The fence is durable before the records that it marks. Records that replace them have another past.
TEST_F(HeldReaders, WaitForWhatCameAfterAPowerFailureThatTookRecordsOfTheirPartition) {
    ASSERT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
    for (int record = 0; record < 3; ++record) {
        ASSERT_EQ(client_->produce_value("t", 0, "old").error, ErrorCode::none);
        ASSERT_EQ(client_->produce_value("t", 2, "new").error, ErrorCode::none);
    }
    const std::size_t size = fetch(client_->wire()).bytes / 3;
    {
        const auto table = services().topics.table();
        const logs::TopicState& topic = *table->find("t");
        // The upkeep may be storing the fence just now, and then takes the new file away from this call.
        ASSERT_TRUE(
            eventually([&] { return services().growth.fences.store(*topic.topic, *topic.expansion->encoded_fence(), true); }));
    }
    client_.reset();
    broker_.reset();
    std::filesystem::resize_file(directory_ / "data/t-2/00000000000000000000.log", size);
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_EQ(client_->produce_value("t", 0, "before the next").base_offset, 3);
    ASSERT_EQ(client_->produce_value("t", 2, "new").base_offset, 1);
    ASSERT_EQ(client_->commit("g", "t", 0, 3), ErrorCode::none);
    ASSERT_EQ(join_alone(client_->wire(), "g", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
    WireClient reader(broker_->port());
    EXPECT_EQ(fetch(reader).bytes, size) << "the second waits for the parent's record at 3";
}

/// The broker does not learn who is behind its connections before the gate opens.
class UnknownReaders : public HeldReaders {
  protected:
    /// A record of the parent waits to be read, one of the child was written after it, and a reader has the group's client id.
    void hold(bool is_one_process) {
        services().connections.look_up_by(
            [open = gate_.get_future().share(), is_one_process](std::span<const runtime::LocalConnection> connections) {
                open.wait();
                std::vector<std::optional<insight::ProcessIdentity>> found;
                for (const runtime::LocalConnection& connection : connections) {
                    const std::int32_t pid = is_one_process ? 1 : connection.client_port;
                    found.push_back(insight::ProcessIdentity{.pid = pid, .start_ticks = 1, .name = "kcat", .program = {}});
                }
                return found;
            });
        ASSERT_EQ(join_alone(client_->wire(), "g", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
        ASSERT_EQ(client_->produce_value("t", 0, "waits to be read").error, ErrorCode::none);
        ASSERT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
        ASSERT_EQ(client_->produce_value("t", 2, "after it").error, ErrorCode::none);
        reader_ = std::make_unique<WireClient>(broker_->port());
    }
    void TearDown() override {
        open_gate();
        reader_.reset();
        HeldReaders::TearDown();
    }
    void open_gate() {
        if (!std::exchange(is_open_, true)) {
            gate_.set_value();
        }
    }

    std::promise<void> gate_;
    bool is_open_ = false;
    std::unique_ptr<WireClient> reader_;
};

// `kcat -C -e` reads until it is told that it is at the end: the fence must not look like the end to a reader that may be in no
// group.
TEST_F(UnknownReaders, AreShownWhereTheLogEndsAndGetAllOfItWhenTheyAreInNoGroup) {
    hold(false);
    for (int again = 0; again < 2; ++again) {
        const Fetched answer = fetch(*reader_);
        EXPECT_EQ(answer.bytes, 0u) << "order comes first";
        EXPECT_EQ(answer.high_watermark, 1) << "there is more to come";
    }
    open_gate();
    EXPECT_TRUE(eventually([&] { return fetch(*reader_).bytes > 0; }));
}

TEST_F(UnknownReaders, SeeAnEmptyPartitionWhenTheyAreTheMember) {
    hold(true);
    EXPECT_EQ(fetch(*reader_).high_watermark, 1);
    open_gate();
    EXPECT_TRUE(eventually([&] { return fetch(*reader_).high_watermark == 0; }));
    EXPECT_EQ(fetch(*reader_).bytes, 0u);
}

TEST_F(UnknownReaders, AreHeldOnlyWhereThereIsMoreToRead) {
    hold(true);
    open_gate();
    WireClient at_end(broker_->port());
    const auto held = [&] {
        const auto table = services().topics.table();
        const logs::TopicState& topic = *table->find("t");
        return topic.expansion->upkeep(topic, real_schedule().clock.now()).findings.size();
    };
    // The broker cannot tell the two apart; it knows at once that the second is one of two.
    EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(fetch(*reader_).bytes, 0u);
        EXPECT_EQ(fetch(at_end, 1).bytes, 0u);
        return held() > 0;
    }));
    EXPECT_EQ(held(), 1u);
}

// A group keeps a member that died until its session ends. The broker knows nothing about that member that would exclude others.
TEST_F(UnknownReaders, AreNotTakenForAMemberWhoseConnectionIsGone) {
    hold(true);
    open_gate();
    EXPECT_TRUE(eventually([&] { return fetch(*reader_).high_watermark == 0; })) << "it is the member, as long as there is one";
    client_.reset();
    EXPECT_TRUE(eventually([&] { return fetch(*reader_).high_watermark == 1; })) << "it may be, and may be in no group";
    EXPECT_EQ(fetch(*reader_).bytes, 0u) << "order comes first";
}

/// The readers of the topic, as a test sets them.
class FenceReadersBounds : public HeldReaders {
  protected:
    Attribution::Kind judge(runtime::FenceReaders& readers, std::string_view client_id, std::uint64_t connection,
                            std::int32_t partition = 2, std::int64_t after_ms = 0) {
        return readers
            .judge("t", topic_id(), PartitionIndex{partition}, client_id, "/127.0.0.1", insight::ConnectionId{connection},
                   began_ + after_ms)
            .kind;
    }
    const Instant began_ = real_schedule().clock.now().monotonic;
};

TEST_F(FenceReadersBounds, OfMoreReadersThanAreToldApartNobodyIsTheOnlyOne) {
    ASSERT_EQ(join_alone(client_->wire(), "g", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
    runtime::FenceReaders readers(services().coordinators.groups, services().connections);
    constexpr std::uint64_t kFirst = 1'000'000;
    EXPECT_EQ(judge(readers, "scenario", kFirst), Attribution::Kind::member);
    readers.on_closed(insight::ConnectionId{kFirst});
    for (std::uint64_t number = 1; number <= runtime::FenceReaders::kReadersMax; ++number) {
        EXPECT_EQ(judge(readers, "other", kFirst + number), Attribution::Kind::no_group);
    }
    const std::uint64_t beyond = kFirst + runtime::FenceReaders::kReadersMax + 1;
    EXPECT_EQ(judge(readers, "scenario", beyond), Attribution::Kind::one_of);
    for (const std::uint64_t gone : {kFirst + 1, kFirst + 2}) {
        readers.on_closed(insight::ConnectionId{gone});
    }
    EXPECT_EQ(judge(readers, "scenario", beyond), Attribution::Kind::member) << "all of them are known again";
}

TEST_F(FenceReadersBounds, WithMoreHoldingsThanAreKeptNobodyIsExcludedForWhatItFetches) {
    constexpr std::int32_t kNotHeld = 200'000;
    const auto judged = [&](std::int32_t held) {
        std::vector<std::int32_t> partitions(static_cast<std::size_t>(held));
        std::iota(partitions.begin(), partitions.end(), 0);
        WireClient wire(broker_->port(), WireClient::Caller{.client_id = "of " + std::to_string(held)});
        EXPECT_EQ(join_alone(wire, "group " + std::to_string(held), {{"t", partitions}}), ErrorCode::none);
        runtime::FenceReaders readers(services().coordinators.groups, services().connections);
        Attribution::Kind kind{};
        for (const std::int64_t after_ms : {std::int64_t{0}, insight::kHandoverMs + 1}) {
            for (const std::int32_t partition : {kNotHeld, 2}) {
                kind = judge(readers, "of " + std::to_string(held), 1'000'000, partition, after_ms);
            }
        }
        return kind;
    };
    EXPECT_EQ(judged(4), Attribution::Kind::no_group) << "it goes on with what the member does not hold";
    EXPECT_EQ(judged(static_cast<std::int32_t>(runtime::FenceReaders::kHoldingsMax) + 1), Attribution::Kind::member);
}

}  // namespace
}  // namespace partita::test
