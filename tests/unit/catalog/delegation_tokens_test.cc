#include "broker/catalog/delegation_tokens.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

using access::DelegationToken;
using access::PrincipalName;

const PrincipalName kAlice{"User", "alice"};
const PrincipalName kBob{"User", "bob"};
const PrincipalName kCarol{"User", "carol"};
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

class DelegationTokens : public ::testing::Test {
  protected:
    CreateDelegationTokenResult create(CreateDelegationToken command) {
        command.lifetimes = lifetimes_;
        return catalog_.carry_out(command);
    }
    /// A token of alice, which bob may renew.
    DelegationToken made(std::int64_t lifetime_ms = 0) {
        const auto reply = create({.owner = kAlice, .requester = kAlice, .renewers = {kBob}, .lifetime_ms = lifetime_ms});
        EXPECT_EQ(reply.error, ErrorCode::none);
        return reply.token;
    }
    MoveExpiryResult renew(std::string_view id, const PrincipalName& who = kAlice, std::int64_t period_ms = -1) {
        return catalog_.carry_out(
            RenewDelegationToken{.token_id = id, .requester = who, .period_ms = period_ms, .lifetimes = lifetimes_});
    }
    MoveExpiryResult expire(std::string_view id, std::int64_t period_ms, const PrincipalName& who = kAlice) {
        return catalog_.carry_out(ExpireDelegationToken{.token_id = id, .requester = who, .period_ms = period_ms});
    }
    std::vector<std::string> sweep() { return catalog_.carry_out(RemoveExpiredTokens()).ids; }
    const DelegationToken* find(std::string_view id) { return catalog_.catalog().find_delegation_token(id); }
    const CatalogPointer& snapshot() { return catalog_.core().snapshot(); }

    TestCatalog catalog_;
    TokenLifetimes lifetimes_{.latest_ms = 10'000, .until_renewal_ms = 1'000};
};

TEST_F(DelegationTokens, AreThereAfterARestartAsTheyWereMade) {
    const auto made_for_bob = create({.owner = kBob, .requester = kAlice, .renewers = {kCarol, kAlice}, .lifetime_ms = 0}).token;
    const DelegationToken own = made();
    EXPECT_NE(own.id, made_for_bob.id);
    EXPECT_EQ(own.id.size(), 22u);
    catalog_.restart();
    ASSERT_NE(find(own.id), nullptr);
    ASSERT_NE(find(made_for_bob.id), nullptr);
    EXPECT_EQ(*find(own.id), own);
    EXPECT_EQ(*find(made_for_bob.id), made_for_bob);
    EXPECT_EQ(made_for_bob.requester, kAlice);
    EXPECT_EQ(made_for_bob.renewers, (std::vector{kCarol, kAlice}));
    EXPECT_EQ(find("nobody"), nullptr);
}

TEST_F(DelegationTokens, LiveAsLongAsTheyMayAndNoLongerThanTheirMakerWants) {
    const DelegationToken longest = made();
    EXPECT_EQ(longest.issued.value, 1'000);
    EXPECT_EQ(longest.expires.value, 2'000);
    EXPECT_EQ(longest.latest.value, 11'000);
    const DelegationToken shorter = made(500);
    EXPECT_EQ(shorter.latest.value, 1'500);
    EXPECT_EQ(shorter.expires.value, 1'500);
    EXPECT_EQ(made(kForever).latest.value, 11'000);
    lifetimes_ = {.latest_ms = kForever, .until_renewal_ms = kForever};
    EXPECT_EQ(made().latest.value, kForever);
    EXPECT_EQ(made().expires.value, kForever);
}

TEST_F(DelegationTokens, AreRenewedByOwnerAndRenewersUpToTheirLatestTime) {
    const DelegationToken token = made();
    catalog_.time_ms = 1'500;
    EXPECT_EQ(renew(token.id).expires_ms, 2'500);
    EXPECT_EQ(renew(token.id, kBob, 100).expires_ms, 1'600);
    EXPECT_EQ(renew(token.id, kBob, kForever).expires_ms, 2'500);
    EXPECT_EQ(renew(token.id, kCarol).error, ErrorCode::delegation_token_owner_mismatch);
    EXPECT_EQ(renew("nobody").error, ErrorCode::delegation_token_not_found);
    EXPECT_EQ(renew("").error, ErrorCode::delegation_token_not_found);
    for (; catalog_.time_ms < 10'500; catalog_.time_ms += 500) {
        (void)renew(token.id);
    }
    EXPECT_EQ(renew(token.id).expires_ms, 11'000);
    catalog_.restart();
    EXPECT_EQ(find(token.id)->expires.value, 11'000);
    EXPECT_EQ(find(token.id)->issued.value, 1'000);
}

TEST_F(DelegationTokens, ThatHaveExpiredAreNoLongerRenewed) {
    const DelegationToken token = made();
    catalog_.time_ms = 2'000;
    EXPECT_EQ(renew(token.id, kAlice, 1).error, ErrorCode::none);
    catalog_.time_ms = 2'002;
    EXPECT_EQ(renew(token.id).error, ErrorCode::delegation_token_expired);
    EXPECT_EQ(expire(token.id, 0).error, ErrorCode::delegation_token_expired);
    // As in Kafka, a renewal tells a stranger that the token has expired, and an expiry that it is another user's.
    EXPECT_EQ(renew(token.id, kCarol).error, ErrorCode::delegation_token_expired);
    EXPECT_EQ(expire(token.id, 0, kCarol).error, ErrorCode::delegation_token_owner_mismatch);
    EXPECT_EQ(expire(token.id, -1, kCarol).error, ErrorCode::delegation_token_owner_mismatch);
    // Expired tokens can be removed.
    EXPECT_EQ(expire(token.id, -1).error, ErrorCode::none);
    EXPECT_EQ(find(token.id), nullptr);
}

TEST_F(DelegationTokens, ExpireWhenTheyAreToldToAndAreGoneAtOnceWithANegativePeriod) {
    const DelegationToken token = made();
    EXPECT_EQ(expire(token.id, 300).expires_ms, 1'300);
    EXPECT_EQ(expire(token.id, kForever).expires_ms, 11'000);
    EXPECT_EQ(expire(token.id, 0, kBob).expires_ms, 1'000);
    EXPECT_EQ(expire(token.id, 5, kCarol).error, ErrorCode::delegation_token_owner_mismatch);
    ASSERT_NE(find(token.id), nullptr);
    EXPECT_EQ(expire(token.id, -7, kBob).expires_ms, 1'000);
    EXPECT_EQ(find(token.id), nullptr);
    catalog_.restart();
    EXPECT_EQ(find(token.id), nullptr);
    EXPECT_EQ(expire(token.id, -1).error, ErrorCode::delegation_token_not_found);
}

TEST_F(DelegationTokens, ThatHaveExpiredAreSweptAwayAndOthersStay) {
    const std::string early = made(100).id;
    const std::string early_too = made(150).id;
    const std::string late = made().id;
    EXPECT_FALSE(has_expired_tokens(catalog_.catalog(), {catalog_.time_ms}));
    const auto sequence = catalog_.catalog().sequence();
    EXPECT_TRUE(sweep().empty());
    EXPECT_EQ(catalog_.catalog().sequence(), sequence);
    catalog_.time_ms = 1'151;
    EXPECT_TRUE(has_expired_tokens(catalog_.catalog(), {catalog_.time_ms}));
    EXPECT_EQ(sweep().size(), 2u);
    EXPECT_EQ(find(early), nullptr);
    EXPECT_EQ(find(early_too), nullptr);
    EXPECT_NE(find(late), nullptr);
    catalog_.restart();
    EXPECT_EQ(catalog_.catalog().delegation_tokens().size(), 1u);
}

TEST_F(DelegationTokens, AreOfUsersAndRenewedByUsers) {
    EXPECT_EQ(create({.owner = {"Group", "alice"}, .requester = kAlice, .renewers = {}}).error,
              ErrorCode::invalid_principal_type);
    EXPECT_EQ(create({.owner = kAlice, .requester = kAlice, .renewers = {kBob, {"user", "carol"}}}).error,
              ErrorCode::invalid_principal_type);
    EXPECT_TRUE(catalog_.catalog().delegation_tokens().empty());
}

TEST_F(DelegationTokens, HaveALimitedNumberOfRenewersWithLimitedNames) {
    CreateDelegationToken command{.owner = kAlice, .requester = kAlice, .renewers = {}};
    command.renewers.assign(kTokenRenewersMax, {"User", std::string(kTokenNameBytesMax, 'n')});
    EXPECT_EQ(create(command).error, ErrorCode::none);
    command.renewers.push_back(kBob);
    EXPECT_EQ(create(command).error, ErrorCode::invalid_request);
    command.renewers = {{"User", std::string(kTokenNameBytesMax + 1, 'n')}};
    EXPECT_EQ(create(command).error, ErrorCode::invalid_request);
    command = {.owner = command.renewers[0], .requester = kAlice, .renewers = {}};
    EXPECT_EQ(create(command).error, ErrorCode::invalid_request);
}

TEST_F(DelegationTokens, AreNoMoreThanACatalogKeeps) {
    for (std::size_t count = 0; count < kDelegationTokensMax; ++count) {
        ASSERT_EQ(create({.owner = kAlice, .requester = kAlice, .renewers = {}}).error, ErrorCode::none);
    }
    EXPECT_EQ(create({.owner = kAlice, .requester = kAlice, .renewers = {}}).error, ErrorCode::policy_violation);
    const std::string first = catalog_.catalog().delegation_tokens().front()->id;
    EXPECT_EQ(expire(first, -1).error, ErrorCode::none);
    EXPECT_EQ(create({.owner = kAlice, .requester = kAlice, .renewers = {}}).error, ErrorCode::none);
}

TEST_F(DelegationTokens, ConcernThoseWhoOwnAskedForOrMayRenewThem) {
    const DelegationToken token{.id = "t", .owner = kAlice, .requester = kBob, .renewers = {kCarol}};
    EXPECT_TRUE(token.concerns(kAlice) && token.concerns(kBob) && token.concerns(kCarol));
    EXPECT_FALSE(token.concerns({"User", "dave"}) || token.concerns({"Group", "alice"}));
    EXPECT_TRUE(token.may_be_renewed_by(kAlice) && token.may_be_renewed_by(kCarol));
    EXPECT_FALSE(token.may_be_renewed_by(kBob));
}

}  // namespace
}  // namespace partita::catalog
