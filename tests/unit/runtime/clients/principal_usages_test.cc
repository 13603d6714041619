#include "broker/runtime/clients/principal_usages.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::runtime {
namespace {

using access::Principal;

TEST(PrincipalUsages, ConnectionsOfOnePrincipalAreCountedTogether) {
    PrincipalUsages usages;
    const access::PrincipalPointer first = usages.counted(Principal("User", "alice"));
    const access::PrincipalPointer second = usages.counted(Principal("User", "alice"));
    ASSERT_NE(first->usage(), nullptr);
    EXPECT_EQ(first->text(), "User:alice");
    first->usage()->requests += 2;
    second->usage()->requests += 3;
    second->usage()->fetched_bytes += 100;
    (void)usages.counted(Principal("User", "bob"));
    const auto reports = usages.reports();
    ASSERT_EQ(reports.size(), 2);
    EXPECT_EQ(reports[0].principal, "User:alice");
    EXPECT_EQ(reports[0].requests, 5);
    EXPECT_EQ(reports[0].fetched_bytes, 100);
    EXPECT_EQ(reports[1].principal, "User:bob");
    EXPECT_EQ(reports[1].requests, 0);
}

TEST(PrincipalUsages, WhoIsStillThereWhenAllConnectionsEndedKeepsItsCounts) {
    PrincipalUsages usages;
    usages.counted(Principal("User", "alice"))->usage()->denials += 1;
    usages.counted(Principal("User", "alice"))->usage()->denials += 1;
    EXPECT_EQ(usages.reports().front().denials, 2);
}

TEST(PrincipalUsages, WhatAKeyAllowsStaysItsOwnHoweverManyHaveItsName) {
    PrincipalUsages usages;
    const access::PrincipalPointer everything = usages.counted(Principal("User", "key", access::KeyGrant{}));
    const access::PrincipalPointer one_topic = usages.counted(Principal("User", "key", access::KeyGrant{.only_topic = "orders"}));
    const access::PrincipalPointer none = usages.counted(Principal("User", "key"));
    EXPECT_EQ(everything->grant(), access::KeyGrant{});
    EXPECT_EQ(one_topic->grant(), access::KeyGrant{.only_topic = "orders"});
    EXPECT_FALSE(none->grant().has_value());
    EXPECT_EQ(everything->usage(), one_topic->usage());
    EXPECT_EQ(everything->usage(), none->usage());
}

TEST(PrincipalUsages, TheSameNameOfAnotherTypeIsSomebodyElse) {
    PrincipalUsages usages;
    usages.counted(Principal("User", "alice"))->usage()->requests += 1;
    EXPECT_EQ(usages.counted(Principal("Group", "alice"))->usage()->requests, 0);
}

TEST(PrincipalUsages, BeyondTheLimitAllOthersAreCountedTogetherUnderTheirOwnNames) {
    PrincipalUsages usages;
    for (std::size_t number = 0; number < PrincipalUsages::kPrincipalsMax; ++number) {
        (void)usages.counted(Principal("User", std::to_string(number)));
    }
    EXPECT_EQ(usages.reports().size(), PrincipalUsages::kPrincipalsMax);
    const access::PrincipalPointer one = usages.counted(Principal("User", "late"));
    const access::PrincipalPointer other = usages.counted(Principal("User", "later"));
    EXPECT_EQ(one->text(), "User:late");
    EXPECT_EQ(other->text(), "User:later");
    one->usage()->requests += 1;
    other->usage()->requests += 1;
    const auto reports = usages.reports();
    ASSERT_EQ(reports.size(), PrincipalUsages::kPrincipalsMax + 1);
    EXPECT_EQ(reports.back().principal, "");
    EXPECT_EQ(reports.back().requests, 2);
    // A principal from before the limit keeps its own counts.
    EXPECT_NE(usages.counted(Principal("User", "0"))->usage(), one->usage());
}

TEST(PrincipalUsages, NobodyIsNotCounted) { EXPECT_EQ(Principal::anonymous()->usage(), nullptr); }

}  // namespace
}  // namespace partita::runtime
