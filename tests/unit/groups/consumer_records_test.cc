#include <gtest/gtest.h>

#include "broker/groups/metadata_hash.h"
#include "broker/groups/record_codec.h"
#include "tests/support/test_cluster.h"

namespace partita::groups {
namespace {

TEST(MetadataHash, IsKafkas) {
    // Computed with the library that Apache Kafka 4.3.1 uses: id (1, 2), name "foo", 3 partitions, no racks.
    TopicId id;
    id.bytes[7] = 1;
    id.bytes[15] = 2;
    EXPECT_EQ(topic_hash({id, "foo", 3}, ""), 8773618633639361573);
    const std::int64_t hashes[] = {42, -7};
    EXPECT_EQ(group_hash(hashes), 556805342900682774);
    EXPECT_EQ(group_hash({}), 0);
}

class ConsumerRecords : public ::testing::Test {
  protected:
    /// Writes a record and reads it back; both must be equal.
    template <class R>
    R round_trip(const R& record) {
        ByteBuffer buffer;
        const auto encoded = encode_record(record, buffer);
        EXPECT_TRUE(encoded.has_value());
        key_.assign(encoded->key.begin(), encoded->key.end());
        value_.assign(encoded->value->begin(), encoded->value->end());
        const auto decoded = decode_record(key_, Bytes(value_), arena_);
        EXPECT_TRUE(decoded.has_value() && decoded->has_value());
        return std::get<R>(**decoded);
    }

    Arena arena_;
    OwnedBytes key_;
    OwnedBytes value_;
};

TEST_F(ConsumerRecords, MembersComeBack) {
    MemberSubscription said{.instance_id = "i",
                            .rack_id = std::nullopt,
                            .client_id = "c",
                            .client_host = "/h",
                            .rebalance_timeout_ms = 7,
                            .topic_names = {"a", "b"},
                            .topic_regex = "x.*",
                            .server_assignor = "range"};
    EXPECT_EQ(round_trip(ConsumerMemberRecord{"g", "m", said}).subscription, said);
    said.classic = MemberSubscription::Classic{5, {{"range", {std::byte{1}}}}};
    EXPECT_EQ(round_trip(ConsumerMemberRecord{"g", "m", said}).subscription, said);
}

TEST_F(ConsumerRecords, AssignmentsComeBack) {
    const TopicId id = test::TestCluster::id(3);
    const MemberProgress progress{.epoch = 5,
                                  .previous_epoch = 4,
                                  .state = MemberState::unrevoked_partitions,
                                  .assigned = {{id, {{0, 3}, {2, 5}}}},
                                  .pending_revocation = {{id, {{1, 4}}}}};
    EXPECT_EQ(round_trip(CurrentAssignmentRecord{"g", "m", progress}).progress, progress);
    const assignors::Assignment target{{id, {0, 1}}};
    EXPECT_EQ(round_trip(TargetAssignmentRecord{"g", "m", target}).assignment, target);
    EXPECT_EQ(round_trip(TargetAssignmentEpochRecord{"g", 9, {17}}).timestamp.value, 17);
    EXPECT_EQ(round_trip(ConsumerGroupEpochRecord{"g", 9, -5}).metadata_hash, -5);
    EXPECT_EQ(round_trip(RegularExpressionRecord{"g", "a.*", {"a1", "a2"}, 4, {6}}).topics.size(), 2u);
}

TEST_F(ConsumerRecords, TombstonesNameWhatIsGone) {
    using Kind = ConsumerGroupTombstone::Kind;
    for (const Kind kind : {Kind::group, Kind::member, Kind::target_assignment_epoch, Kind::target_assignment,
                            Kind::current_assignment, Kind::regular_expression}) {
        const bool has_name = kind != Kind::group && kind != Kind::target_assignment_epoch;
        ByteBuffer buffer;
        const auto encoded = encode_record(ConsumerGroupTombstone{kind, "g", has_name ? "n" : ""}, buffer);
        ASSERT_TRUE(encoded.has_value());
        EXPECT_FALSE(encoded->value.has_value());
        const auto decoded = decode_record(encoded->key, std::nullopt, arena_);
        ASSERT_TRUE(decoded.has_value() && decoded->has_value());
        const auto& tombstone = std::get<ConsumerGroupTombstone>(**decoded);
        EXPECT_EQ(tombstone.kind, kind);
        EXPECT_EQ(tombstone.group_id, "g");
        EXPECT_EQ(tombstone.name, has_name ? "n" : "");
    }
}

}  // namespace
}  // namespace partita::groups
