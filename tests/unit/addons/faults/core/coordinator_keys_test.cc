// Tests which requests only the coordinator of their groups or transactions may serve.

#include "broker/addons/faults/core/coordinator_keys.h"

#include <gmock/gmock.h>

#include <array>

#include "protocol/messages/03_metadata.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/25_add_offsets_to_txn.h"
#include "protocol/messages/28_txn_offset_commit.h"
#include "protocol/messages/76_share_group_heartbeat.h"
#include "protocol/messages/90_describe_share_group_offsets.h"

namespace partita::faults {
namespace {

using catalog::CoordinatorKind;
using ::testing::ElementsAre;

TEST(CoordinatorKeys, ARequestAboutAGroupGoesToItsCoordinator) {
    const HeartbeatRequest heartbeat{.group_id = "g"};
    const auto found = coordinator_keys(ApiKey::heartbeat, 4, &heartbeat);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, CoordinatorKind::groups);
    EXPECT_THAT(found->keys, ElementsAre("g"));
}

TEST(CoordinatorKeys, ARequestMayNameSeveralGroups) {
    std::array<OffsetFetchRequest::Group, 2> groups{{{.group_id = "a"}, {.group_id = "b"}}};
    const OffsetFetchRequest fetch{.groups = groups};
    const auto found = coordinator_keys(ApiKey::offset_fetch, 8, &fetch);
    ASSERT_TRUE(found);
    EXPECT_THAT(found->keys, ElementsAre("a", "b"));
}

TEST(CoordinatorKeys, ARequestAboutAShareGroupGoesToItsCoordinator) {
    const ShareGroupHeartbeatRequest heartbeat{.group_id = "g"};
    EXPECT_THAT(coordinator_keys(ApiKey::share_group_heartbeat, 1, &heartbeat)->keys, ElementsAre("g"));
    std::array<DescribeShareGroupOffsetsRequest::Group, 2> groups{{{.group_id = "a"}, {.group_id = "b"}}};
    const DescribeShareGroupOffsetsRequest describe{.groups = groups};
    EXPECT_THAT(coordinator_keys(ApiKey::describe_share_group_offsets, 0, &describe)->keys, ElementsAre("a", "b"));
    for (const ApiKey api :
         {ApiKey::share_group_describe, ApiKey::alter_share_group_offsets, ApiKey::delete_share_group_offsets}) {
        EXPECT_TRUE(needs_coordinator(api));
    }
    for (const ApiKey api : {ApiKey::share_fetch, ApiKey::share_acknowledge}) {
        EXPECT_FALSE(needs_coordinator(api)) << "the leaders of partitions serve it";
    }
}

TEST(CoordinatorKeys, ARequestWithAGroupAndATransactionGoesToTheOneThatWritesIt) {
    const TxnOffsetCommitRequest commit{.transactional_id = "t", .group_id = "g"};
    const auto written = coordinator_keys(ApiKey::txn_offset_commit, 3, &commit);
    ASSERT_TRUE(written);
    EXPECT_EQ(written->kind, CoordinatorKind::groups);
    EXPECT_THAT(written->keys, ElementsAre("g"));
    const AddOffsetsToTxnRequest add{.transactional_id = "t", .group_id = "g"};
    const auto added = coordinator_keys(ApiKey::add_offsets_to_txn, 3, &add);
    ASSERT_TRUE(added);
    EXPECT_EQ(added->kind, CoordinatorKind::transactions);
    EXPECT_THAT(added->keys, ElementsAre("t"));
}

TEST(CoordinatorKeys, PartitionsAreAddedToOneTransactionOrToSeveral) {
    std::array<AddPartitionsToTxnRequest::AddPartitionsToTxnTransaction, 1> transactions{{{.transactional_id = "new"}}};
    const AddPartitionsToTxnRequest several{.transactions = transactions};
    EXPECT_THAT(coordinator_keys(ApiKey::add_partitions_to_txn, 4, &several)->keys, ElementsAre("new"));
    const AddPartitionsToTxnRequest one{.v3_and_below_transactional_id = "old"};
    EXPECT_THAT(coordinator_keys(ApiKey::add_partitions_to_txn, 3, &one)->keys, ElementsAre("old"));
}

TEST(CoordinatorKeys, AnyBrokerServesTheRest) {
    const InitProducerIdRequest idempotent{.transactional_id = std::nullopt};
    EXPECT_FALSE(coordinator_keys(ApiKey::init_producer_id, 4, &idempotent));
    const InitProducerIdRequest transactional{.transactional_id = "t"};
    EXPECT_TRUE(coordinator_keys(ApiKey::init_producer_id, 4, &transactional));
    const MetadataRequest metadata;
    EXPECT_FALSE(coordinator_keys(ApiKey::metadata, 9, &metadata));
    EXPECT_FALSE(needs_coordinator(ApiKey::list_groups)) << "each broker lists its own";
}

}  // namespace
}  // namespace partita::faults
