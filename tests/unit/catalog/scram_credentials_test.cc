#include "broker/catalog/scram_credentials.h"

#include <gtest/gtest.h>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

constexpr std::int8_t kSha256 = 1;
constexpr std::int8_t kSha512 = 2;

ScramUpsertion upsertion(std::string_view user, std::int8_t mechanism = kSha256, std::int32_t iterations = 4096) {
    return {user, mechanism, iterations, ScramCredential{"c2FsdA==", "c3RvcmVk", "c2VydmVy", iterations}};
}

class ScramCredentials : public ::testing::Test {
  protected:
    std::vector<AlteredScramUser> alter(AlterScramCredentials command) { return catalog_.carry_out(command).users; }
    std::vector<DescribedScramUser> describe(std::vector<std::string_view> users = {}) {
        return describe_scram_credentials(*catalog_.core().snapshot(), users);
    }

    TestCatalog catalog_;
};

TEST_F(ScramCredentials, AreDescribedByMechanismAfterARestart) {
    EXPECT_FALSE(alter({.upsertions = {upsertion("u")}})[0].error.failed());
    EXPECT_FALSE(alter({.upsertions = {upsertion("u", kSha512, 8192)}})[0].error.failed());
    catalog_.restart();
    const auto described = describe();
    ASSERT_EQ(described.size(), 1u);
    EXPECT_EQ(described[0].iterations,
              (std::map<ScramMechanism, std::int32_t>{{ScramMechanism::sha_256, 4096}, {ScramMechanism::sha_512, 8192}}));
}

TEST_F(ScramCredentials, ThatAreDeletedLeaveNoUserBehind) {
    alter({.upsertions = {upsertion("u")}});
    EXPECT_FALSE(alter({.deletions = {{"u", kSha256}}})[0].error.failed());
    EXPECT_TRUE(describe().empty());
}

TEST_F(ScramCredentials, OfAUserNamedTwiceStayAsTheyWere) {
    alter({.upsertions = {upsertion("u")}});
    const auto users = alter({.deletions = {{"u", kSha256}}, .upsertions = {upsertion("u", kSha512)}});
    ASSERT_EQ(users.size(), 1u);
    EXPECT_EQ(users[0].error,
              (CatalogError{ErrorCode::duplicate_resource, "A user credential cannot be altered twice in the same request"}));
    EXPECT_EQ(describe()[0].iterations.size(), 1u);
}

TEST_F(ScramCredentials, AreRefusedWithKafkasTextsAndOthersAreKept) {
    ScramUpsertion keyless = upsertion("keyless");
    keyless.credential.reset();
    const auto users = alter({.deletions = {{"nobody", kSha256}, {"nobody", 0}},
                              .upsertions = {upsertion("good"), upsertion(""), upsertion("mechanism", 9),
                                             upsertion("few", kSha256, 4095), upsertion("many", kSha256, 16385), keyless}});
    ASSERT_EQ(users.size(), 7u);
    EXPECT_EQ(users[0].error,
              (CatalogError{ErrorCode::resource_not_found, "Attempt to delete a user credential that does not exist"}));
    EXPECT_FALSE(users[1].error.failed());
    EXPECT_EQ(users[2].error, (CatalogError{ErrorCode::unacceptable_credential, "Username must not be empty"}));
    EXPECT_EQ(users[3].error, (CatalogError{ErrorCode::unsupported_sasl_mechanism, "Unknown SCRAM mechanism"}));
    EXPECT_EQ(users[4].error, (CatalogError{ErrorCode::unacceptable_credential, "Too few iterations"}));
    EXPECT_EQ(users[5].error, (CatalogError{ErrorCode::unacceptable_credential, "Too many iterations"}));
    EXPECT_EQ(users[6].error, (CatalogError{ErrorCode::unknown_server_error, std::nullopt}));
    ASSERT_EQ(describe().size(), 1u);
    EXPECT_EQ(describe()[0].user, "good");
}

TEST_F(ScramCredentials, OfUnknownAndRepeatedUsersAreToldSo) {
    const auto described = describe({"b", "a", "a"});
    ASSERT_EQ(described.size(), 2u);
    EXPECT_EQ(described[0].error,
              (CatalogError{ErrorCode::duplicate_resource,
                            "Cannot describe SCRAM credentials for the same user twice in a single request: a"}));
    EXPECT_EQ(described[1].error,
              (CatalogError{ErrorCode::resource_not_found, "Attempt to describe a user credential that does not exist: b"}));
}

}  // namespace
}  // namespace partita::catalog
