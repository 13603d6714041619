// Tests the answers about how much topics hold, how far groups have read them, and which clients produce.

#include <gmock/gmock.h>

#include "broker/runtime/queries/group_lags.h"
#include "broker/runtime/queries/topic_producers.h"
#include "broker/runtime/queries/topic_sizes.h"
#include "tests/support/storage_fixture.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::runtime {
namespace {

using ::testing::ElementsAre;

class TopicQueries : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_FALSE(catalog_.create("b", 2).failed());
        ASSERT_FALSE(catalog_.create("a", 1).failed());
        table_.catalog = catalog_.core().snapshot();
        int log = 0;
        for (const catalog::Topic& topic : table_.catalog->topics()) {
            auto state = std::make_shared<logs::TopicState>();
            state->topic = table_.catalog->share_topic(topic.id);
            for (std::int32_t index = 0; index < topic.partition_count; ++index, ++log) {
                state->partitions.push_back(std::make_shared<logs::Partition>(
                    world_.shared_log(log), fetch::PartitionKey{static_cast<std::uint64_t>(log)}));
            }
            table_.put(std::move(state));
        }
    }
    [[nodiscard]] const logs::TopicState& topic(std::string_view name) const { return *table_.find(name); }
    std::size_t append(std::string_view name, std::size_t partition, const test::TestBatch& wanted) {
        auto batch = test::make_batch(wanted);
        EXPECT_TRUE(
            topic(name).partitions.at(partition)->log->append(batch, {.leader_epoch = {0}, .now = wanted.timestamp}).has_value());
        return batch.size();
    }

    catalog::TestCatalog catalog_;
    test::StorageWorld world_;
    logs::TopicTable table_;
};

TEST_F(TopicQueries, TopicsComeByNameWithThePlaceThatTheirPartitionsTake) {
    const std::size_t first = append("b", 1, {.records = 3});
    const std::size_t second = append("b", 1, {.records = 2});
    ASSERT_TRUE(topic("b").partitions[1]->log->delete_records_before(Offset{2}).value());
    const std::vector<TopicSize> sizes = topic_sizes(table_);
    ASSERT_EQ(sizes.size(), 2u);
    EXPECT_EQ(sizes[0].topic->name, "a");
    EXPECT_EQ(sizes[0].bytes(), 0u);
    EXPECT_EQ(sizes[1].topic->name, "b");
    EXPECT_THAT(sizes[1].partitions,
                ElementsAre(PartitionSize{.partition = {0}, .bounds = {{0}, {0}, {0}}, .bytes = 0},
                            PartitionSize{.partition = {1}, .bounds = {{2}, {5}, {5}}, .bytes = first + second}));
    EXPECT_EQ(sizes[1].bytes(), first + second);
    EXPECT_EQ(sizes[1].offsets(), 3);
}

TEST_F(TopicQueries, LagIsWhatAGroupHasYetToReadOfWhatIsThere) {
    append("b", 0, {.records = 10});
    append("b", 1, {.records = 10});
    ASSERT_TRUE(topic("b").partitions[1]->log->delete_records_before(Offset{6}).value());
    groups::TopicReader reader;
    reader.group_id = "g";
    reader.members.resize(2);
    reader.committed = {{{0}, {3}}, {{1}, {1}}};
    const GroupLag lag = group_lag(topic("b"), reader);
    EXPECT_EQ(lag.group_id, "g");
    EXPECT_EQ(lag.members, 2u);
    EXPECT_THAT(lag.partitions, ElementsAre(PartitionLag{.partition = {0}, .committed = Offset{3}, .log_end = {10}, .lag = 7},
                                            PartitionLag{.partition = {1}, .committed = Offset{1}, .log_end = {10}, .lag = 4}));
    EXPECT_EQ(lag.total(), 11);
}

TEST_F(TopicQueries, WithoutACommitNobodyKnowsTheLagAndBeyondTheEndThereIsNone) {
    append("b", 0, {.records = 10});
    groups::TopicReader reader;
    reader.committed = {{{0}, {50}}};
    const GroupLag lag = group_lag(topic("b"), reader);
    EXPECT_EQ(lag.partitions[0].lag, 0);
    EXPECT_EQ(lag.partitions[1].committed, std::nullopt);
    EXPECT_EQ(lag.partitions[1].lag, std::nullopt);
    EXPECT_EQ(lag.total(), 0);
}

TEST_F(TopicQueries, AProducerIsToldOnceForTheTopicWithThePartitionsThatItWroteTo) {
    append("b", 0, {.timestamp = {5}, .producer_id = {9}, .producer_epoch = {1}, .base_sequence = {0}});
    append("b", 1, {.timestamp = {8}, .producer_id = {9}, .producer_epoch = {2}, .base_sequence = {0}, .transactional = true});
    append("b", 1, {.timestamp = {6}, .producer_id = {4}, .producer_epoch = {0}, .base_sequence = {0}});
    append("b", 1, {.timestamp = {7}});
    const std::vector<TopicProducer> producers = topic_producers(topic("b"));
    ASSERT_EQ(producers.size(), 2u) << "one without an id leaves nothing in a log";
    EXPECT_EQ(producers[0].producer_id, ProducerId{4});
    EXPECT_THAT(producers[0].partitions, ElementsAre(PartitionIndex{1}));
    EXPECT_THAT(producers[0].open_in, ElementsAre());
    EXPECT_EQ(producers[1].producer_id, ProducerId{9});
    EXPECT_EQ(producers[1].epoch, ProducerEpoch{2});
    EXPECT_EQ(producers[1].last_timestamp, TimestampMs{8});
    EXPECT_THAT(producers[1].partitions, ElementsAre(PartitionIndex{0}, PartitionIndex{1}));
    EXPECT_THAT(producers[1].open_in, ElementsAre(PartitionIndex{1}));

    const std::vector<ProducerSummary> of_one = partition_producers(*topic("b").partitions[1]);
    ASSERT_EQ(of_one.size(), 2u);
    EXPECT_EQ(of_one[0].producer_id, ProducerId{4});
    EXPECT_EQ(of_one[1].producer_id, ProducerId{9});
}

}  // namespace
}  // namespace partita::runtime
