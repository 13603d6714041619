// Tests what the APIs of transactions answer: one broker, over the wire, at the oldest and the newest version. The tests of the
// coordinator's core cover its decisions and their times. These tests show that each of its answers arrives, and what handlers
// answer by themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "broker/coordination/effects.h"
#include "broker/handlers/repeats.h"
#include "broker/logs/published_topics.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/25_add_offsets_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/messages/27_write_txn_markers.h"
#include "protocol/messages/28_txn_offset_commit.h"
#include "protocol/messages/61_describe_producers.h"
#include "protocol/messages/65_describe_transactions.h"
#include "protocol/messages/66_list_transactions.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

constexpr std::int32_t kTimeoutMs = 60'000;

struct Who {
    std::int64_t id = -1;
    std::int16_t epoch = -1;
    friend bool operator==(const Who&, const Who&) = default;
};

constexpr Who kNobody{5'000'000, 0};

/// The offsets to commit, and the member on whose behalf.
struct OffsetsOf {
    std::string_view group = "g";
    std::string_view topic = "t";
    std::vector<std::int32_t> partitions{0};
    std::int32_t generation = -1;
    std::string_view member;
    std::string_view metadata;
};

class Transactions : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(start({})); }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }
    void start(std::vector<std::string> overrides) {
        overrides.push_back("transaction.state.log.num.partitions=3");
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data", .overrides = std::move(overrides)});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
    }

    template <class T>
    Array<T> some(std::initializer_list<T> values) {
        ArenaVector<T> copied(arena_, values.size());
        for (const T& value : values) {
            copied.push_back(value);
        }
        return copied;
    }
    template <class Response, class Request>
    const Response& ask(std::int16_t version, const Request& request) {
        const auto* reply = client_->call<Response>(version, request);
        if (reply == nullptr) {
            throw std::runtime_error(client_->failure());
        }
        return *reply;
    }

    /// The coordinators of transactions and of groups, and the topic `t` of two partitions.
    void make_all() {
        ASSERT_TRUE(create_topic(*client_, "t", 2));
        ASSERT_EQ(find_coordinator(*client_, "g"), ErrorCode::none);
        const auto& found = ask<FindCoordinatorResponse>(
            4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = some<std::string_view>({"x"})});
        ASSERT_EQ(found.coordinators[0].error_code, ErrorCode::none);
        EXPECT_EQ(found.coordinators[0].port, broker_->port());
    }

    InitProducerIdResponse init_reply(std::string_view id, std::int16_t version = 5, Who expected = {},
                                      std::int32_t timeout_ms = kTimeoutMs) {
        return ask<InitProducerIdResponse>(version, InitProducerIdRequest{.transactional_id = id,
                                                                          .transaction_timeout_ms = timeout_ms,
                                                                          .producer_id = expected.id,
                                                                          .producer_epoch = expected.epoch});
    }
    Who init(std::string_view id) {
        const InitProducerIdResponse reply = init_reply(id);
        EXPECT_EQ(reply.error_code, ErrorCode::none) << error_name(reply.error_code);
        return {reply.producer_id, reply.producer_epoch};
    }

    struct Place {
        std::string_view topic;
        std::vector<std::int32_t> partitions;
    };
    Array<AddPartitionsToTxnRequest::AddPartitionsToTxnTopic> topics_of(const std::vector<Place>& places) {
        ArenaVector<AddPartitionsToTxnRequest::AddPartitionsToTxnTopic> topics(arena_, places.size());
        for (const Place& place : places) {
            ArenaVector<std::int32_t> partitions(arena_, place.partitions.size());
            for (const std::int32_t partition : place.partitions) {
                partitions.push_back(partition);
            }
            topics.push_back({.name = place.topic, .partitions = partitions});
        }
        return topics;
    }
    static std::vector<ErrorCode> errors_of(const Array<AddPartitionsToTxnResponse::AddPartitionsToTxnTopicResult>& topics) {
        std::vector<ErrorCode> errors;
        for (const auto& topic : topics) {
            for (const auto& partition : topic.results_by_partition) {
                errors.push_back(partition.partition_error_code);
            }
        }
        return errors;
    }
    std::vector<ErrorCode> add(std::int16_t version, std::string_view id, Who who, const std::vector<Place>& places,
                               bool only_verifies = false) {
        if (version < 4) {
            return errors_of(
                ask<AddPartitionsToTxnResponse>(version, AddPartitionsToTxnRequest{.v3_and_below_transactional_id = id,
                                                                                   .v3_and_below_producer_id = who.id,
                                                                                   .v3_and_below_producer_epoch = who.epoch,
                                                                                   .v3_and_below_topics = topics_of(places)})
                    .results_by_topic_v3_and_below);
        }
        const auto& reply = ask<AddPartitionsToTxnResponse>(
            version, AddPartitionsToTxnRequest{.transactions = some<AddPartitionsToTxnRequest::AddPartitionsToTxnTransaction>(
                                                   {{.transactional_id = id,
                                                     .producer_id = who.id,
                                                     .producer_epoch = who.epoch,
                                                     .verify_only = only_verifies,
                                                     .topics = topics_of(places)}})});
        EXPECT_EQ(reply.error_code, ErrorCode::none);
        EXPECT_EQ(reply.results_by_transaction[0].transactional_id, id);
        return errors_of(reply.results_by_transaction[0].topic_results);
    }
    ErrorCode add_offsets(std::int16_t version, std::string_view id, Who who, std::string_view group = "g") {
        return ask<AddOffsetsToTxnResponse>(
                   version,
                   AddOffsetsToTxnRequest{
                       .transactional_id = id, .producer_id = who.id, .producer_epoch = who.epoch, .group_id = group})
            .error_code;
    }
    EndTxnResponse end(std::int16_t version, std::string_view id, Who who, bool commit) {
        return ask<EndTxnResponse>(
            version,
            EndTxnRequest{.transactional_id = id, .producer_id = who.id, .producer_epoch = who.epoch, .committed = commit});
    }

    std::vector<ErrorCode> commit(std::int16_t version, std::string_view id, Who who, const OffsetsOf& offsets = {}) {
        ArenaVector<TxnOffsetCommitRequest::Partition> partitions(arena_, offsets.partitions.size());
        for (const std::int32_t partition : offsets.partitions) {
            partitions.push_back({.partition_index = partition, .committed_offset = 7, .committed_metadata = offsets.metadata});
        }
        const auto& reply = ask<TxnOffsetCommitResponse>(
            version, TxnOffsetCommitRequest{
                         .transactional_id = id,
                         .group_id = offsets.group,
                         .producer_id = who.id,
                         .producer_epoch = who.epoch,
                         .generation_id = offsets.generation,
                         .member_id = offsets.member,
                         .topics = some<TxnOffsetCommitRequest::Topic>({{.name = offsets.topic, .partitions = partitions}})});
        std::vector<ErrorCode> errors;
        for (const auto& partition : reply.topics[0].partitions) {
            errors.push_back(partition.error_code);
        }
        return errors;
    }
    /// A committed offset of `t`-0, or the error.
    struct Fetched {
        std::int64_t offset = -1;
        ErrorCode error = ErrorCode::none;
        friend bool operator==(const Fetched&, const Fetched&) = default;
    };
    Fetched fetch_stable(std::string_view group = "g") {
        const auto& reply = ask<OffsetFetchResponse>(
            7, OffsetFetchRequest{
                   .group_id = group,
                   .topics = some<OffsetFetchRequest::Topic>({{.name = "t", .partition_indexes = some<std::int32_t>({0})}}),
                   .require_stable = true});
        return {reply.topics[0].partitions[0].committed_offset, reply.topics[0].partitions[0].error_code};
    }
    DescribeTransactionsResponse::TransactionState describe(std::string_view id) {
        return ask<DescribeTransactionsResponse>(0,
                                                 DescribeTransactionsRequest{.transactional_ids = some<std::string_view>({id})})
            .transaction_states[0];
    }
    std::vector<std::string> listed(std::int16_t version, const ListTransactionsRequest& request) {
        const auto& reply = ask<ListTransactionsResponse>(version, request);
        EXPECT_EQ(reply.error_code, ErrorCode::none);
        std::vector<std::string> ids;
        for (const auto& state : reply.transaction_states) {
            ids.emplace_back(state.transactional_id);
        }
        std::ranges::sort(ids);
        return ids;
    }
    std::vector<ErrorCode> mark(std::int16_t version, Who who, const std::vector<Place>& places,
                                std::int32_t coordinator_epoch = 0, std::int8_t transaction_version = 0) {
        ArenaVector<WriteTxnMarkersRequest::WritableTxnMarkerTopic> topics(arena_, places.size());
        for (const auto& topic : topics_of(places)) {
            topics.push_back({.name = topic.name, .partition_indexes = topic.partitions});
        }
        const auto& reply = ask<WriteTxnMarkersResponse>(
            version, WriteTxnMarkersRequest{.markers = some<WriteTxnMarkersRequest::WritableTxnMarker>(
                                                {{.producer_id = who.id,
                                                  .producer_epoch = who.epoch,
                                                  .topics = topics,
                                                  .coordinator_epoch = coordinator_epoch,
                                                  .transaction_version = transaction_version}})});
        std::vector<ErrorCode> errors;
        for (const auto& topic : reply.markers[0].topics) {
            for (const auto& partition : topic.partitions) {
                errors.push_back(partition.error_code);
            }
        }
        return errors;
    }
    DescribeProducersResponse::ProducerState producer_in(std::int32_t partition) {
        const auto& reply = ask<DescribeProducersResponse>(
            0, DescribeProducersRequest{.topics = some<DescribeProducersRequest::TopicRequest>(
                                            {{.name = "t", .partition_indexes = some<std::int32_t>({partition})}})});
        EXPECT_EQ(reply.topics[0].partitions[0].active_producers.count(), 1u);
        return reply.topics[0].partitions[0].active_producers[0];
    }

    using Codes = std::vector<ErrorCode>;

    TemporaryDirectory directory_;
    Arena arena_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

TEST_F(Transactions, NobodyCoordinatesBeforeTheirTopicIsMade) {
    ASSERT_TRUE(create_topic(*client_, "t", 2));
    for (const std::int16_t version : {0, 5}) {
        EXPECT_EQ(init_reply("x", version).error_code, ErrorCode::not_coordinator);
        EXPECT_EQ(init_reply("", version).error_code, ErrorCode::invalid_request);
        EXPECT_EQ(init_reply("x", version, {}, 0).error_code, ErrorCode::invalid_transaction_timeout);
        EXPECT_EQ(end(version, "", kNobody, true).error_code, ErrorCode::invalid_request);
        EXPECT_EQ(add_offsets(std::min<std::int16_t>(version, 4), "x", kNobody), ErrorCode::not_coordinator);
        EXPECT_EQ(end(version, "x", kNobody, true).error_code, ErrorCode::not_coordinator);
        EXPECT_EQ(add(version, "x", kNobody, {{"t", {0, 1}}}), (Codes{ErrorCode::not_coordinator, ErrorCode::not_coordinator}));
        EXPECT_EQ(commit(version, "x", kNobody), Codes{ErrorCode::coordinator_not_available});
    }
    EXPECT_EQ(describe("x").error_code, ErrorCode::not_coordinator);
    EXPECT_EQ(listed(2, {}), std::vector<std::string>{});
}

TEST_F(Transactions, AProducerHasAFreshIdAndEveryLaterOneTheNextEpoch) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who first = init("x");
    EXPECT_EQ(first.epoch, 0);
    EXPECT_EQ(init("x"), (Who{first.id, 1}));
    EXPECT_NE(init("y").id, first.id);
}

TEST_F(Transactions, AProducerIsRefusedForItsTimeoutOrForNotBeingKnown) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who first = init("x");
    for (const std::int16_t version : {0, 3, 4, 5}) {
        EXPECT_EQ(init_reply("", version).error_code, ErrorCode::invalid_request);
        EXPECT_EQ(init_reply("x", version, {}, 0).error_code, ErrorCode::invalid_transaction_timeout);
        const auto refused = init_reply("x", version, {}, 900'001);
        EXPECT_EQ(refused.error_code, ErrorCode::invalid_transaction_timeout);
        EXPECT_EQ(refused.producer_id, -1);
        EXPECT_EQ(refused.producer_epoch, -1);
        if (version >= 3) {
            EXPECT_EQ(init_reply("x", version, {first.id, -1}).error_code, ErrorCode::invalid_request);
            EXPECT_EQ(init_reply("x", version, {-1, 0}).error_code, ErrorCode::invalid_request);
            EXPECT_EQ(init_reply("x", version, {first.id, 7}).error_code,
                      version < 4 ? ErrorCode::invalid_producer_epoch : ErrorCode::producer_fenced);
        }
    }
    EXPECT_EQ(init_reply("x", 5, first).producer_epoch, 1);
}

TEST_F(Transactions, AProducerThatComesWhileATransactionIsOpenHasToComeAgain) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who old = init("x");
    ASSERT_EQ(add(3, "x", old, {{"t", {0}}}), Codes{ErrorCode::none});
    EXPECT_EQ(init_reply("x").error_code, ErrorCode::concurrent_transactions);
    EXPECT_EQ(describe("x").transaction_state, "CompleteAbort");
    EXPECT_GT(init("x").epoch, old.epoch);
    EXPECT_EQ(add(3, "x", old, {{"t", {0}}}), Codes{ErrorCode::producer_fenced});
}

TEST_F(Transactions, PartitionsAreAddedTogetherOrNotAtAll) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    for (const std::int16_t version : {0, 3, 4, 5}) {
        EXPECT_EQ(add(version, "x", who, {{"t", {0, 7}}, {"no", {0}}}),
                  (Codes{ErrorCode::operation_not_attempted, ErrorCode::unknown_topic_or_partition,
                         ErrorCode::unknown_topic_or_partition}))
            << version;
        EXPECT_EQ(describe("x").transaction_state, "Empty");
    }
    EXPECT_EQ(add(3, "x", who, {{"t", {0, 1}}}), (Codes{ErrorCode::none, ErrorCode::none}));
    const auto open = describe("x");
    EXPECT_EQ(open.transaction_state, "Ongoing");
    EXPECT_EQ(open.producer_id, who.id);
    EXPECT_EQ(open.transaction_timeout_ms, kTimeoutMs);
    ASSERT_EQ(open.topics.count(), 1u);
    EXPECT_EQ(open.topics[0].topic, "t");
    EXPECT_EQ(open.topics[0].partitions.count(), 2u);
}

TEST_F(Transactions, ClientsMayNotAddTheBrokersOwnTopicsAndBrokersMay) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    for (const std::int16_t version : {0, 3}) {
        EXPECT_EQ(add(version, "x", who, {{"__consumer_offsets", {0}}, {"t", {1}}}),
                  (Codes{ErrorCode::topic_authorization_failed, ErrorCode::operation_not_attempted}));
    }
    EXPECT_EQ(add(4, "x", who, {{"__consumer_offsets", {0}}}), Codes{ErrorCode::none});
}

TEST_F(Transactions, WhoAddsPartitionsMustBeTheProducer) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    for (const std::int16_t version : {0, 1, 2, 3, 4, 5}) {
        const ErrorCode fenced = version < 2 ? ErrorCode::invalid_producer_epoch : ErrorCode::producer_fenced;
        EXPECT_EQ(add(version, "x", kNobody, {{"t", {0}}}), Codes{ErrorCode::invalid_producer_id_mapping});
        EXPECT_EQ(add(version, "unknown", who, {{"t", {0}}}), Codes{ErrorCode::invalid_producer_id_mapping});
        EXPECT_EQ(add(version, "x", {who.id, 9}, {{"t", {0}}}), Codes{fenced}) << version;
        EXPECT_EQ(add(version, "", who, {{"t", {0}}}), Codes{ErrorCode::invalid_request});
    }
    for (const std::int16_t version : {0, 1, 2, 4}) {
        const ErrorCode fenced = version < 2 ? ErrorCode::invalid_producer_epoch : ErrorCode::producer_fenced;
        EXPECT_EQ(add_offsets(version, "x", kNobody), ErrorCode::invalid_producer_id_mapping);
        EXPECT_EQ(add_offsets(version, "x", {who.id, 9}), fenced) << version;
        EXPECT_EQ(add_offsets(version, "", who), ErrorCode::invalid_request);
    }
    EXPECT_EQ(describe("x").transaction_state, "Empty");
}

TEST_F(Transactions, BrokersAskForSeveralTransactionsAndWhetherTheyHaveAPartition) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who x = init("x");
    const Who y = init("y");
    EXPECT_EQ(add(4, "x", x, {{"t", {0}}}, true), Codes{ErrorCode::transaction_abortable});
    const auto& reply = ask<AddPartitionsToTxnResponse>(
        5, AddPartitionsToTxnRequest{
               .transactions = some<AddPartitionsToTxnRequest::AddPartitionsToTxnTransaction>(
                   {{.transactional_id = "x", .producer_id = x.id, .producer_epoch = x.epoch, .topics = topics_of({{"t", {0}}})},
                    {.transactional_id = "y", .producer_id = y.id, .producer_epoch = 9, .topics = topics_of({{"t", {1}}})}})});
    EXPECT_EQ(errors_of(reply.results_by_transaction[0].topic_results), Codes{ErrorCode::none});
    EXPECT_EQ(errors_of(reply.results_by_transaction[1].topic_results), Codes{ErrorCode::producer_fenced});
    EXPECT_EQ(add(5, "x", x, {{"t", {0, 1}}}, true), (Codes{ErrorCode::none, ErrorCode::transaction_abortable}));
}

TEST_F(Transactions, AnEndIsToldToItsProducerAloneAndOnce) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    for (const std::int16_t version : {0, 1, 2, 4, 5}) {
        const ErrorCode fenced = version < 2 ? ErrorCode::invalid_producer_epoch : ErrorCode::producer_fenced;
        EXPECT_EQ(end(version, "x", kNobody, true).error_code, ErrorCode::invalid_producer_id_mapping);
        EXPECT_EQ(end(version, "unknown", who, true).error_code, ErrorCode::invalid_producer_id_mapping);
        EXPECT_EQ(end(version, "", who, true).error_code, ErrorCode::invalid_request);
        EXPECT_EQ(end(version, "x", {who.id, 9}, true).error_code, fenced) << version;
        EXPECT_EQ(end(version, "x", who, true).error_code, ErrorCode::invalid_txn_state) << version;
    }
    for (const std::int16_t version : {0, 4}) {
        ASSERT_EQ(add(3, "x", who, {{"t", {0}}}), Codes{ErrorCode::none});
        EXPECT_EQ(end(version, "x", who, true).error_code, ErrorCode::none);
        EXPECT_EQ(describe("x").transaction_state, "CompleteCommit");
        EXPECT_EQ(end(version, "x", who, true).error_code, ErrorCode::none);
        EXPECT_EQ(end(version, "x", who, false).error_code, ErrorCode::invalid_txn_state);
    }
}

TEST_F(Transactions, AnEndOfTheSecondProtocolSaysWhomTheProducerGoesOnAs) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    ASSERT_EQ(add(5, "x", who, {{"t", {0}}}), Codes{ErrorCode::none});
    for (int time = 0; time < 2; ++time) {
        const EndTxnResponse ended = end(5, "x", who, false);
        EXPECT_EQ(ended.error_code, ErrorCode::none);
        EXPECT_EQ((Who{ended.producer_id, ended.producer_epoch}), (Who{who.id, 1})) << "time " << time;
    }
    const EndTxnResponse refused = end(5, "x", who, true);
    EXPECT_EQ(refused.error_code, ErrorCode::invalid_txn_state);
    EXPECT_EQ(refused.producer_id, -1);
    EXPECT_EQ(refused.producer_epoch, -1);
    EXPECT_EQ(add(5, "x", {who.id, 1}, {{"t", {0}}}), Codes{ErrorCode::none});
}

TEST_F(Transactions, OffsetsCountWhenTheTransactionIsCommitted) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    for (const std::int16_t version : {0, 4}) {
        const std::string group = "g" + std::to_string(version);
        ASSERT_EQ(add_offsets(version, "x", who, group), ErrorCode::none);
        EXPECT_EQ(commit(version, "x", who, {.group = group}), Codes{ErrorCode::none});
        EXPECT_EQ(fetch_stable(group), (Fetched{-1, ErrorCode::unstable_offset_commit}));
        EXPECT_EQ(end(4, "x", who, true).error_code, ErrorCode::none);
        EXPECT_EQ(fetch_stable(group), (Fetched{7, ErrorCode::none}));
    }
}

TEST_F(Transactions, OffsetsOfTheSecondProtocolBringTheirPartitionAlong) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    EXPECT_EQ(commit(5, "x", who), Codes{ErrorCode::none});
    EXPECT_EQ(describe("x").topics[0].topic, "__consumer_offsets");
    EXPECT_EQ(end(5, "x", who, false).error_code, ErrorCode::none);
    EXPECT_EQ(fetch_stable(), (Fetched{-1, ErrorCode::none}));
}

TEST_F(Transactions, OffsetsOfATransactionThatHasNotTheirPartitionAreRefusedAsTheVersionKnows) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    for (const std::int16_t version : {0, 3, 4}) {
        EXPECT_EQ(commit(version, "x", who), Codes{version < 4 ? ErrorCode::invalid_txn_state : ErrorCode::transaction_abortable})
            << version;
    }
    for (const std::int16_t version : {0, 5}) {
        EXPECT_EQ(commit(version, "x", {who.id, 9}), Codes{ErrorCode::invalid_producer_epoch}) << version;
        EXPECT_EQ(commit(version, "x", kNobody), Codes{ErrorCode::invalid_producer_id_mapping}) << version;
        EXPECT_EQ(commit(version, "x", who, {.group = ""}), Codes{ErrorCode::invalid_group_id}) << version;
    }
    EXPECT_EQ(fetch_stable(), (Fetched{-1, ErrorCode::none}));
}

TEST_F(Transactions, UncheckedOffsetsAreTakenWhenTheBrokerIsToldSo) {
    client_.reset();
    ASSERT_TRUE(broker_->stop());
    broker_.reset();
    ASSERT_NO_FATAL_FAILURE(start({"transaction.partition.verification.enable=false"}));
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    EXPECT_EQ(commit(4, "x", who), Codes{ErrorCode::none});
}

TEST_F(Transactions, OffsetsAreRefusedOneByOneForTheirPlaceAndTogetherForTheirMember) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    ASSERT_EQ(add_offsets(4, "x", who), ErrorCode::none);
    for (const std::int16_t version : {0, 5}) {
        EXPECT_EQ(commit(version, "x", who, {.partitions = {0, 9}}),
                  (Codes{ErrorCode::none, ErrorCode::unknown_topic_or_partition}));
        EXPECT_EQ(commit(version, "x", who, {.topic = "no"}), Codes{ErrorCode::unknown_topic_or_partition});
        EXPECT_EQ(commit(version, "x", who, {.metadata = std::string(5000, 'x')}), Codes{ErrorCode::offset_metadata_too_large});
    }
    for (const std::int16_t version : {3, 5}) {
        EXPECT_EQ(commit(version, "x", who, {.group = "g", .generation = 5, .member = "m"}), Codes{ErrorCode::unknown_member_id});
        EXPECT_EQ(commit(version, "x", who, {.group = "nobody", .generation = 5, .member = "m"}).size(), 1u);
    }
}

TEST_F(Transactions, AMarkerOfAStrangerEndsWhatIsOpenInAPartition) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    for (const std::int16_t version : {1, 2}) {
        const Who who = init("x" + std::to_string(version));
        EXPECT_EQ(mark(version, who, {{"t", {0, 7}}, {"no", {0}}}),
                  (Codes{ErrorCode::unknown_topic_or_partition, ErrorCode::none, ErrorCode::unknown_topic_or_partition}));
        EXPECT_EQ(mark(version, who, {{"t", {1}}}, 5), Codes{ErrorCode::none});
        EXPECT_EQ(mark(version, who, {{"t", {1}}}, 4), Codes{ErrorCode::transaction_coordinator_fenced});
        EXPECT_EQ(mark(version, {who.id, 2}, {{"t", {1}}}, 5), Codes{ErrorCode::none});
        EXPECT_EQ(mark(version, {who.id, 1}, {{"t", {1}}}, 5), Codes{ErrorCode::invalid_producer_epoch});
        EXPECT_EQ(mark(version, {who.id, -1}, {{"t", {1, 7}}}, 5),
                  (Codes{ErrorCode::unknown_server_error, ErrorCode::unknown_topic_or_partition}));
        EXPECT_EQ(mark(version, {-1, 0}, {{"t", {1}}}, 5), Codes{ErrorCode::unknown_server_error});
        EXPECT_EQ(mark(version, who, {{"__transaction_state", {2}}}), Codes{ErrorCode::none});
    }
}

TEST_F(Transactions, MarkersForNoPartitionAreNotAnswered) {
    const WriteTxnMarkersRequest::WritableTxnMarker none{.producer_id = 7};
    for (const std::int16_t version : {1, 2}) {
        EXPECT_TRUE(ask<WriteTxnMarkersResponse>(version, WriteTxnMarkersRequest{}).markers.empty());
        EXPECT_TRUE(ask<WriteTxnMarkersResponse>(version, WriteTxnMarkersRequest{.markers = some({none})}).markers.empty());
    }
}

TEST_F(Transactions, MarkersOfOneProducerAreAnsweredTogether) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const auto marker = [&](std::int64_t id, std::int32_t partition) {
        return WriteTxnMarkersRequest::WritableTxnMarker{
            .producer_id = id,
            .topics = some<WriteTxnMarkersRequest::WritableTxnMarkerTopic>(
                {{.name = "t", .partition_indexes = some<std::int32_t>({partition})}})};
    };
    const auto& reply = ask<WriteTxnMarkersResponse>(
        1, WriteTxnMarkersRequest{
               .markers = some<WriteTxnMarkersRequest::WritableTxnMarker>({marker(7, 1), marker(8, 0), marker(7, 0)})});
    ASSERT_EQ(reply.markers.count(), 2u);
    EXPECT_EQ(reply.markers[0].producer_id, 7);
    EXPECT_EQ(reply.markers[0].topics[0].partitions.count(), 2u);
    EXPECT_EQ(reply.markers[1].topics[0].partitions.count(), 1u);
}

TEST_F(Transactions, MoreMarkersThanAreWrittenAtOnceAreAllWritten) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    std::vector<std::int32_t> same(coordination::kOutwardWritesMax + 2, 0);
    EXPECT_EQ(mark(2, {7, 0}, {{"t", same}}), Codes{ErrorCode::none});
    EXPECT_EQ(broker_->services().topics.table()->find("t")->partitions[0]->log->log_end_offset(),
              Offset{static_cast<std::int64_t>(same.size())});
}

TEST_F(Transactions, AMarkerAmongOffsetsMakesThemCount) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    ASSERT_EQ(commit(5, "x", who), Codes{ErrorCode::none});
    const std::int32_t partition = describe("x").topics[0].partitions[0];
    ASSERT_EQ(mark(1, who, {{"__consumer_offsets", {partition}}}), Codes{ErrorCode::none});
    EXPECT_EQ(fetch_stable(), (Fetched{-1, ErrorCode::none})) << "an abort, by default of the field";
}

TEST_F(Transactions, ProducersAreDescribedWithTheirMarkers) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who who = init("x");
    ASSERT_EQ(mark(1, who, {{"t", {0}}}, 3), Codes{ErrorCode::none});
    const auto described = producer_in(0);
    EXPECT_EQ(described.producer_id, who.id);
    EXPECT_EQ(described.coordinator_epoch, 3);
    EXPECT_EQ(described.current_txn_start_offset, -1);
}

TEST_F(Transactions, TransactionsAreDescribedOneByOne) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    (void)init("x");
    const auto& reply = ask<DescribeTransactionsResponse>(
        0, DescribeTransactionsRequest{.transactional_ids = some<std::string_view>({"x", "unknown", ""})});
    ASSERT_EQ(reply.transaction_states.count(), 3u);
    EXPECT_EQ(reply.transaction_states[0].error_code, ErrorCode::none);
    EXPECT_EQ(reply.transaction_states[0].transaction_start_time_ms, -1);
    EXPECT_EQ(reply.transaction_states[1].error_code, ErrorCode::transactional_id_not_found);
    EXPECT_EQ(reply.transaction_states[2].error_code, ErrorCode::invalid_request);
}

// Kafka repeats them as well, but this broker's reply must not grow without a limit.
TEST_F(Transactions, WhatIsNamedSeveralTimesIsDescribedAsOftenUpToAHundredTimes) {
    using Topic = DescribeProducersRequest::TopicRequest;
    ASSERT_NO_FATAL_FAILURE(make_all());
    (void)init("x");
    constexpr std::size_t kNamed = 200;
    constexpr std::size_t kAnswered = 1 + handlers::Repeats<int>::kAnsweredMax;
    std::vector<std::string_view> ids(kNamed, "x");
    const auto& described = ask<DescribeTransactionsResponse>(
        0, DescribeTransactionsRequest{.transactional_ids = Array<std::string_view>(ids.data(), ids.size())});
    ASSERT_EQ(described.transaction_states.count(), kAnswered);
    EXPECT_EQ(described.transaction_states[kAnswered - 1].transactional_id, "x");
    std::vector<std::int32_t> partitions(kNamed, 0);
    const auto& producers = ask<DescribeProducersResponse>(
        0,
        DescribeProducersRequest{
            .topics = some<Topic>({{.name = "t", .partition_indexes = Array<std::int32_t>(partitions.data(), partitions.size())},
                                   {.name = "t", .partition_indexes = some<std::int32_t>({0, 1})}})});
    ASSERT_EQ(producers.topics.count(), 2u);
    EXPECT_EQ(producers.topics[0].partitions.count(), kAnswered);
    ASSERT_EQ(producers.topics[1].partitions.count(), 1u);
    EXPECT_EQ(producers.topics[1].partitions[0].partition_index, 1);
}

// Comparing each filter with each would hold up every client for minutes.
TEST_F(Transactions, VeryManyFiltersAreNoBurden) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who open = init("x");
    constexpr std::size_t kFilters = 100'000;
    std::vector<std::string> names;
    ArenaVector<std::string_view> states(arena_, kFilters);
    ArenaVector<std::int64_t> ids(arena_, kFilters);
    names.reserve(kFilters);
    for (std::size_t i = 0; i < kFilters; ++i) {
        states.push_back(names.emplace_back("State" + std::to_string(i)));
        ids.push_back(open.id + static_cast<std::int64_t>(kFilters - 1 - i));
    }
    const auto began = std::chrono::steady_clock::now();
    const auto& unknown = ask<ListTransactionsResponse>(0, ListTransactionsRequest{.state_filters = states});
    EXPECT_EQ(unknown.unknown_state_filters.count(), kFilters);
    EXPECT_EQ(listed(0, {.producer_id_filters = ids}), std::vector<std::string>{"x"});
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST_F(Transactions, TransactionsAreListedAsEachFilterSays) {
    using Ids = std::vector<std::string>;
    ASSERT_NO_FATAL_FAILURE(make_all());
    const Who open = init("open-1");
    (void)init("idle-1");
    (void)init("idle-2");
    ASSERT_EQ(add(3, "open-1", open, {{"t", {0}}}), Codes{ErrorCode::none});
    for (const std::int16_t version : {0, 2}) {
        EXPECT_EQ(listed(version, {}), (Ids{"idle-1", "idle-2", "open-1"}));
        EXPECT_EQ(listed(version, {.state_filters = some<std::string_view>({"Ongoing"})}), Ids{"open-1"});
        EXPECT_EQ(listed(version, {.state_filters = some<std::string_view>({"Ongoing", "Empty"})}).size(), 3u);
        EXPECT_EQ(listed(version, {.producer_id_filters = some<std::int64_t>({open.id, 5'000'000})}), Ids{"open-1"});
        EXPECT_EQ(listed(version, {.state_filters = some<std::string_view>({"nonsense"})}), Ids{});
    }
    const auto& unknown = ask<ListTransactionsResponse>(
        0, ListTransactionsRequest{.state_filters = some<std::string_view>({"nonsense", "Empty", "ongoing", "nonsense"})});
    EXPECT_EQ(unknown.unknown_state_filters.count(), 2u);
    EXPECT_EQ(unknown.transaction_states.count(), 2u);
    EXPECT_EQ(listed(1, {.duration_filter = 1'000'000}), (Ids{"idle-1", "idle-2"})) << "those without a start began long ago";
    EXPECT_EQ(listed(2, {.transactional_id_pattern = "idle-.*"}), (Ids{"idle-1", "idle-2"}));
    EXPECT_EQ(listed(2, {.transactional_id_pattern = "idle"}), Ids{});
    EXPECT_EQ(listed(2, {.transactional_id_pattern = ""}).size(), 3u);
    EXPECT_EQ(ask<ListTransactionsResponse>(2, ListTransactionsRequest{.transactional_id_pattern = "["}).error_code,
              ErrorCode::invalid_regular_expression);
}

class TwoPhases : public Transactions {
  protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(start({"unstable.api.versions.enable=true"})); }
};

TEST_F(TwoPhases, AreRefused) {
    ASSERT_NO_FATAL_FAILURE(make_all());
    InitProducerIdRequest request{.transactional_id = "x", .transaction_timeout_ms = kTimeoutMs, .enable2_pc = true};
    EXPECT_EQ(ask<InitProducerIdResponse>(6, request).error_code, ErrorCode::transactional_id_authorization_failed);
    request.keep_prepared_txn = true;
    request.enable2_pc = false;
    EXPECT_EQ(ask<InitProducerIdResponse>(6, request).error_code, ErrorCode::unsupported_version);
    request.keep_prepared_txn = false;
    const auto& served = ask<InitProducerIdResponse>(6, request);
    EXPECT_EQ(served.error_code, ErrorCode::none);
    EXPECT_EQ(served.ongoing_txn_producer_id, -1);
}

}  // namespace
}  // namespace partita::test
