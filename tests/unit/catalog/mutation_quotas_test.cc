#include "broker/catalog/mutation_quotas.h"

#include <gtest/gtest.h>

#include "broker/catalog/client_quotas.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

constexpr bool kRefuses = true;
constexpr bool kOnlyThrottles = false;

TEST(MutationQuotas, AFullBucketMayBeOverdrawnOnceAndIsPaidBackAtItsRate) {
    MutationQuotas quotas;
    const QuotaInForce quota{.rate = 2, .bucket = "c"};
    EXPECT_FALSE(quotas.charge(quota, 26, kRefuses, Instant{1000}).is_refused);  // 22 were there.
    const auto refused = quotas.charge(quota, 1, kRefuses, Instant{1000});
    EXPECT_TRUE(refused.is_refused);
    EXPECT_EQ(refused.wait_ms, 2000);
    EXPECT_TRUE(quotas.charge(quota, 1, kRefuses, Instant{2999}).is_refused);
    EXPECT_FALSE(quotas.charge(quota, 1, kRefuses, Instant{3000}).is_refused);
}

TEST(MutationQuotas, OlderRequestsAreServedAndWaitForAllThatIsOwed) {
    MutationQuotas quotas;
    const QuotaInForce quota{.rate = 1, .bucket = "c"};
    EXPECT_EQ(quotas.charge(quota, 11, kOnlyThrottles, Instant{0}).wait_ms, 0);
    const auto first = quotas.charge(quota, 5, kOnlyThrottles, Instant{0});
    EXPECT_FALSE(first.is_refused);
    EXPECT_EQ(first.wait_ms, 5000);
    EXPECT_EQ(quotas.charge(quota, 5, kOnlyThrottles, Instant{1000}).wait_ms, 9000);
}

TEST(MutationQuotas, NeverHoldMoreThanTheirWindows) {
    MutationQuotas quotas(/*window_seconds=*/3);
    const QuotaInForce quota{.rate = 1, .bucket = "c"};
    EXPECT_FALSE(quotas.charge(quota, 4, kRefuses, Instant{1'000'000}).is_refused);
    EXPECT_EQ(quotas.charge(quota, 1, kRefuses, Instant{1'000'000}).wait_ms, 1000);
}

TEST(MutationQuotas, BucketsAreBoundedAndTheBusyOnesStay) {
    MutationQuotas quotas;
    const QuotaInForce busy{.rate = 1, .bucket = "busy"};
    (void)quotas.charge(busy, 1'000'000, kOnlyThrottles, Instant{0});
    for (std::size_t i = 0; i < 2 * MutationQuotas::kBucketsMax; ++i) {
        (void)quotas.charge({.rate = 1, .bucket = std::to_string(i)}, 1, kRefuses, Instant{static_cast<std::int64_t>(i)});
        ASSERT_LE(quotas.bucket_count(), MutationQuotas::kBucketsMax);
    }
    EXPECT_TRUE(quotas.charge(busy, 1, kRefuses, Instant{20'000}).is_refused);
}

TEST(MutationQuotas, WhenAllBucketsAreInUseTheOldestMakesRoom) {
    MutationQuotas quotas;
    for (std::size_t i = 0; i <= MutationQuotas::kBucketsMax; ++i) {
        (void)quotas.charge({.rate = 1, .bucket = std::to_string(i)}, 1'000, kOnlyThrottles,
                            Instant{static_cast<std::int64_t>(i)});
    }
    EXPECT_EQ(quotas.bucket_count(), MutationQuotas::kBucketsMax);
    EXPECT_FALSE(quotas.charge({.rate = 1, .bucket = "0"}, 1, kRefuses, Instant{10'001}).is_refused);
    EXPECT_TRUE(quotas.charge({.rate = 1, .bucket = "2"}, 1, kRefuses, Instant{10'001}).is_refused);
}

class MutationQuotaOfClients : public ::testing::Test {
  protected:
    void limit(QuotaEntity entity, std::optional<double> rate) {
        const auto reply =
            catalog_.carry_out(AlterClientQuotas{{{std::move(entity), {{"controller_mutation_rate", rate}}}}, false});
        ASSERT_FALSE(reply.entities.front().error.failed()) << *reply.entities.front().error.message;
    }
    std::optional<QuotaInForce> found(std::string_view user, std::string_view client) {
        return quota_of_client(*catalog_.core().snapshot(), user, client, "controller_mutation_rate");
    }
    CatalogContext counting() {
        CatalogContext context = catalog_.context();
        context.mutation_quotas = &quotas_;
        return context;
    }
    template <class Command>
    typename Command::Result carry_out(const Command& command) {
        return catalog_.carry_out(catalog_.core().decide(command, counting()));
    }
    CreateTopicsResult create(std::vector<TopicToCreate> topics, bool may_be_refused, bool validate_only = false) {
        return carry_out(CreateTopics{.topics = std::move(topics),
                                      .validate_only = validate_only,
                                      .client = {.client_id = "c", .may_be_refused = may_be_refused}});
    }

    TestCatalog catalog_;
    MutationQuotas quotas_;
};

TEST_F(MutationQuotaOfClients, IsTheMostSpecificOne) {
    EXPECT_EQ(found("u", "c"), std::nullopt);
    const std::vector<QuotaEntity> least_specific_first = {
        {{"client-id", std::nullopt}},
        {{"client-id", "c"}},
        {{"user", std::nullopt}},
        {{"user", std::nullopt}, {"client-id", std::nullopt}},
        {{"user", std::nullopt}, {"client-id", "c"}},
        {{"user", "u"}},
        {{"user", "u"}, {"client-id", std::nullopt}},
        {{"user", "u"}, {"client-id", "c"}},
    };
    double rate = 0;
    for (const QuotaEntity& entity : least_specific_first) {
        limit(entity, ++rate);
        ASSERT_TRUE(found("u", "c"));
        EXPECT_EQ(found("u", "c")->rate, rate);
    }
    EXPECT_EQ(found("v", "d")->rate, 4);
}

TEST_F(MutationQuotaOfClients, OfAUserIsSharedByItsClientsAndOfAnyClientIsNot) {
    limit({{"client-id", std::nullopt}}, 5);
    EXPECT_NE(found("u", "c")->bucket, found("u", "d")->bucket);
    EXPECT_EQ(found("u", "c")->bucket, found("v", "c")->bucket);
    limit({{"user", "u"}}, 7);
    EXPECT_EQ(found("u", "c")->bucket, found("u", "d")->bucket);
}

TEST_F(MutationQuotaOfClients, RefusesWhatComesAfterItIsUsedUpAndChangesNothing) {
    limit({{"client-id", "c"}}, 1);
    const auto reply = create({{.name = "a", .num_partitions = 13}, {.name = "b", .num_partitions = 1}}, true);
    EXPECT_FALSE(reply.topics[0].error.failed());
    EXPECT_EQ(reply.topics[1].error.code, ErrorCode::throttling_quota_exceeded);
    EXPECT_EQ(reply.throttle_ms, 2000);
    EXPECT_NE(catalog_.core().snapshot()->find_topic("a"), nullptr);
    EXPECT_EQ(catalog_.core().snapshot()->find_topic("b"), nullptr);
    const auto deleted =
        carry_out(DeleteTopics{.topics = {{.name = "a", .id = {}}}, .client = {.client_id = "c", .may_be_refused = true}});
    EXPECT_EQ(deleted.topics[0].error.code, ErrorCode::throttling_quota_exceeded);
    EXPECT_NE(catalog_.core().snapshot()->find_topic("a"), nullptr);
    const auto grown =
        carry_out(CreatePartitions{.topics = {{.name = "a", .count = 14}}, .client = {.client_id = "c", .may_be_refused = true}});
    EXPECT_EQ(grown.topics[0].error.code, ErrorCode::throttling_quota_exceeded);
    EXPECT_EQ(catalog_.core().snapshot()->find_topic("a")->partition_count, 13);
}

TEST_F(MutationQuotaOfClients, IsNotChargedAgainByACommandForARequestThatWasCharged) {
    limit({{"client-id", "c"}}, 1);
    EXPECT_FALSE(create({{.name = "a", .num_partitions = 13}}, true).topics[0].error.failed());
    CreatePartitions command{.topics = {{.name = "a", .count = 14}}, .client = {.client_id = "c", .may_be_refused = true}};
    EXPECT_TRUE(carry_out(command).topics[0].error.failed());
    command.client.is_charged = true;
    const auto grown = carry_out(command);
    EXPECT_FALSE(grown.topics[0].error.failed());
    EXPECT_EQ(grown.throttle_ms, 0);
}

TEST_F(MutationQuotaOfClients, CountsWhatIsOnlyValidatedAndNotWhatIsRefusedForOtherReasons) {
    limit({{"client-id", "c"}}, 1);
    EXPECT_EQ(create({{.name = "a", .num_partitions = 0}}, true).throttle_ms, 0);
    EXPECT_FALSE(create({{.name = "a", .num_partitions = 12}}, true, true).topics[0].error.failed());
    EXPECT_EQ(create({{.name = "a", .num_partitions = 1}}, true, true).topics[0].error.code,
              ErrorCode::throttling_quota_exceeded);
}

TEST_F(MutationQuotaOfClients, LetsOlderClientsThroughAndMakesThemWait) {
    limit({{"client-id", "c"}}, 1);
    const auto reply = create({{.name = "a", .num_partitions = 13}}, false);
    EXPECT_FALSE(reply.topics[0].error.failed());
    EXPECT_EQ(reply.throttle_ms, 2000);
}

}  // namespace
}  // namespace partita::catalog
