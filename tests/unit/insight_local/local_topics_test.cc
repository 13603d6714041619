#include "broker/insight/local/local_topics.h"

#include <gmock/gmock.h>

#include "broker/insight/local/log_record_counter.h"
#include "broker/insight/shell/topic_plan.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/topic_table.h"
#include "tests/support/storage_fixture.h"

namespace partita::insight {
namespace {

using ::testing::ElementsAre;

TEST(PositionsOfGroups, ComeBesideTheirCommitsAndPassWhatTransactionsLeft) {
    constexpr AppendContext kContext{.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}};
    test::StorageWorld world;
    logs::TopicState topic;
    for (const int index : {0, 1, 2}) {
        const std::shared_ptr<PartitionLog> log = world.shared_log(index);
        topic.partitions.push_back(std::make_shared<logs::Partition>(log, fetch::PartitionKey{1}));
        auto batch = test::make_batch({.producer_id = ProducerId{1},
                                       .producer_epoch = ProducerEpoch{0},
                                       .base_sequence = Sequence{0},
                                       .transactional = true});
        ASSERT_TRUE(log->append(batch, kContext));
        // The transaction in the last partition stays open.
        if (index == 2) {
            continue;
        }
        std::vector<std::byte> marker;
        build_end_transaction_marker({.type = index == 0 ? ControlRecordType::abort : ControlRecordType::commit}, Offset{0},
                                     LeaderEpoch{0}, ProducerId{1}, ProducerEpoch{0}, TimestampMs{1000}, marker);
        ASSERT_TRUE(log->append(marker, kContext));
    }
    const auto group = [](std::vector<Offset> committed) {
        GroupFacts facts;
        facts.committed = std::move(committed);
        return facts;
    };
    std::vector groups{group({Offset{0}, Offset{1}, Offset{0}}), group({kNoOffset, Offset{0}, kNoOffset}),
                       // The commits are from before the topic had its last partition.
                       group({Offset{1}, Offset{2}})};
    logs::DrainedPositions drained;
    skip_undeliverable(topic, drained, groups);
    EXPECT_THAT(groups[0].committed, ElementsAre(Offset{0}, Offset{1}, Offset{0}));
    EXPECT_THAT(groups[0].positions, ElementsAre(Offset{2}, Offset{2}, Offset{0}));
    EXPECT_THAT(groups[1].positions, ElementsAre(kNoOffset, Offset{0}, kNoOffset));
    EXPECT_THAT(groups[2].positions, ElementsAre(Offset{2}, Offset{2}));

    PlannedTopic facts;
    for (const auto& partition : topic.partitions) {
        facts.partitions.push_back({.log_end = partition->log->log_end_offset()});
    }
    facts.groups = groups;
    LogRecordCounter counts(topic);
    count_unread(counts, facts);
    EXPECT_EQ(facts.groups[0].unread, (RecordCount{.records = 1, .is_exact = false})) << "what is open";
    EXPECT_EQ(facts.groups[1].unread, (RecordCount{.records = 2, .is_exact = false})) << "and one that is committed";
    EXPECT_EQ(facts.groups[2].unread, (RecordCount{.records = 1, .is_exact = false}));
}

}  // namespace
}  // namespace partita::insight
