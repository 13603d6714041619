#include "broker/access/permission.h"

#include <gtest/gtest.h>

#include "broker/access/authorizer.h"
#include "broker/access/session.h"

namespace partita::access {
namespace {

TEST(Permission, IsWrittenAsKafkaWritesIt) {
    EXPECT_EQ(to_text(kReadTopic), "READ TOPIC");
    EXPECT_EQ(to_text(kDeleteGroup), "DELETE GROUP");
    EXPECT_EQ(to_text(kCreateTopicOrInCluster), "CREATE TOPIC or CREATE CLUSTER");
    EXPECT_EQ(to_text(kDescribeTokensOfUser), "DESCRIBE_TOKENS USER");
}

// The numbers that Kafka 4.3.1 answers without an authorizer.
TEST(Permission, AllOperationsOfAResourceAreTheBitsThatKafkaAnswers) {
    EXPECT_EQ(all_operation_bits(ResourceType::topic), 3576);
    EXPECT_EQ(all_operation_bits(ResourceType::group), 3400);
    EXPECT_EQ(all_operation_bits(ResourceType::cluster), 8096);
}

TEST(Permission, EveryResourceHasAnErrorOfItsOwn) {
    EXPECT_EQ(refusal(ResourceType::topic), ErrorCode::topic_authorization_failed);
    EXPECT_EQ(refusal(ResourceType::group), ErrorCode::group_authorization_failed);
    EXPECT_EQ(refusal(ResourceType::cluster), ErrorCode::cluster_authorization_failed);
    EXPECT_EQ(refusal(ResourceType::transactional_id), ErrorCode::transactional_id_authorization_failed);
}

TEST(Session, IsOfNobodyInParticularUntilSomebodyChecked) {
    const Session session;
    EXPECT_EQ(session.principal->text(), "User:ANONYMOUS");
    EXPECT_EQ(session.principal, Principal::anonymous());
    EXPECT_EQ(session.principal.use_count(), 0) << "connections count copies of it";
}

class OneMayRead final : public Rules {
  public:
    bool allows(const Requester& requester, Permission permission, std::optional<std::string_view> name) const override {
        return requester.principal.name() == "alice" && requester.address == "10.0.0.1" &&
               permission.operation == Operation::read && name.value_or("t") == "t";
    }
};

TEST(Authorizer, AllowsEverythingWithoutRules) {
    const Authorizer authorizer(nullptr);
    const PrincipalPointer nobody = Principal::anonymous();
    EXPECT_TRUE(authorizer.allows_everything());
    EXPECT_TRUE(authorizer.allows({*nobody, ""}, kAlterCluster, kClusterName));
    EXPECT_EQ(authorizer.operation_bits({*nobody, ""}, ResourceType::topic, "t"), all_operation_bits(ResourceType::topic));
}

TEST(Authorizer, AsksItsRulesWhoWhatAndOfWhich) {
    const OneMayRead rules;
    const Authorizer authorizer(&rules);
    const Principal alice("User", "alice");
    const Principal bob("User", "bob");
    EXPECT_FALSE(authorizer.allows_everything());
    EXPECT_TRUE(authorizer.allows({alice, "10.0.0.1"}, kReadTopic, "t"));
    EXPECT_TRUE(authorizer.allows({alice, "10.0.0.1"}, kReadTopic, std::nullopt));
    EXPECT_FALSE(authorizer.allows({alice, "10.0.0.2"}, kReadTopic, "t"));
    EXPECT_FALSE(authorizer.allows({alice, "10.0.0.1"}, kReadTopic, "u"));
    EXPECT_FALSE(authorizer.allows({alice, "10.0.0.1"}, kWriteTopic, "t"));
    EXPECT_FALSE(authorizer.allows({bob, "10.0.0.1"}, kReadTopic, "t"));
    EXPECT_EQ(authorizer.operation_bits({alice, "10.0.0.1"}, ResourceType::topic, "t"), operation_bit(Operation::read));
}

}  // namespace
}  // namespace partita::access
