// Tests which clients get a claim, what the others are told, and what a restart leaves.

#include "broker/addons/claims/core/claim_coordinator.h"

#include <map>
#include <random>
#include <span>

#include "broker/insight/ownership/ownership_findings.h"
#include "tests/unit/addons/claims/core/claims_fixture.h"

namespace partita::claims {
namespace {

using insight::GroupHistory;
using insight::TakeoverCause;
using insight::TakeoverKind;
using Refusal = ClaimRefusal;

class Claims : public ::testing::Test {
  protected:
    ClaimTag taken(const ClaimsStore::Wish& wish) {
        const ClaimOutcome outcome = store.claim(wish);
        EXPECT_EQ(outcome.refusal, Refusal::none) << to_string(outcome.refusal);
        return outcome.claim->tag;
    }
    GroupHistory history() { return *store.core().history_of("billing", store.now); }
    std::vector<TakeoverCause> causes() {
        std::vector<TakeoverCause> list;
        const GroupHistory now = history();  // Must outlive the loop.
        for (const auto& takeover : now.takeovers()) {
            list.push_back(takeover.cause);
        }
        return list;
    }
    ClaimsStore store;
};

TEST_F(Claims, OfAPartitionThatNobodyHasIsMadeWithoutATag) {
    const ClaimOutcome outcome = store.claim({.owner = "web-1"});
    EXPECT_EQ(outcome.refusal, Refusal::none);
    EXPECT_FALSE(outcome.is_takeover);
    EXPECT_EQ(outcome.claim->owner, "web-1");
    EXPECT_EQ(outcome.claim->number, 1);
    EXPECT_TRUE(outcome.claim->is_valid(store.now.monotonic));
}

TEST_F(Claims, ThatIsValidKeepsOthersAwayWhoKnowNoTag) {
    taken({.owner = "web-1"});
    const ClaimOutcome refused = store.claim({.owner = "web-2"});
    EXPECT_EQ(refused.refusal, Refusal::held);
    EXPECT_EQ(refused.claim->owner, "web-1");
    EXPECT_EQ(store.records_of_last_call, 0U);
}

TEST_F(Claims, AreRenewedByTheirTagWhichIsAnotherOneThen) {
    const ClaimTag first = taken({.owner = "web-1"});
    const ClaimTag second = taken({.owner = "web-1", .tag = first});
    EXPECT_NE(first, second);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = first}).refusal, Refusal::stale_tag);
    EXPECT_EQ(store.claim_of(0)->number, 1);
    EXPECT_EQ(store.claim_of(0)->tag, second);
}

TEST_F(Claims, OfTwoWhoSawTheSameOnlyTheFirstSucceeds) {
    const ClaimTag seen = taken({.owner = "web-1"});
    store.pass(30'000);
    EXPECT_EQ(store.claim({.owner = "web-2", .tag = seen}).refusal, Refusal::none);
    EXPECT_EQ(store.claim({.owner = "web-3", .tag = seen}).refusal, Refusal::stale_tag);
    EXPECT_EQ(store.claim_of(0)->owner, "web-2");
}

TEST_F(Claims, ExpireToTheMillisecond) {
    taken({.owner = "web-1", .lifetime_ms = 1'000});
    store.pass(999);
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::held);
    store.pass(1);
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::none);
    EXPECT_EQ(store.claim_of(0)->number, 2);
}

TEST_F(Claims, AWallClockThatJumpsChangesNothing) {
    const ClaimTag tag = taken({.owner = "web-1"});
    store.now.wall = {store.now.wall.value + 1'000'000'000};
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::held);
    store.now.wall = {1};
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::held);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = tag}).refusal, Refusal::none);
    store.pass(30'000);
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::none);
}

TEST_F(Claims, WhoGoesOnAfterItsOwnExpiredHasItStillWhereNobodyTookIt) {
    const ClaimTag tag = taken({.owner = "web-1"});
    store.pass(60'000);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = tag}).refusal, Refusal::none);
    EXPECT_EQ(store.claim_of(0)->number, 1);
}

TEST_F(Claims, ThatAreReleasedAreFreeAtOnceAndOnlyTheirOwnerReleases) {
    const ClaimTag tag = taken({.owner = "web-1"});
    EXPECT_EQ(store.release({.owner = "web-2"}).refusal, Refusal::stale_tag);
    EXPECT_EQ(store.release({.owner = "web-1", .tag = ClaimTag{tag.value + 1}}).refusal, Refusal::stale_tag);
    EXPECT_EQ(store.release({.owner = "web-1", .tag = tag}).refusal, Refusal::none);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = tag}).refusal, Refusal::stale_tag);
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::none);
    EXPECT_EQ(causes(), std::vector{TakeoverCause::left});
}

TEST_F(Claims, AHigherOwnerLevelTakesAValidOneAndALowerOneIsRefused) {
    const ClaimTag tag = taken({.owner = "web-1", .owner_level = 1});
    EXPECT_EQ(store.claim({.owner = "web-2", .owner_level = 0}).refusal, Refusal::lower_level);
    EXPECT_EQ(store.claim({.owner = "web-2", .tag = tag}).refusal, Refusal::lower_level);
    EXPECT_EQ(store.claim({.owner = "web-2", .owner_level = 1}).refusal, Refusal::held);
    const ClaimOutcome stolen = store.claim({.owner = "web-2", .owner_level = 2});
    EXPECT_EQ(stolen.refusal, Refusal::none);
    EXPECT_TRUE(stolen.is_takeover);
    EXPECT_EQ(causes(), std::vector{TakeoverCause::stolen});
    // The broker tells the former owner who stole the claim, however the owner goes on.
    const ClaimOutcome told = store.claim({.owner = "web-1", .tag = tag, .owner_level = 1});
    EXPECT_EQ(told.refusal, Refusal::stolen);
    EXPECT_EQ(told.claim->owner, "web-2");
    EXPECT_EQ(store.checkpoint("web-1", 0, 10).refusal, Refusal::stolen);
    EXPECT_EQ(store.release({.owner = "web-1"}).refusal, Refusal::stolen);
}

TEST_F(Claims, AnOwnerLevelIsOverWithItsClaim) {
    taken({.owner = "web-1", .owner_level = 5});
    store.pass(30'000);
    taken({.owner = "web-2"});
    EXPECT_EQ(store.claim({.owner = "web-1", .owner_level = 0}).refusal, Refusal::none);
}

TEST_F(Claims, SeveralAreDecidedOneByOne) {
    taken({.owner = "web-1", .partition = 1});
    ClaimPartitions command{.reply_to = {}, .group = "billing", .owner = "web-2", .address = {}, .wishes = {}};
    for (std::int32_t partition = 0; partition < 3; ++partition) {
        command.wishes.push_back({{"orders", partition}, kOrders, std::nullopt});
    }
    const auto outcomes = store.decide(command).outcomes;
    EXPECT_EQ(outcomes.at(0).refusal, Refusal::none);
    EXPECT_EQ(outcomes.at(1).refusal, Refusal::held);
    EXPECT_EQ(outcomes.at(2).refusal, Refusal::none);
    EXPECT_EQ(store.records_of_last_call, 2U);
}

TEST_F(Claims, OfOneGroupAreNoneOfAnother) {
    taken({.owner = "web-1"});
    taken({.owner = "web-2", .group = "shipping"});
    EXPECT_EQ(store.claim_of(0)->owner, "web-1");
}

TEST_F(Claims, SurviveARestartWithTheirWholeLifetime) {
    const ClaimTag tag = taken({.owner = "web-1", .owner_level = 3, .lifetime_ms = 10'000});
    EXPECT_EQ(store.checkpoint("web-1", 0, 812).refusal, Refusal::none);
    store.pass(9'999);
    store.restart();
    EXPECT_EQ(store.claim_of(0)->tag, tag);
    EXPECT_EQ(store.claim_of(0)->owner_level, 3);
    EXPECT_EQ(store.checkpoint_of(0), 812);
    store.pass(9'999);
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::lower_level);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = tag, .owner_level = 3}).refusal, Refusal::none);
    store.pass(30'000);
    EXPECT_EQ(store.claim({.owner = "web-2"}).refusal, Refusal::none);
    EXPECT_EQ(store.claim_of(0)->number, 2);
}

TEST_F(Claims, OfATopicThatWasDeletedAreGoneAndTheirTagsNeverComeAgain) {
    const ClaimTag tag = taken({.owner = "web-1"});
    store.checkpoint("web-1", 0, 5);
    store.delete_topic(kOrders);
    EXPECT_EQ(store.core().find("billing"), nullptr);
    store.restart();
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = tag}).refusal, Refusal::stale_tag);
    EXPECT_GT(taken({.owner = "web-2"}), tag);
}

TEST_F(Claims, OfALogThatIsMadeAnewHaveOtherTagsThanThoseOfTheOneThatWasDeleted) {
    store.restart();
    const ClaimTag first = taken({.owner = "web-1"});
    const ClaimTag held = taken({.owner = "web-1", .tag = first});
    store = {};
    store.pass(1);
    store.restart();
    EXPECT_GT(taken({.owner = "web-2"}), held);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = held}).refusal, Refusal::stale_tag);
}

TEST_F(Claims, OfAnEarlierTopicOfTheNameDoNotCount) {
    taken({.owner = "web-1"});
    const auto outcome = store.decide(ClaimPartitions{.reply_to = {},
                                                      .group = "billing",
                                                      .owner = "web-2",
                                                      .address = {},
                                                      .owner_level = std::nullopt,
                                                      .wishes = {{{"orders", 0}, TopicId{{2}}, std::nullopt}}});
    EXPECT_EQ(outcome.outcomes.at(0).refusal, Refusal::none);
    EXPECT_FALSE(outcome.outcomes.at(0).is_takeover);
}

TEST_F(Claims, AreForgottenWithTheirGroupUnlessSomebodyHasOne) {
    taken({.owner = "web-1"});
    store.checkpoint("web-1", 7, 5);
    EXPECT_EQ(store.decide(ForgetClaims{.reply_to = {}, .group = "billing"}).error, ErrorCode::non_empty_group);
    store.pass(30'000);
    EXPECT_EQ(store.decide(ForgetClaims{.reply_to = {}, .group = "billing"}).error, ErrorCode::none);
    EXPECT_EQ(store.decide(ForgetClaims{.reply_to = {}, .group = "billing"}).error, ErrorCode::group_id_not_found);
    store.restart();
    EXPECT_EQ(store.core().find("billing"), nullptr);
}

TEST_F(Claims, OfAGroupAreNoMoreThanItsLimit) {
    for (std::int32_t partition = 0; std::cmp_less(partition, kClaimedPartitionsMax); ++partition) {
        ASSERT_EQ(store.claim({.owner = "web-1", .partition = partition}).refusal, Refusal::none);
    }
    const auto one_more = static_cast<std::int32_t>(kClaimedPartitionsMax);
    EXPECT_EQ(store.claim({.owner = "web-1", .partition = one_more}).refusal, Refusal::too_many);
    EXPECT_EQ(store.checkpoint("web-1", one_more, 1).refusal, Refusal::too_many);
    EXPECT_EQ(store.checkpoint("web-1", 0, 1).refusal, Refusal::none);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = store.claim_of(0)->tag}).refusal, Refusal::none);
}

TEST_F(Claims, OfNoMoreGroupsThanTheirLimitAreKept) {
    for (std::size_t group = 0; group < kClaimGroupsMax; ++group) {
        ASSERT_EQ(store.claim({.owner = "web-1", .group = "g" + std::to_string(group)}).refusal, Refusal::none);
    }
    EXPECT_EQ(store.claim({.owner = "web-1", .group = "one more"}).refusal, Refusal::too_many);
    EXPECT_EQ(store.claim({.owner = "web-1", .partition = 1, .group = "g0"}).refusal, Refusal::none);
}

TEST_F(Claims, OfAllGroupsAreNoMoreThanTheirLimit) {
    std::size_t rows = 0;
    for (std::int32_t group = 0; rows < kClaimRowsMax; ++group) {
        for (std::int32_t partition = 0; std::cmp_less(partition, kClaimedPartitionsMax) && rows < kClaimRowsMax; ++partition) {
            ASSERT_EQ(store.claim({.owner = "w", .partition = partition, .group = "g" + std::to_string(group)}).refusal,
                      Refusal::none);
            ++rows;
        }
    }
    EXPECT_EQ(store.claim({.owner = "w", .group = "one more"}).refusal, Refusal::too_many);
}

TEST_F(Claims, CheckpointsAreForTheOwnerAloneWhileItsClaimIsValid) {
    taken({.owner = "web-1"});
    EXPECT_EQ(store.checkpoint("web-2", 0, 9).refusal, Refusal::held);
    EXPECT_EQ(store.checkpoint_of(0), std::nullopt);
    EXPECT_EQ(store.checkpoint("web-1", 0, 10).refusal, Refusal::none);
    store.pass(30'000);
    EXPECT_EQ(store.checkpoint("web-2", 0, 11).refusal, Refusal::none);
    // Going back is allowed, too: a client may want to read again.
    EXPECT_EQ(store.checkpoint("web-2", 0, 3).refusal, Refusal::none);
    EXPECT_EQ(store.checkpoint_of(0), 3);
    EXPECT_EQ(store.core().checkpoints_of("billing").at("orders").at(PartitionIndex{0}).offset.value, 3);
}

TEST_F(Claims, TakingAFairShareIsNormalAndMoreThanThatIsATheft) {
    for (std::int32_t partition = 0; partition < 3; ++partition) {
        taken({.owner = "web-1", .partition = partition});
    }
    taken({.owner = "web-2", .partition = 0, .tag = store.claim_of(0)->tag});
    EXPECT_EQ(causes(), std::vector{TakeoverCause::normal});
    taken({.owner = "web-2", .partition = 1, .tag = store.claim_of(1)->tag});
    EXPECT_EQ(causes(), (std::vector{TakeoverCause::normal, TakeoverCause::stolen}));
    EXPECT_EQ(history().takeover_kinds().at(static_cast<std::size_t>(TakeoverKind::stolen)), 1U);
}

TEST_F(Claims, WhatExpiredIsLostAndStolenOnceItsOwnerGoesOn) {
    const ClaimTag tag = taken({.owner = "web-1"});
    store.pass(31'000);
    EXPECT_NE(history().free_since(*history().find("orders", 0)), std::nullopt);
    taken({.owner = "web-2"});
    EXPECT_EQ(causes(), std::vector{TakeoverCause::lost});
    EXPECT_EQ(history().takeovers().back().unowned_ms, 1'000);
    EXPECT_EQ(history().takeovers().back().claim_before, 1);
    EXPECT_EQ(history().takeovers().back().claim, 2);
    EXPECT_EQ(insight::kind_of(TakeoverCause::lost, history().takeovers().back().seen_after), TakeoverKind::lost);
    store.pass(500);
    EXPECT_EQ(store.claim({.owner = "web-1", .tag = tag}).refusal, Refusal::stolen);
    EXPECT_EQ(insight::kind_of(TakeoverCause::lost, history().takeovers().back().seen_after), TakeoverKind::stolen);
    EXPECT_EQ(history().takeover_kinds().at(static_cast<std::size_t>(TakeoverKind::lost)), 0U);
    EXPECT_EQ(history().takeover_kinds().at(static_cast<std::size_t>(TakeoverKind::stolen)), 1U);
}

TEST_F(Claims, WhoWritesCheckpointsAfterATheftIsASecondOwner) {
    taken({.owner = "web-1"});
    taken({.owner = "web-2", .owner_level = 1});
    EXPECT_TRUE(insight::ownership_findings("billing", history(), store.now.wall).empty());
    store.pass(40);
    store.checkpoint("web-1", 0, 99);
    const auto found = insight::ownership_findings("billing", history(), store.now.wall);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().id, insight::HazardId::two_owners);
    EXPECT_THAT(
        found.front().condition,
        ::testing::HasSubstr("web-1 of 10.0.0.7 (member web-1) has lost its claim in billing (stolen), but continues: it tried "
                             "to commit offset 99 of orders 0, which web-2 of 10.0.0.7 (member web-2) had owned for 40 ms"));
}

TEST_F(Claims, WhoIsLateAfterAFairTakeoverRaisesNoFinding) {
    for (std::int32_t partition = 0; partition < 8; ++partition) {
        taken({.owner = "web-1", .partition = partition});
    }
    for (std::int32_t partition = 0; partition < 4; ++partition) {
        taken({.owner = "web-2", .partition = partition, .tag = store.claim_of(partition)->tag});
        EXPECT_EQ(store.checkpoint("web-1", partition, 9).refusal, Refusal::stolen);
    }
    EXPECT_TRUE(insight::ownership_findings("billing", history(), store.now.wall).empty());
}

TEST_F(Claims, OwnersThatComeAndGoAreNotRememberedForEver) {
    ClaimTag tag = taken({.owner = "web-0"});
    for (int index = 1; index < 2'000; ++index) {
        tag = taken({.owner = "web-" + std::to_string(index), .tag = tag});
    }
    EXPECT_LE(history().members().size(), GroupHistory::kGoneMembersMax + GroupHistory::kTakeoversMax + 2);
}

TEST_F(Claims, RecordsOfALaterVersionAreSkippedAndDamagedOnesAreAnError) {
    Arena arena;
    const auto decode = [&](std::string_view key, std::optional<std::string_view> value) {
        return decode_claims_record(
            std::as_bytes(std::span(key.data(), key.size())),
            value ? std::optional<Bytes>(std::as_bytes(std::span(value->data(), value->size()))) : std::nullopt, arena);
    };
    using std::string_view_literals::operator""sv;
    const auto later_type = decode("\0\7x"sv, "\0\0"sv);
    ASSERT_TRUE(later_type.has_value());
    EXPECT_FALSE(later_type->has_value());
    const auto later_version = decode("\0\0\2g\2t\0\0\0\0\0"sv, "\0\1?"sv);
    ASSERT_TRUE(later_version.has_value());
    EXPECT_FALSE(later_version->has_value());
    EXPECT_FALSE(decode("\0"sv, std::nullopt).has_value());
    EXPECT_FALSE(decode("\0\0\2g"sv, std::nullopt).has_value());
    EXPECT_FALSE(decode("\0\0\2g\2t\0\0\0\0\0"sv, "\0\0\1"sv).has_value());
    EXPECT_FALSE(decode("\0\1\2g\2t\0\0\0\0\0"sv, "\0\0\1"sv).has_value());
    EXPECT_FALSE(decode("\0\2"sv, "\0\0\1"sv).has_value());
}

/// A client's own view: the claim that it was given, and how long the claim lasts.
struct Belief {
    std::optional<ClaimTag> tag;
    Instant until{};
};

// The invariant of all this: for each partition, at most one client holds a tag with which it could renew or write a checkpoint.
// Random clients lose answers, stop, steal, restart the broker and let time pass.
TEST_F(Claims, NeverHaveTwoOwners) {
    constexpr int kSeeds = 60;
    constexpr int kSteps = 600;
    constexpr std::int32_t kPartitions = 3;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
        store = ClaimsStore();
        const std::vector<std::string> owners = {"a", "b", "c", "d"};
        std::map<std::pair<std::string, std::int32_t>, Belief> beliefs;
        for (int step = 0; step < kSteps; ++step) {
            const std::string& owner = owners[static_cast<std::size_t>(below(4))];
            const std::int32_t partition = below(kPartitions);
            const std::optional<Claim> before =
                store.claim_of(partition) == nullptr ? std::nullopt : std::optional(*store.claim_of(partition));
            const bool was_valid = before && before->is_valid(store.now.monotonic);
            switch (below(8)) {
                case 0:
                    store.pass(below(400));
                    break;
                case 1:
                    if (below(20) == 0) {
                        store.restart();
                    }
                    break;
                case 2: {
                    const auto refusal = store.checkpoint(owner, partition, step).refusal;
                    // While a claim is valid, only its owner's checkpoint gets through.
                    EXPECT_EQ(refusal == Refusal::none, !was_valid || before->owner == owner);
                    break;
                }
                case 3:
                    if (store.release({.owner = owner, .partition = partition}).refusal == Refusal::none) {
                        EXPECT_EQ(before->owner, owner);
                    }
                    break;
                default: {
                    Belief& belief = beliefs[{owner, partition}];
                    ClaimsStore::Wish wish{.owner = owner, .partition = partition, .lifetime_ms = 100 + below(900)};
                    const int way = below(4);
                    if (way == 0 && before) {
                        wish.tag = before->tag;  // It has just read the list.
                    }
                    if (way == 1) {
                        wish.tag = belief.tag;  // It renews what it thinks it has.
                    }
                    if (way == 2 && below(4) == 0) {
                        wish.owner_level = below(3);
                    }
                    const ClaimOutcome outcome = store.claim(wish);
                    if (outcome.refusal != Refusal::none) {
                        EXPECT_EQ(
                            store.claim_of(partition) == nullptr ? std::optional<ClaimTag>() : store.claim_of(partition)->tag,
                            before ? std::optional(before->tag) : std::optional<ClaimTag>());
                        break;
                    }
                    // A valid claim of another owner goes only to a client that saw it, or to a higher level.
                    if (was_valid && before->owner != owner) {
                        const bool is_higher =
                            wish.owner_level && (!before->owner_level || *wish.owner_level > *before->owner_level);
                        EXPECT_TRUE(wish.tag == before->tag || is_higher);
                    }
                    if (below(10) != 0) {  // Else the answer is lost.
                        belief = {outcome.claim->tag, outcome.claim->expires};
                    }
                }
            }
            // A client that could renew without being told anything has the newest tag.
            int holders = 0;
            for (const auto& [key, belief] : beliefs) {
                const Claim* claim = store.claim_of(key.second);
                if (key.second == partition && belief.tag && claim != nullptr && claim->tag == *belief.tag) {
                    EXPECT_TRUE(claim->owner == key.first || claim->is_released);
                    ++holders;
                }
            }
            EXPECT_LE(holders, 1);
        }
    }
}

}  // namespace
}  // namespace partita::claims
