#include "broker/insight/findings/findings_board.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace partita::insight {
namespace {

using Kind = FindingEvent::Kind;

Finding stale(std::string client, std::int64_t count = 1) {
    return make_finding(HazardId::stale_producer, {.topic = "orders", .client_id = std::move(client)}, "condition", count);
}

std::vector<std::string> lines(const std::vector<FindingEvent>& events) {
    std::vector<std::string> text;
    for (const FindingEvent& event : events) {
        text.push_back(std::string(to_string(event.kind)) + " " + event.finding.subject.client_id + " " +
                       std::to_string(event.finding.count));
    }
    return text;
}

using Lines = std::vector<std::string>;

TEST(FindingsBoard, AFindingOpensOnceAndClosesWhenItsSourceNoLongerSaysIt) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("a")}, {1000});
    board.settle("producers", std::vector{stale("a")}, {2000});
    EXPECT_EQ(lines(board.take_events()), Lines({"opened a 1"}));
    ASSERT_EQ(board.open().size(), 1u);
    EXPECT_EQ(board.open()[0].opened, TimestampMs{1000});

    board.settle("producers", {}, {3000});
    const auto events = board.take_events();
    EXPECT_EQ(lines(events), Lines({"closed a 1"}));
    EXPECT_EQ(events[0].opened, TimestampMs{1000});
    EXPECT_EQ(events[0].time, TimestampMs{3000});
    EXPECT_EQ(board.open_count(), 0u);
}

TEST(FindingsBoard, WhatComesBackOpensAgain) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("a")}, {1000});
    board.settle("producers", {}, {2000});
    board.settle("producers", std::vector{stale("a")}, {3000});
    EXPECT_EQ(lines(board.take_events()), Lines({"opened a 1", "closed a 1", "opened a 1"}));
    EXPECT_EQ(board.open()[0].opened, TimestampMs{3000});
}

TEST(FindingsBoard, SourcesDoNotCloseEachOthersFindings) {
    FindingsBoard board;
    board.settle("one", std::vector{stale("a")}, {1000});
    board.settle("two", std::vector{stale("b")}, {1000});
    board.settle("two", {}, {2000});
    EXPECT_EQ(lines(board.take_events()), Lines({"opened a 1", "opened b 1", "closed b 1"}));
}

TEST(FindingsBoard, ChangesAreToldAtMostOncePerIntervalAndNeverForgotten) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("a", 1)}, {0});
    for (std::int64_t ms = 1; ms < FindingsBoard::kUpdateIntervalMs; ++ms) {
        board.settle("producers", std::vector{stale("a", 1 + ms)}, {ms});
    }
    EXPECT_EQ(lines(board.take_events()), Lines({"opened a 1"}));
    EXPECT_EQ(board.open()[0].finding.count, FindingsBoard::kUpdateIntervalMs) << "what is open is always the newest";
    board.settle("producers", std::vector{stale("a", 5000)}, {FindingsBoard::kUpdateIntervalMs});
    EXPECT_EQ(lines(board.take_events()), Lines({"updated a 5000"}));
}

TEST(FindingsBoard, AChangeForTheWorseIsToldAtOnce) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("a")}, {0});
    Finding worse = stale("a");
    worse.severity = Severity::block;
    board.settle("producers", std::vector{worse}, {1});
    EXPECT_EQ(lines(board.take_events()), Lines({"opened a 1", "updated a 1"}));
}

TEST(FindingsBoard, SubjectsThatDifferAnywhereAreDifferentFindings) {
    FindingsBoard board;
    Finding with_partition = stale("a");
    with_partition.subject.partition = PartitionIndex{1};
    Finding with_id = stale("a");
    with_id.subject.producer_id = ProducerId{1};
    Finding shifted = stale("");
    shifted.subject.group = "a";
    board.settle("producers", std::vector{stale("a"), with_partition, with_id, shifted, stale("a")}, {0});
    EXPECT_EQ(board.open_count(), 4u) << "the fifth is the first again";
}

TEST(FindingsBoard, TheWorstComesFirst) {
    FindingsBoard board;
    const Finding mixed = make_finding(HazardId::mixed_partitioners, {.topic = "orders"}, "condition");
    const Finding ignored = make_finding(HazardId::keys_ignored, {.topic = "orders"}, "condition");
    board.settle("producers", std::vector{ignored, stale("a"), mixed}, {0});
    const auto open = board.open();
    EXPECT_EQ(open[0].finding.id, HazardId::mixed_partitioners);
    EXPECT_EQ(open[1].finding.id, HazardId::stale_producer);
    EXPECT_EQ(open[2].finding.id, HazardId::keys_ignored);
}

Finding seeded(std::size_t number) {
    return make_finding(HazardId::seeded_offsets, {.topic = "orders", .group = "group-" + std::to_string(number)}, "condition");
}

std::vector<Finding> seeded_many(std::size_t count) {
    std::vector<Finding> many;
    for (std::size_t number = 0; number < count; ++number) {
        many.push_back(seeded(number));
    }
    return many;
}

Finding skipped(std::string group) {
    return make_finding(HazardId::latest_loses_first_records, {.topic = "payments", .group = std::move(group)}, "condition");
}

TEST(FindingsBoard, BeyondItsLimitFindingsAreRefusedAndCountedOnce) {
    FindingsBoard board;
    const std::vector<Finding> many = seeded_many(FindingsBoard::kOpenMax + 3);
    for (std::int64_t time = 0; time < 10; ++time) {
        board.settle("readers", many, {time * 1000});
    }
    EXPECT_EQ(board.open_count(), FindingsBoard::kOpenMax);
    EXPECT_EQ(board.refused(), 3u) << "findings, not attempts";
    EXPECT_EQ(board.take_events().size(), FindingsBoard::kOpenMax + 1) << "and the board's own";
}

TEST(FindingsBoard, AWorseFindingDisplacesAMilderOne) {
    FindingsBoard board;
    board.settle("readers/orders", seeded_many(FindingsBoard::kOpenMax), {0});
    (void)board.take_events();
    board.settle("readers/payments", std::vector{skipped("billing")}, {1000});

    const auto open = board.open();
    ASSERT_EQ(open.front().finding.id, HazardId::latest_loses_first_records);
    EXPECT_EQ(board.open_count(), FindingsBoard::kOpenMax);
    const auto events = board.take_events();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].kind, Kind::closed);
    EXPECT_TRUE(events[0].is_displaced) << "it holds as before";
    EXPECT_EQ(events[1].kind, Kind::opened);
    EXPECT_EQ(events[1].finding.subject.group, "billing");
    EXPECT_EQ(events[2].finding.id, HazardId::findings_overflow);

    // A displaced finding finds no place, and displaces no other.
    board.settle("readers/orders", seeded_many(FindingsBoard::kOpenMax), {2000});
    EXPECT_TRUE(board.take_events().empty());
    EXPECT_EQ(board.refused(), 1u);
    // When there is room it opens again, and the overflow is over.
    board.settle("readers/payments", {}, {3000});
    board.settle("readers/orders", seeded_many(FindingsBoard::kOpenMax), {4000});
    EXPECT_EQ(board.refused(), 0u);
    EXPECT_EQ(board.open_count(), FindingsBoard::kOpenMax);
    const auto later = board.take_events();
    ASSERT_EQ(later.size(), 3u);
    EXPECT_EQ(later[0].finding.subject.group, "billing");
    EXPECT_FALSE(later[0].is_displaced);
    EXPECT_EQ(later[1].kind, Kind::opened);
    EXPECT_EQ(later[2].kind, Kind::closed);
    EXPECT_EQ(later[2].finding.id, HazardId::findings_overflow);
}

TEST(FindingsBoard, TheWorstOfOneSourceHaveThePlacesWhateverTheirOrder) {
    FindingsBoard board;
    std::vector<Finding> many = seeded_many(FindingsBoard::kOpenMax);
    many.push_back(skipped("billing"));
    board.settle("readers", many, {0});
    EXPECT_EQ(board.open().front().finding.subject.group, "billing");
    EXPECT_EQ(board.refused(), 1u);
    for (const FindingEvent& event : board.take_events()) {
        EXPECT_EQ(event.kind, Kind::opened) << "nothing opens only to make room at once";
    }
}

TEST(FindingsBoard, TheOverflowIsAsBadAsTheWorstThatHasNoPlace) {
    FindingsBoard board;
    std::vector<Finding> many;
    for (std::size_t number = 0; number < FindingsBoard::kOpenMax + 2; ++number) {
        many.push_back(skipped("group-" + std::to_string(number)));
    }
    board.settle("readers", many, {0});
    board.settle("producers", std::vector{stale("a")}, {0});
    const OpenFinding overflow = board.open()[FindingsBoard::kOpenMax];
    EXPECT_EQ(overflow.finding.id, HazardId::findings_overflow);
    EXPECT_EQ(overflow.finding.severity, Severity::block);
    EXPECT_EQ(overflow.finding.count, 3);
    EXPECT_EQ(overflow.finding.condition,
              "3 findings hold and are not shown (2 of severity block, 1 warn, 0 info): the broker keeps the worst 2000");
}

TEST(FindingsBoard, WhatIsOverIsKeptWithTimesAndItsLargestCount) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("a", 1), stale("b", 1)}, {1000});
    board.settle("producers", std::vector{stale("a", 7), stale("b", 1)}, {2000});
    board.settle("producers", std::vector{stale("a", 2), stale("b", 1)}, {3000});
    board.settle("producers", std::vector{stale("b", 1)}, {4000});
    board.settle("producers", {}, {5000});
    const auto ended = board.ended();
    ASSERT_EQ(ended.size(), 2u);
    EXPECT_EQ(ended[0].finding.subject.client_id, "b") << "the last one comes first";
    EXPECT_EQ(ended[1].finding.count, 2);
    EXPECT_EQ(ended[1].largest_count, 7);
    EXPECT_EQ(ended[1].opened, TimestampMs{1000});
    EXPECT_EQ(ended[1].closed, TimestampMs{4000});
    EXPECT_EQ(ended[1].how, EndedFinding::How::over);
}

TEST(FindingsBoard, OfMoreThanItKeepsTheMildestAndOldestThatAreOverGoFirst) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("a")}, {0});
    board.settle("producers", {}, {1});
    const std::vector<Finding> notes = seeded_many(FindingsBoard::kEndedMax + 5);
    board.settle("readers", notes, {2});
    board.settle("readers", {}, {3});
    const auto ended = board.ended();
    ASSERT_EQ(ended.size(), FindingsBoard::kEndedMax);
    EXPECT_EQ(ended.back().finding.id, HazardId::stale_producer) << "worse than the notes, though older";
}

TEST(FindingsBoard, ADisplacedFindingIsNotOver) {
    FindingsBoard board;
    board.settle("readers/orders", seeded_many(FindingsBoard::kOpenMax), {0});
    board.settle("readers/payments", std::vector{skipped("billing")}, {1000});
    EXPECT_TRUE(board.ended().empty());
}

Finding out_of_order(std::string group, std::int64_t keys) {
    Finding finding =
        make_finding(HazardId::inversion_delivered, {.topic = "orders", .group = std::move(group)}, "condition", keys);
    finding.add_evidence(PartitionIndex{1}, Offset{10});
    return finding;
}

constexpr auto any = [](const OpenFinding&) { return true; };

TEST(FindingsBoard, HarmThatWasSeenIsOverThoughItsSourceStillSaysIt) {
    FindingsBoard board;
    board.settle("readers", std::vector{out_of_order("billing", 3)}, {1000});
    EXPECT_EQ(board.mark_seen(any, {2000}), 1u);
    board.settle("readers", std::vector{out_of_order("billing", 3)}, {3000});
    const auto events = board.take_events();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[1].kind, Kind::closed);
    EXPECT_TRUE(events[1].is_seen);
    EXPECT_TRUE(board.open().empty());
    EXPECT_EQ(board.open_count(), 0u);
    ASSERT_EQ(board.ended().size(), 1u);
    EXPECT_EQ(board.ended()[0].how, EndedFinding::How::seen);
    EXPECT_EQ(board.mark_seen(any, {4000}), 0u) << "it is seen already";
}

TEST(FindingsBoard, HarmThatWasSeenOpensAgainOnlyIfItsCountGrows) {
    FindingsBoard board;
    board.settle("readers", std::vector{out_of_order("billing", 3)}, {1000});
    EXPECT_EQ(board.mark_seen(any, {2000}), 1u);
    board.settle("readers", std::vector{out_of_order("billing", 1)}, {3000});
    EXPECT_TRUE(board.open().empty());
    board.settle("readers", std::vector{out_of_order("billing", 2)}, {4000});
    ASSERT_EQ(board.open().size(), 1u) << "two records are gone since it was seen, and one is new";
    EXPECT_EQ(board.open()[0].opened, TimestampMs{4000});
    EXPECT_EQ(board.mark_seen(any, {5000}), 1u);
    board.settle("readers", {}, {6000});
    board.settle("readers", std::vector{out_of_order("billing", 1)}, {7000});
    EXPECT_EQ(board.open().size(), 1u) << "it was over in between, so this is another";
}

TEST(FindingsBoard, OnlyChosenHarmIsSeenAndNoDanger) {
    FindingsBoard board;
    board.settle("readers", std::vector{out_of_order("billing", 3), out_of_order("audit", 3)}, {1000});
    board.settle("producers", std::vector{stale("a")}, {1000});
    EXPECT_EQ(board.mark_seen([](const OpenFinding& open) { return open.finding.subject.group == "audit"; }, {2000}), 1u);
    EXPECT_EQ(board.mark_seen(any, {3000}), 1u);
    ASSERT_EQ(board.open().size(), 1u);
    EXPECT_EQ(board.open()[0].finding.id, HazardId::stale_producer);
}

TEST(FindingsBoard, NothingOfBeforeIsThereOnceAllIsForgotten) {
    FindingsBoard board;
    board.settle("readers", std::vector{out_of_order("billing", 3), out_of_order("audit", 3)}, {1000});
    board.settle("producers", std::vector{stale("a")}, {1000});
    EXPECT_EQ(board.mark_seen([](const OpenFinding& open) { return open.finding.subject.group == "audit"; }, {2000}), 1u);
    (void)board.take_events();
    EXPECT_EQ(board.forget({3000}), 3u);
    EXPECT_TRUE(board.open().empty());
    EXPECT_TRUE(board.ended().empty());
    EXPECT_EQ(board.open_count(), 0u);
    const auto events = board.take_events();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].kind, Kind::closed);
    EXPECT_EQ(events[1].kind, Kind::closed);
    // Harm that was seen counts as new, too.
    board.settle("readers", std::vector{out_of_order("audit", 1)}, {4000});
    EXPECT_EQ(board.open().size(), 1u);
    EXPECT_EQ(board.forget({5000}), 1u);
    EXPECT_EQ(board.forget({6000}), 0u);
}

TEST(FindingsBoard, AFullBoardIsForgottenWithItsOwnFinding) {
    FindingsBoard board;
    board.settle("readers/orders", seeded_many(FindingsBoard::kOpenMax + 1), {0});
    (void)board.take_events();
    EXPECT_EQ(board.forget({1000}), FindingsBoard::kOpenMax);
    EXPECT_TRUE(board.open().empty());
    EXPECT_EQ(board.take_events().size(), FindingsBoard::kOpenMax + 1) << "its own finding closes, too";
}

TEST(FindingsBoard, UnchangedHarmIsToldAgainAfterADayAndUnchangedDangerIsNot) {
    FindingsBoard board;
    for (const std::int64_t time : {std::int64_t{0}, FindingsBoard::kHarmRepeatMs - 1, FindingsBoard::kHarmRepeatMs}) {
        board.settle("readers", std::vector{out_of_order("billing", 3)}, {time});
        board.settle("producers", std::vector{stale("a")}, {time});
    }
    EXPECT_EQ(lines(board.take_events()), Lines({"opened  3", "opened a 1", "updated  3"}));
}

TEST(FindingsBoard, UnchangedHarmIsToldAgainBeforeTooManyEventsCoverIt) {
    FindingsBoard board;
    board.settle("readers", std::vector{out_of_order("billing", 3)}, {1000});
    std::size_t told_again = 0;
    for (std::uint64_t events = 0; events < FindingsBoard::kHarmRepeatEvents + 1000; events += 2) {
        board.settle("producers", std::vector{stale("a")}, {1000});
        board.settle("producers", {}, {1000});
        board.settle("readers", std::vector{out_of_order("billing", 3)}, {1000});
        for (const FindingEvent& event : board.take_events()) {
            told_again += event.kind == Kind::updated ? 1 : 0;
        }
    }
    EXPECT_EQ(told_again, 1u);
}

TEST(FindingsBoard, EvidenceAloneIsToldSeldom) {
    FindingsBoard board;
    board.settle("readers", std::vector{out_of_order("billing", 3)}, {0});
    Finding later = out_of_order("billing", 3);
    later.add_evidence(PartitionIndex{1}, Offset{99});
    board.settle("readers", std::vector{later}, {FindingsBoard::kUpdateIntervalMs});
    EXPECT_EQ(lines(board.take_events()), Lines({"opened  3"}));
    board.settle("readers", std::vector{later}, {FindingsBoard::kEvidenceIntervalMs});
    EXPECT_EQ(lines(board.take_events()), Lines({"updated  3"}));
}

PastFindings past_of(std::vector<OpenFinding> harm) {
    for (OpenFinding& one : harm) {
        one.finding.is_restored = true;
    }
    return {.harm = std::move(harm), .ended = {}};
}

TEST(FindingsBoard, RestoredHarmOpensWithItsFirstTimeAndStandsBesideWhatASourceFindsAnew) {
    FindingsBoard board;
    board.restore(past_of({{out_of_order("billing", 3), {1000}, {2000}, 5}}), {9000});
    board.settle("readers", std::vector{out_of_order("billing", 1)}, {9500});
    const auto open = board.open();
    ASSERT_EQ(open.size(), 2u);
    EXPECT_EQ(board.open_count(), 2u);
    const auto events = board.take_events();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].kind, Kind::opened);
    EXPECT_EQ(events[0].opened, TimestampMs{1000});
    EXPECT_TRUE(events[0].finding.is_restored);
    EXPECT_EQ(events[1].opened, TimestampMs{9500});

    board.settle(FindingsBoard::past_source({1000}), {}, {10'000});
    ASSERT_EQ(board.ended().size(), 1u);
    EXPECT_EQ(board.ended()[0].opened, TimestampMs{1000});
    EXPECT_EQ(board.ended()[0].largest_count, 5);
    EXPECT_EQ(board.open().size(), 1u);
}

TEST(FindingsBoard, TheSameHarmOfTwoEarlierRunsIsRestoredTwice) {
    FindingsBoard board;
    board.restore(past_of({{out_of_order("billing", 3), {1000}, {1000}, 3}, {out_of_order("billing", 1), {5000}, {5000}, 1}}),
                  {9000});
    EXPECT_EQ(board.open_count(), 2u);
    board.settle(FindingsBoard::past_source({5000}), {}, {9100});
    ASSERT_EQ(board.open().size(), 1u);
    EXPECT_EQ(board.open()[0].opened, TimestampMs{1000});
}

TEST(FindingsBoard, WhatWasOverBeforeTheStartComesBehindWhatEndedSince) {
    FindingsBoard board;
    board.settle("producers", std::vector{stale("since")}, {8000});
    board.settle("producers", {}, {8500});
    board.restore({.harm = {}, .ended = {{stale("first"), {1}, {2}, 1}, {stale("second"), {1}, {3}, 1}}}, {9000});
    Lines names;
    for (const EndedFinding& ended : board.ended()) {
        names.push_back(ended.finding.subject.client_id);
    }
    EXPECT_EQ(names, Lines({"since", "second", "first"}));
}

TEST(FindingsBoard, RestoredHarmThatWasSeenStaysAway) {
    FindingsBoard board;
    const PastFindings past = past_of({{out_of_order("billing", 3), {1000}, {2000}, 5}});
    board.restore(past, {9000});
    board.settle(FindingsBoard::past_source({1000}), std::vector{past.harm[0].finding}, {9100});
    EXPECT_EQ(board.mark_seen(any, {9200}), 1u);
    board.settle(FindingsBoard::past_source({1000}), std::vector{past.harm[0].finding}, {9300});
    EXPECT_TRUE(board.open().empty());
}

TEST(FindingsBoard, NoMoreHarmIsRestoredThanHasRoom) {
    FindingsBoard board;
    std::vector<OpenFinding> harm;
    for (std::size_t number = 0; number < FindingsBoard::kOpenMax + 1; ++number) {
        harm.push_back({out_of_order("group-" + std::to_string(number), 1), {1}, {1}, 1});
    }
    board.restore(past_of(harm), {2});
    EXPECT_EQ(board.open_count(), FindingsBoard::kOpenMax);
}

// Opened and closed alternate for each finding, whatever observers say, and sequences are dense. The open findings are those that
// the observers said last.
TEST(FindingsBoard, EventsAlwaysAddUpToWhatIsOpen) {
    std::mt19937_64 random(3);
    FindingsBoard board;
    std::set<std::string> open;
    std::uint64_t sequence = 0;
    std::vector<Finding> last;
    for (std::int64_t step = 0; step < 2000; ++step) {
        last.clear();
        for (int client = 0; client < 8; ++client) {
            if (random() % 2 == 0) {
                last.push_back(stale(std::to_string(client), static_cast<std::int64_t>(random() % 3)));
            }
        }
        board.settle("producers", last, {step * 700});
        for (const FindingEvent& event : board.take_events()) {
            ASSERT_EQ(event.sequence, ++sequence);
            const std::string& client = event.finding.subject.client_id;
            if (event.kind == Kind::opened) {
                ASSERT_TRUE(open.insert(client).second);
            } else if (event.kind == Kind::closed) {
                ASSERT_EQ(open.erase(client), 1u);
            } else {
                ASSERT_TRUE(open.contains(client));
            }
        }
        ASSERT_EQ(open.size(), last.size());
        ASSERT_EQ(board.open_count(), last.size());
    }
}

}  // namespace
}  // namespace partita::insight
