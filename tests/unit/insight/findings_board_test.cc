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
