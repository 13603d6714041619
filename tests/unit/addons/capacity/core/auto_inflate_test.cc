#include "broker/addons/capacity/core/auto_inflate.h"

#include <gtest/gtest.h>

#include <limits>

namespace partita::capacity {
namespace {

constexpr Load kWritersUnit{.bytes = 1'000'000, .events = 1'000};
constexpr Load kReadersUnit{.bytes = 2'000'000, .events = 4'096};

AutoInflate inflating(std::int32_t units_max, std::int64_t after_ms) {
    AutoInflate inflate;
    inflate.set_rule({.units_max = units_max, .after_ms = after_ms});
    return inflate;
}

/// Makes ten uses a second, each with `each` and the outcome; returns the first change that `inflate` asks for, and when.
struct Said {
    std::optional<std::int32_t> units;
    std::int64_t at_ms = 0;
};
Said ask_for(AutoInflate& inflate, std::int64_t from_ms, std::int64_t until_ms, Load each, CapacityMeter::Admission outcome,
             std::int32_t units) {
    for (std::int64_t now = from_ms; now < until_ms; now += 100) {
        if (const auto more = inflate.note({.asked = each, .unit = kWritersUnit, .outcome = outcome}, units, Instant{now})) {
            return {more, now};
        }
    }
    return {};
}

TEST(AutoInflate, GivesWhatWasAskedForWhenSomebodyWaitedInEachSecond) {
    AutoInflate inflate = inflating(40, 5'000);
    // 3.5 MB a second.
    const Said said = ask_for(inflate, 0, 20'000, {.bytes = 350'000}, {.wait_ms = 20}, 1);
    EXPECT_EQ(said.units, 4);
    EXPECT_EQ(said.at_ms, 5'000);
}

TEST(AutoInflate, GivesOneMoreWhenWhatWasAskedForSaysNothing) {
    // Clients that wait ask for no more than they get.
    AutoInflate inflate = inflating(40, 5'000);
    EXPECT_EQ(ask_for(inflate, 0, 20'000, {.bytes = 300'000}, {.wait_ms = 20}, 3).units, 4);
}

TEST(AutoInflate, CountsEventsAsBytesAndWhatWasRefusedAsWhatWaited) {
    AutoInflate inflate = inflating(40, 2'000);
    EXPECT_EQ(ask_for(inflate, 0, 20'000, {.bytes = 1, .events = 720}, {.is_taken = false, .wait_ms = 90'000}, 1).units, 8);
}

TEST(AutoInflate, CountsWhatReadersAskFor) {
    AutoInflate inflate = inflating(40, 1'000);
    std::optional<std::int32_t> more;
    for (std::int64_t now = 0; !more && now < 5'000; now += 500) {
        more =
            inflate.note({.asked = {.bytes = 10'000'000}, .unit = kReadersUnit, .is_ingress = false, .outcome = {.wait_ms = 5}},
                         1, Instant{now});
    }
    EXPECT_EQ(more, 10);
}

TEST(AutoInflate, NeverGoesBeyondTheMaximum) {
    AutoInflate inflate = inflating(3, 1'000);
    EXPECT_EQ(ask_for(inflate, 0, 20'000, {.bytes = 9'000'000}, {.wait_ms = 20}, 1).units, 3);
    EXPECT_EQ(ask_for(inflate, 20'000, 60'000, {.bytes = 9'000'000}, {.wait_ms = 20}, 3).units, std::nullopt);
}

TEST(AutoInflate, DoesNothingWithoutAMaximum) {
    AutoInflate inflate;
    EXPECT_EQ(ask_for(inflate, 0, 60'000, {.bytes = 9'000'000}, {.wait_ms = 20}, 1).units, std::nullopt);
}

TEST(AutoInflate, NeverGoesDown) {
    AutoInflate inflate = inflating(2, 1'000);
    EXPECT_EQ(ask_for(inflate, 0, 60'000, {.bytes = 9'000'000}, {.wait_ms = 20}, 20).units, std::nullopt);
}

TEST(AutoInflate, ASecondInWhichNobodyWaitedBeginsTheCountAnew) {
    AutoInflate inflate = inflating(40, 5'000);
    for (std::int64_t round = 0; round < 10; ++round) {
        const std::int64_t from = round * 6'000;
        EXPECT_EQ(ask_for(inflate, from, from + 4'000, {.bytes = 350'000}, {.wait_ms = 20}, 1).units, std::nullopt);
        EXPECT_EQ(ask_for(inflate, from + 4'000, from + 6'000, {.bytes = 350'000}, {}, 1).units, std::nullopt);
    }
}

TEST(AutoInflate, ASecondInWhichNobodyAskedBeginsTheCountAnew) {
    AutoInflate inflate = inflating(40, 5'000);
    for (std::int64_t round = 0; round < 10; ++round) {
        const std::int64_t from = round * 7'000;
        EXPECT_EQ(ask_for(inflate, from, from + 4'500, {.bytes = 350'000}, {.wait_ms = 20}, 1).units, std::nullopt);
    }
}

TEST(AutoInflate, OneClientThatWaitsForSecondsWaitsInEachOfThem) {
    AutoInflate inflate = inflating(40, 9'000);
    std::optional<std::int32_t> more;
    std::int64_t now = 0;
    for (; !more && now < 60'000; now += 3'000) {
        more =
            inflate.note({.asked = {.bytes = 3'000'000}, .unit = kWritersUnit, .outcome = {.wait_ms = 3'000}}, 1, Instant{now});
    }
    EXPECT_EQ(more, 2);
    EXPECT_EQ(now, 12'000);
}

TEST(AutoInflate, CountsAnewAfterItGaveMore) {
    AutoInflate inflate = inflating(40, 5'000);
    EXPECT_EQ(ask_for(inflate, 0, 20'000, {.bytes = 350'000}, {.wait_ms = 20}, 1).at_ms, 5'000);
    EXPECT_EQ(ask_for(inflate, 5'100, 20'000, {.bytes = 350'000}, {.wait_ms = 20}, 4).at_ms, 10'000);
}

TEST(AutoInflate, AnotherRuleBeginsTheCountAnew) {
    AutoInflate inflate = inflating(40, 5'000);
    EXPECT_EQ(ask_for(inflate, 0, 4'900, {.bytes = 350'000}, {.wait_ms = 20}, 1).units, std::nullopt);
    inflate.set_rule({.units_max = 41, .after_ms = 5'000});
    EXPECT_EQ(ask_for(inflate, 4'900, 20'000, {.bytes = 350'000}, {.wait_ms = 20}, 1).at_ms, 9'900);
}

TEST(AutoInflate, ClocksThatJumpBeginTheCountAnew) {
    AutoInflate inflate = inflating(40, 5'000);
    EXPECT_EQ(ask_for(inflate, 10'000'000, 10'004'900, {.bytes = 350'000}, {.wait_ms = 20}, 1).units, std::nullopt);
    EXPECT_EQ(ask_for(inflate, 0, 4'900, {.bytes = 350'000}, {.wait_ms = 20}, 1).units, std::nullopt);
    const std::int64_t far = std::numeric_limits<std::int64_t>::max() / 2;
    EXPECT_EQ(ask_for(inflate, far, far + 4'900, {.bytes = 350'000}, {.wait_ms = 20}, 1).units, std::nullopt);
}

TEST(AutoInflate, SumsThatFitIntoNoNumberGiveTheMaximum) {
    AutoInflate inflate = inflating(40, 1'000);
    const std::int64_t all = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(ask_for(inflate, 0, 20'000, {.bytes = all, .events = all}, {.is_taken = false}, 1).units, 40);
}

}  // namespace
}  // namespace partita::capacity
