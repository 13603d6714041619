#include "broker/catalog/adopt_topics.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "broker/access/acl_index.h"
#include "broker/catalog/delegation_tokens.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TopicId kOrdersId{{1, 2, 3}};

class AdoptedTopics : public ::testing::Test {
  protected:
    AdoptTopicsResult adopt(const AdoptTopics& command) { return catalog_.carry_out(command); }
    const Topic* find(std::string_view name) { return catalog_.core().snapshot()->find_topic(name); }

    TestConfigRules rules_;
    TestCatalog catalog_;
};

TEST_F(AdoptedTopics, KeepIdPartitionsAndConfigsOverARestart) {
    const auto reply = adopt({{{"orders", kOrdersId, 3, {{"cleanup.policy", "compact"}}}}, ProducerId{4000}});
    EXPECT_FALSE(reply.topics.front().error.failed());
    catalog_.restart();
    const Topic* orders = find("orders");
    ASSERT_NE(orders, nullptr);
    EXPECT_EQ(orders->id, kOrdersId);
    EXPECT_EQ(orders->partition_count, 3);
    EXPECT_EQ(orders->configs, (ConfigMap{{"cleanup.policy", "compact"}}));
    EXPECT_FALSE(orders->internal);
    EXPECT_EQ(catalog_.core().snapshot()->next_producer_id(), ProducerId{4000});
}

TEST_F(AdoptedTopics, NoTopicHasTheNameOfTheBrokersCatalog) {
    const auto reply = adopt({{{std::string(kCatalogLogName), kOrdersId, 1, {}}}, ProducerId{4000}});
    EXPECT_EQ(reply.topics.front().error.code, ErrorCode::invalid_topic_exception);
    EXPECT_EQ(find(kCatalogLogName), nullptr);
}

TEST_F(AdoptedTopics, UsersCanLogInAndKeepWhatTheyHave) {
    const ConfigMap first{{"SCRAM-SHA-256", "salt=,stored_key=YQ==,server_key=YQ==,iterations=4096"}};
    const ConfigMap second{{"SCRAM-SHA-512", "salt=,stored_key=Yg==,server_key=Yg==,iterations=4096"}};
    (void)adopt({.scram_credentials = {{"alice", first}}});
    (void)adopt({.scram_credentials = {{"alice", second}, {"bob", second}}});
    catalog_.restart();
    const auto& known = catalog_.core().snapshot()->all_scram_credentials();
    EXPECT_EQ(known.at("alice"), first);
    EXPECT_EQ(known.at("bob"), second);
}

TEST_F(AdoptedTopics, AclsAndDelegationTokensComeWithThemAndThoseThatAreThereStay) {
    const access::Acl acl{.resource = access::ResourceType::topic,
                          .pattern = access::PatternType::literal,
                          .name = "orders",
                          .principal = "User:alice",
                          .host = "*",
                          .operation = access::Operation::read,
                          .effect = access::AclEffect::allow};
    access::Acl other = acl;
    other.principal = "User:bob";
    const access::DelegationToken token{.id = "one", .owner = {"User", "alice"}, .requester = {"User", "alice"}, .expires = {5}};
    access::DelegationToken renewed = token;
    renewed.expires = {9};
    (void)adopt({.acls = {acl}, .delegation_tokens = {token}});
    (void)adopt({.acls = {acl, other}, .delegation_tokens = {renewed}});
    catalog_.restart();
    const auto& catalog = *catalog_.core().snapshot();
    EXPECT_EQ(catalog.acls().size(), 2u);
    EXPECT_TRUE(catalog.acls().contains(acl) && catalog.acls().contains(other));
    EXPECT_EQ(*catalog.find_delegation_token("one"), token);
}

TEST_F(AdoptedTopics, WhatACatalogHasNoRoomForIsLeftOutAndCounted) {
    AdoptTopics command;
    for (std::size_t number = 0; number < access::AclIndex::kAclsMax + 2; ++number) {
        command.acls.push_back({.resource = access::ResourceType::topic,
                                .pattern = access::PatternType::literal,
                                .name = std::to_string(number),
                                .principal = "User:a",
                                .host = "*",
                                .operation = access::Operation::read,
                                .effect = access::AclEffect::allow});
    }
    for (std::size_t number = 0; number < kDelegationTokensMax + 3; ++number) {
        command.delegation_tokens.push_back({.id = std::to_string(number)});
    }
    std::ranges::sort(command.acls);
    const AdoptTopicsResult reply = adopt(command);
    EXPECT_EQ(reply.left_out_acls, 2u);
    EXPECT_EQ(reply.left_out_tokens, 3u);
    EXPECT_EQ(catalog_.core().snapshot()->acls().size(), access::AclIndex::kAclsMax);
    EXPECT_EQ(catalog_.core().snapshot()->delegation_tokens().size(), kDelegationTokensMax);
}

TEST_F(AdoptedTopics, OfKafkaItselfAreInternal) {
    (void)adopt({{{"__consumer_offsets", kOrdersId, 50, {}}}, ProducerId{0}});
    EXPECT_TRUE(find("__consumer_offsets")->internal);
}

TEST_F(AdoptedTopics, WithoutAnIdGetAFreshOne) {
    (void)adopt({{{"orders", {}, 1, {}}}, ProducerId{0}});
    EXPECT_FALSE(find("orders")->id.is_zero());
}

TEST_F(AdoptedTopics, LeaveOutConfigsThatAreNotValidAndSayWhich) {
    const auto reply =
        adopt({{{"orders", kOrdersId, 1, {{"cleanup.policy", "compact"}, {"no.such.config", "1"}}}}, ProducerId{0}});
    EXPECT_FALSE(reply.topics.front().error.failed());
    EXPECT_THAT(reply.topics.front().left_out_configs, ElementsAre("no.such.config"));
    EXPECT_EQ(find("orders")->configs, (ConfigMap{{"cleanup.policy", "compact"}}));
}

TEST_F(AdoptedTopics, ThatCannotBeAreRefusedAloneAndTheOthersAreNot) {
    (void)adopt({{{"orders", kOrdersId, 1, {}}}, ProducerId{0}});
    const auto reply = adopt({{{"orders", TopicId{{7}}, 1, {}},
                               {"same-id", kOrdersId, 1, {}},
                               {"or/ders", TopicId{{8}}, 1, {}},
                               {"empty", TopicId{{9}}, 0, {}},
                               {"or_ders", TopicId{{10}}, 1, {}},
                               {"or.ders", TopicId{{11}}, 1, {}}},
                              ProducerId{0}});
    std::vector<std::string> refused;
    for (const AdoptTopicsResult::Topic& topic : reply.topics) {
        if (topic.error.failed()) {
            refused.push_back(topic.name);
        }
    }
    EXPECT_THAT(refused, ElementsAre("orders", "same-id", "or/ders", "empty", "or.ders"));
    EXPECT_EQ(find("orders")->id, kOrdersId);
    EXPECT_NE(find("or_ders"), nullptr);
}

TEST_F(AdoptedTopics, NothingToAdoptWritesNothing) {
    const auto decision = catalog_.decide(AdoptTopics());
    EXPECT_TRUE(decision.effects.empty());
    EXPECT_THAT(decision.result.topics, IsEmpty());
}

TEST_F(AdoptedTopics, ProducerIdsNeverGoBack) {
    (void)adopt({{}, ProducerId{5000}});
    (void)adopt({{}, ProducerId{3000}});
    EXPECT_EQ(catalog_.core().snapshot()->next_producer_id(), ProducerId{5000});
}

}  // namespace
}  // namespace partita::catalog
