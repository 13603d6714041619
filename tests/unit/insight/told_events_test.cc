#include "broker/insight/findings/told_events.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "broker/insight/findings/event_json.h"

namespace partita::insight {
namespace {

using Kind = FindingEvent::Kind;
using How = EndedFinding::How;

Finding out_of_order(std::string group, std::int64_t keys) {
    Finding finding = make_finding(HazardId::inversion_delivered, {.topic = "orders", .group = std::move(group)}, "it was", keys);
    finding.numbers = {{"keys", keys}};
    finding.add_example("user-42", PartitionIndex{3}, PartitionIndex{9});
    finding.add_example(std::string("\xff\x00", 2), std::nullopt, PartitionIndex{1});
    finding.add_evidence(PartitionIndex{3}, Offset{811});
    return finding;
}

Finding backlog(std::string group) {
    return make_finding(HazardId::backlog_inversion, {.topic = "orders", .group = std::move(group)}, "it is", 5);
}

FindingEvent event(Kind kind, Finding finding, std::int64_t opened, std::int64_t time) {
    return {.sequence = 1, .kind = kind, .time = {time}, .opened = {opened}, .finding = std::move(finding)};
}

PastFindings past_of(const std::vector<FindingEvent>& events) {
    ToldEvents told;
    for (const FindingEvent& one : events) {
        told.take(event_json(one, KeyStyle::text));
    }
    return told.take_past();
}

TEST(ToldEvents, AnEventComesBackFromItsJson) {
    FindingEvent told = event(Kind::closed, out_of_order("billing", 2), 1000, 2000);
    told.is_seen = true;
    told.finding.subject = {.topic = "orders",
                            .partition = PartitionIndex{4},
                            .group = "billing",
                            .client_id = "web",
                            .client_address = "/10.0.0.7",
                            .producer_id = ProducerId{7},
                            .client_port = 4711,
                            .program = "java (pid 1)",
                            .principal = "User:a"};
    const auto back = parse_event(event_json(told, KeyStyle::text));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->finding, told.finding);
    EXPECT_EQ(back->kind, told.kind);
    EXPECT_EQ(back->opened, told.opened);
    EXPECT_EQ(back->time, told.time);
    EXPECT_TRUE(back->is_seen);
    EXPECT_FALSE(back->is_displaced);
}

// Clients may write to the topic of events.
TEST(ToldEvents, TextThatIsNoEventIsLeftOut) {
    const std::string good = event_json(event(Kind::opened, out_of_order("billing", 2), 1, 1), KeyStyle::text);
    ASSERT_TRUE(parse_event(good).has_value());
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(parse_event(std::string_view(good).substr(0, size)).has_value()) << size;
    }
    for (const char* text : {"", "null", "[]", "{}", R"({"event":"opened"})", R"({"event":1,"finding":[]})"}) {
        EXPECT_FALSE(parse_event(text).has_value()) << text;
    }
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{R"("H06")", R"("H99")"},
                                                                                   {R"("harm")", R"("bliss")"},
                                                                                   {R"("block")", R"("blok")"},
                                                                                   {R"("opened","time)", R"("grown","time)"},
                                                                                   {R"("count":2)", R"("count":"2")"}}) {
        std::string bad = good;
        ASSERT_NE(bad.find(from), std::string::npos) << from;
        bad.replace(bad.find(from), from.size(), to);
        EXPECT_FALSE(parse_event(bad).has_value()) << to;
    }
}

TEST(ToldEvents, HarmThatWasOpenComesBackAsItWasLast) {
    const PastFindings past = past_of({event(Kind::opened, out_of_order("billing", 2), 1000, 1000),
                                       event(Kind::updated, out_of_order("billing", 7), 1000, 2000),
                                       event(Kind::updated, out_of_order("billing", 4), 1000, 3000)});
    ASSERT_EQ(past.harm.size(), 1u);
    EXPECT_EQ(past.harm[0].finding.count, 4);
    EXPECT_EQ(past.harm[0].largest_count, 7);
    EXPECT_EQ(past.harm[0].opened, TimestampMs{1000});
    EXPECT_EQ(past.harm[0].changed, TimestampMs{3000});
    EXPECT_TRUE(past.harm[0].finding.is_restored);
    EXPECT_TRUE(past.ended.empty());
}

TEST(ToldEvents, HarmThatWasOverOrSeenDoesNotComeBack) {
    FindingEvent seen = event(Kind::closed, out_of_order("audit", 2), 1000, 2500);
    seen.is_seen = true;
    const PastFindings past = past_of({event(Kind::opened, out_of_order("billing", 2), 1000, 1000),
                                       event(Kind::opened, out_of_order("audit", 2), 1000, 1000), seen,
                                       event(Kind::closed, out_of_order("billing", 2), 1000, 3000)});
    EXPECT_TRUE(past.harm.empty());
    ASSERT_EQ(past.ended.size(), 2u);
    EXPECT_EQ(past.ended[0].how, How::seen);
    EXPECT_EQ(past.ended[1].how, How::over);
    EXPECT_EQ(past.ended[1].closed, TimestampMs{3000});
}

TEST(ToldEvents, HarmThatOpenedAgainAfterItWasSeenComesBackOnce) {
    FindingEvent seen = event(Kind::closed, out_of_order("billing", 2), 1000, 2000);
    seen.is_seen = true;
    const PastFindings past = past_of({event(Kind::opened, out_of_order("billing", 2), 1000, 1000), seen,
                                       event(Kind::opened, out_of_order("billing", 3), 3000, 3000)});
    ASSERT_EQ(past.harm.size(), 1u);
    EXPECT_EQ(past.harm[0].opened, TimestampMs{3000});
}

TEST(ToldEvents, ADangerThatWasOpenIsOverBecauseTheBrokerStopped) {
    const PastFindings past =
        past_of({event(Kind::opened, backlog("billing"), 1000, 1000), event(Kind::updated, backlog("billing"), 1000, 2000)});
    EXPECT_TRUE(past.harm.empty());
    ASSERT_EQ(past.ended.size(), 1u);
    EXPECT_EQ(past.ended[0].how, How::stopped);
    EXPECT_EQ(past.ended[0].closed, TimestampMs{2000});
}

TEST(ToldEvents, ADisplacedFindingIsNeitherOpenNorOver) {
    FindingEvent displaced = event(Kind::closed, out_of_order("billing", 2), 1000, 2000);
    displaced.is_displaced = true;
    const PastFindings past = past_of({event(Kind::opened, out_of_order("billing", 2), 1000, 1000), displaced});
    EXPECT_TRUE(past.harm.empty());
    EXPECT_TRUE(past.ended.empty());
}

TEST(ToldEvents, OfTooManyFindingsHarmStaysAndTheListOfThoseThatAreOverIsBounded) {
    std::vector<FindingEvent> events{event(Kind::opened, out_of_order("billing", 2), 0, 0)};
    for (std::int64_t number = 0; number < 2 * static_cast<std::int64_t>(ToldEvents::kFollowedMax); ++number) {
        events.push_back(event(Kind::opened, backlog("group-" + std::to_string(number)), number, number));
    }
    const PastFindings past = past_of(events);
    EXPECT_EQ(past.harm.size(), 1u);
    ASSERT_EQ(past.ended.size(), FindingsBoard::kEndedMax);
    EXPECT_EQ(past.ended.back().closed, events.back().time);
}

}  // namespace
}  // namespace partita::insight
