#include "broker/addons/profile/core/service_rules.h"

#include <gtest/gtest.h>

namespace partita::profile {
namespace {

using access::Principal;
using access::Requester;

const Principal kWithoutKey("User", "alice");
const Principal kEverywhere("User", "Root", access::KeyGrant());
const Principal kOrdersOnly("User", "Root", access::KeyGrant{.only_topic = "orders"});

class NobodyMay final : public access::Rules {
  public:
    bool allows(const Requester&, access::Permission, std::optional<std::string_view>) const override { return false; }
    std::string reason(const Requester&, access::Permission, std::optional<std::string_view>) const override { return "others"; }
};

TEST(ServiceRules, LeaveClientsWithoutAKeyToOthers) {
    const Profile profile({.tier = Tier::standard});
    const ServiceRules rules(profile, nullptr);
    EXPECT_TRUE(rules.allows({kWithoutKey, "::1"}, access::kWriteTopic, "orders"));
    EXPECT_EQ(rules.reason({kWithoutKey, "::1"}, access::kWriteTopic, "orders"), "");
    const NobodyMay others;
    const ServiceRules stricter(profile, &others);
    EXPECT_FALSE(stricter.allows({kWithoutKey, "::1"}, access::kWriteTopic, "orders"));
    EXPECT_EQ(stricter.reason({kWithoutKey, "::1"}, access::kWriteTopic, "orders"), "others");
}

TEST(ServiceRules, AKeyAllowsWhateverOthersSay) {
    const Profile profile({.tier = Tier::standard});
    const NobodyMay others;
    const ServiceRules rules(profile, &others);
    EXPECT_TRUE(rules.allows({kEverywhere, "::1"}, access::kWriteTopic, "orders"));
    EXPECT_TRUE(rules.allows({kEverywhere, "::1"}, access::kAlterCluster, access::kClusterName));
    EXPECT_TRUE(rules.allows({kOrdersOnly, "::1"}, access::kWriteTopic, "orders"));
    EXPECT_EQ(rules.reason({kEverywhere, "::1"}, access::kWriteTopic, "orders"), "the key of the connection string");
}

TEST(ServiceRules, AConnectionStringForOneTopicIsForNoOther) {
    const Profile profile({.tier = Tier::standard});
    const ServiceRules rules(profile, nullptr);
    const Requester requester{kOrdersOnly, "::1"};
    for (const access::Permission permission :
         {access::kReadTopic, access::kWriteTopic, access::kDescribeTopic, access::kAlterTopic}) {
        EXPECT_TRUE(rules.allows(requester, permission, "orders"));
        EXPECT_FALSE(rules.allows(requester, permission, "payments"));
        EXPECT_FALSE(rules.allows(requester, permission, "order"));
        EXPECT_TRUE(rules.allows(requester, permission, std::nullopt));
    }
    EXPECT_EQ(rules.reason(requester, access::kReadTopic, "payments"), "the connection string is for the topic orders");
    EXPECT_TRUE(rules.allows(requester, access::kReadGroup, "any"));
    EXPECT_TRUE(rules.allows(requester, access::kDescribeCluster, access::kClusterName));
    // Kafka takes these for a permission on every topic.
    EXPECT_FALSE(rules.allows(requester, access::kCreateInCluster, access::kClusterName));
    EXPECT_FALSE(rules.allows(requester, access::kClusterAction, access::kClusterName));
    EXPECT_FALSE(rules.allows(requester, {access::Operation::erase, access::ResourceType::cluster}, access::kClusterName));
    EXPECT_TRUE(rules.allows({kEverywhere, "::1"}, access::kCreateInCluster, access::kClusterName));
}

TEST(ServiceRules, AKeyIsGoodForWhatItHasTheRightTo) {
    const Profile profile({.tier = Tier::premium});
    const ServiceRules rules(profile, nullptr);
    const Principal sender("User", "sensor", access::KeyGrant{.rights = {.send = true, .listen = false, .manage = false}});
    const Principal listener("User", "billing", access::KeyGrant{.rights = {.send = false, .listen = true, .manage = false}});
    const auto may = [&](const Principal& who, access::Permission permission) {
        return rules.allows({who, "::1"}, permission, "any");
    };
    for (const access::Permission permission : {access::kWriteTopic, access::kIdempotentWrite, access::kWriteTransactionalId,
                                                access::kDescribeTransactionalId, access::kTwoPhaseCommitTransactionalId}) {
        EXPECT_TRUE(may(sender, permission)) << to_text(permission);
        EXPECT_FALSE(may(listener, permission)) << to_text(permission);
    }
    for (const access::Permission permission : {access::kReadTopic, access::kReadGroup, access::kDescribeGroup}) {
        EXPECT_TRUE(may(listener, permission)) << to_text(permission);
        EXPECT_FALSE(may(sender, permission)) << to_text(permission);
    }
    for (const access::Permission permission :
         {access::kDescribeTopic, access::kDescribeTopicConfigs, access::kDescribeCluster, access::kDescribeClusterConfigs}) {
        EXPECT_TRUE(may(sender, permission)) << to_text(permission);
        EXPECT_TRUE(may(listener, permission)) << to_text(permission);
    }
    for (const access::Permission permission :
         {access::kCreateTopic, access::kDeleteTopic, access::kAlterTopic, access::kAlterTopicConfigs, access::kDeleteGroup,
          access::kAlterGroupConfigs, access::kCreateInCluster, access::kAlterCluster, access::kClusterAction,
          access::kAlterClusterConfigs, access::kCreateTokensOfUser, access::kDescribeTokensOfUser}) {
        EXPECT_FALSE(may(sender, permission)) << to_text(permission);
        EXPECT_FALSE(may(listener, permission)) << to_text(permission);
        EXPECT_TRUE(may(kEverywhere, permission)) << to_text(permission);
    }
    EXPECT_EQ(rules.reason({sender, "::1"}, access::kReadTopic, "orders"),
              "the key of the connection string has no right to listen");
    EXPECT_EQ(rules.reason({listener, "::1"}, access::kWriteTopic, "orders"),
              "the key of the connection string has no right to send");
}

TEST(ServiceRules, ARightIsForTheTopicOfTheConnectionStringOnly) {
    const Profile profile({.tier = Tier::standard});
    const ServiceRules rules(profile, nullptr);
    const Principal sender("User", "sensor",
                           access::KeyGrant{.only_topic = "orders", .rights = {.send = true, .listen = false, .manage = false}});
    EXPECT_TRUE(rules.allows({sender, "::1"}, access::kWriteTopic, "orders"));
    EXPECT_FALSE(rules.allows({sender, "::1"}, access::kWriteTopic, "payments"));
    EXPECT_FALSE(rules.allows({sender, "::1"}, access::kReadTopic, "orders"));
}

TEST(ServiceRules, TheBasicTierLetsNobodyUseATopic) {
    const Profile profile({.tier = Tier::basic});
    const ServiceRules rules(profile, nullptr);
    const Requester requester{kEverywhere, "::1"};
    EXPECT_FALSE(rules.allows(requester, access::kDescribeTopic, "orders"));
    EXPECT_FALSE(rules.allows(requester, access::kDescribeTopic, std::nullopt));
    EXPECT_FALSE(rules.allows(requester, access::kCreateInCluster, access::kClusterName));
    EXPECT_EQ(rules.reason(requester, access::kReadTopic, "orders"),
              "the basic tier of the profile eventhubs has no Kafka endpoint");
    EXPECT_TRUE(rules.allows(requester, access::kReadGroup, "any"));
}

}  // namespace
}  // namespace partita::profile
