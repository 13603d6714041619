// Tests the report for people and scripts on two answers about a group's partitions.

#include "broker/cli/ownership_changes.h"

#include <gmock/gmock.h>

namespace partita::cli {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

ordered_json answer(ordered_json partitions, ordered_json takeovers = ordered_json::array()) {
    ordered_json members = ordered_json::array();
    for (const char* id : {"m1", "m2"}) {
        members.push_back({{"member_id", id}, {"instance_id", nullptr}, {"client_id", std::string("client-") + id}});
    }
    return {{"time_ms", 1000}, {"members", members}, {"partitions", std::move(partitions)}, {"takeovers", std::move(takeovers)}};
}
ordered_json owned(int partition, const ordered_json& member) {
    return {{"topic", "t"},
            {"partition", partition},
            {"member_id", member},
            {"claim", 3},
            {"since_ms", 500},
            {"free_since_ms", member.is_null() ? ordered_json(900) : ordered_json(nullptr)},
            {"checkpoint", {{"offset", 7}, {"lag", 2}}}};
}
ordered_json takeover(int sequence, const char* kind) {
    return {{"sequence", sequence}, {"time_ms", 800},       {"topic", "t"},    {"partition", 0},    {"from", "m1"},
            {"to", "m2"},           {"kind", kind},         {"cause", "lost"}, {"flapping", false}, {"claim", 4},
            {"claim_before", 3},    {"seen_after_ms", 850}, {"unowned_ms", 12}};
}
std::vector<std::string> events(const std::vector<ordered_json>& changes) {
    std::vector<std::string> list;
    for (const ordered_json& change : changes) {
        list.push_back(change.at("event"));
    }
    return list;
}
using Events = std::vector<std::string>;

TEST(OwnershipChanges, TheFirstAnswerTellsWhoOwnsWhatAndNoPast) {
    OwnershipChanges known;
    const auto changes = known.update(answer({owned(0, "m2"), owned(1, nullptr)}, {takeover(5, "lost")}));
    EXPECT_EQ(events(changes), Events{"owner"});
    EXPECT_THAT(readable_change(changes[0]), HasSubstr(" owner    t 0: client-m2, claim 3, committed 7, lag 2"));
    EXPECT_TRUE(known.update(answer({owned(0, "m2"), owned(1, nullptr)}, {takeover(5, "lost")})).empty());
}

TEST(OwnershipChanges, WhatAClientIsCalledDoesNothingToATerminal) {
    ordered_json named = answer({owned(0, "m2")});
    named["members"][1]["client_id"] = "a\033[2J\a\nb";
    OwnershipChanges known;
    const auto changes = known.update(named);
    EXPECT_THAT(readable_change(changes.at(0)), HasSubstr("t 0: a?[2J??b, claim 3"));
    EXPECT_THAT(changes.at(0).dump(), HasSubstr("a\\u001b[2J\\u0007\\nb"));
}

TEST(OwnershipChanges, ATakeoverIsToldOnceWithBothNames) {
    OwnershipChanges known;
    static_cast<void>(known.update(answer({owned(0, "m1")})));
    const auto changes = known.update(answer({owned(0, "m2")}, {takeover(1, "lost")}));
    EXPECT_EQ(events(changes), Events{"takeover"});
    EXPECT_THAT(readable_change(changes[0]),
                HasSubstr(" takeover t 0: client-m1 -> client-m2, lost, claim 3 -> 4, without an owner for 12 ms"));
    EXPECT_TRUE(known.update(answer({owned(0, "m2")}, {takeover(1, "lost")})).empty());
}

TEST(OwnershipChanges, ATakeoverThatTurnsOutToBeTheftIsToldAgain) {
    OwnershipChanges known;
    static_cast<void>(known.update(answer({owned(0, "m2")}, {takeover(1, "lost")})));
    const auto changes = known.update(answer({owned(0, "m2")}, {takeover(1, "stolen")}));
    EXPECT_EQ(events(changes), Events{"stolen"});
    EXPECT_EQ(changes[0].at("time_ms"), 850);
    EXPECT_THAT(readable_change(changes[0]), HasSubstr("t 0: client-m1 continued after client-m2 took over"));
}

TEST(OwnershipChanges, WhatIsFreeAndWhatIsOwnedAgainIsTold) {
    OwnershipChanges known;
    static_cast<void>(known.update(answer({owned(0, "m1")})));
    const auto freed = known.update(answer({owned(0, nullptr)}));
    EXPECT_EQ(events(freed), Events{"free"});
    EXPECT_THAT(readable_change(freed[0]), HasSubstr("t 0: no owner; before: client-m1"));
    EXPECT_TRUE(known.update(answer({owned(0, nullptr)})).empty());
    EXPECT_EQ(events(known.update(answer({owned(0, "m1")}))), Events{"owner"});
}

TEST(OwnershipChanges, TakeoversThatAnAnswerDoesNotHoldAnyMoreAreCounted) {
    OwnershipChanges known;
    static_cast<void>(known.update(answer({owned(0, "m1")}, {takeover(1, "normal")})));
    const auto changes = known.update(answer({owned(0, "m2")}, {takeover(4, "normal")}));
    EXPECT_EQ(events(changes), (Events{"missed", "takeover"}));
    EXPECT_THAT(readable_change(changes[0]), HasSubstr("2 takeovers"));
}

TEST(OwnershipChanges, ABrokerThatBeganAnewCountsFromOne) {
    OwnershipChanges known;
    static_cast<void>(known.update(answer({owned(0, "m1")}, {takeover(9, "lost")})));
    EXPECT_EQ(events(known.update(answer({owned(0, "m2")}, {takeover(1, "normal")}))), Events{"takeover"});
}

TEST(OwnershipChanges, AnAnswerOfAnotherSchemaChangesNothing) {
    OwnershipChanges known;
    static_cast<void>(known.update(answer({owned(0, "m1")})));
    EXPECT_THROW(static_cast<void>(known.update({{"partitions", 3}})), ordered_json::exception);
    EXPECT_THROW(static_cast<void>(known.update(answer({{{"topic", 7}}}))), ordered_json::exception);
    EXPECT_TRUE(known.update(answer({owned(0, "m1")})).empty());
}

}  // namespace
}  // namespace partita::cli
