// Rules of the test bench as JSON: what a rule says survives the round trip, and each error names the member.

#include "broker/addons/faults/http/fault_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "broker/addons/faults/core/fault_table.h"

namespace partita::faults {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string problem_of(std::string_view text) {
    const auto rules = parse_rules(text);
    return rules ? "" : rules.error();
}

/// The problem of a rule with one member of a part.
std::string problem_in(const std::string& part, const std::string& member) {
    return problem_of(R"({")" + part + R"(": {)" + member + "}}");
}

Rule full_rule() {
    Rule rule{.id = "lost-answer"};
    rule.match = {.api = ApiKey::produce,
                  .version = std::int16_t{9},
                  .client_id = "app",
                  .software = "librdkafka",
                  .principal = "User:alice",
                  .group = "billing",
                  .topic = "orders",
                  .partition = 3,
                  .listener = "PLAINTEXT",
                  .broker = 2};
    rule.when = {.nth = 2,
                 .every = 3,
                 .times = 4,
                 .probability = 0.25,
                 .seed = std::numeric_limits<std::uint64_t>::max(),
                 .after_ms = 5,
                 .for_ms = 6,
                 .after_fault = "first"};
    rule.action = {.delay_ms = 7,
                   .hold = true,
                   .error = ErrorCode::not_leader_or_follower,
                   .takes_effect = true,
                   .drop_request = true,
                   .drop_response = true,
                   .disconnect = true,
                   .throttle_ms = 8,
                   .corrupt_records = true,
                   .truncate_records = true,
                   .stale_metadata = StaleMetadata{.partitions = 3, .missing = true, .shuffled = true, .leader = -1},
                   .log_start = 0,
                   .slow_bytes_per_s = 9,
                   .reset_after_bytes = 0,
                   .duplicate_response = true,
                   .disk_full = true,
                   .sync_fails = true};
    return rule;
}

TEST(FaultJson, EveryMemberSurvivesTheRoundTrip) {
    const nlohmann::ordered_json object = rule_json(full_rule());
    EXPECT_EQ(
        object.dump(),
        R"({"id":"lost-answer","match":{"api":"Produce","version":9,"client_id":"app","software":"librdkafka",)"
        R"("principal":"User:alice","group":"billing","topic":"orders","partition":3,"listener":"PLAINTEXT","broker":2},)"
        R"("when":{"nth":2,"every":3,"times":4,"probability":0.25,"seed":18446744073709551615,"after_ms":5,"for_ms":6,)"
        R"("after_fault":"first"},"do":{"delay_ms":7,"hold":true,"error":"NOT_LEADER_OR_FOLLOWER","takes_effect":true,"drop_request":true,)"
        R"("drop_response":true,"disconnect":true,"throttle_ms":8,"corrupt_records":true,"truncate_records":true,)"
        R"("stale_metadata":{"partitions":3,"missing":true,"shuffled":true,"leader":-1},"log_start":0,)"
        R"("slow_bytes_per_s":9,"reset_after_bytes":0,"duplicate_response":true,"disk_full":true,"sync_fails":true}})");
    const auto rules = parse_rules(object.dump());
    ASSERT_TRUE(rules.has_value()) << rules.error();
    ASSERT_EQ(rules->size(), 1U);
    EXPECT_EQ(rule_json(rules->front()), object);
    EXPECT_EQ(rules->front().match.api, ApiKey::produce);
    EXPECT_EQ(rules->front().action.error, ErrorCode::not_leader_or_follower);
}

TEST(FaultJson, DefaultsAreLeftOut) {
    const std::string kEmpty = R"({"id":"","match":{},"when":{},"do":{}})";
    EXPECT_EQ(rule_json(Rule()).dump(), kEmpty);
    for (const char* text : {"{}", R"({"id": null, "match": null, "when": {"nth": null}, "do": {}})"}) {
        const auto rules = parse_rules(text);
        ASSERT_TRUE(rules.has_value()) << rules.error();
        EXPECT_EQ(rule_json(rules->front()).dump(), kEmpty) << text;
    }
}

TEST(FaultJson, NamesOfKafkaCountInAnyCase) {
    const auto rules = parse_rules(R"({"match": {"api": "joingroup"}, "do": {"error": "rebalance_in_progress"}})");
    ASSERT_TRUE(rules.has_value()) << rules.error();
    EXPECT_EQ(rules->front().match.api, ApiKey::join_group);
    EXPECT_EQ(rules->front().action.error, ErrorCode::rebalance_in_progress);
}

TEST(FaultJson, TheFirstAndTheLastErrorOfKafkaHaveNames) {
    for (const ErrorCode error : {ErrorCode::unknown_server_error, ErrorCode::share_session_limit_reached}) {
        const auto rules = parse_rules(R"({"do": {"error": ")" + std::string(error_name(error)) + R"("}})");
        ASSERT_TRUE(rules.has_value()) << rules.error();
        EXPECT_EQ(rules->front().action.error, error);
    }
}

TEST(FaultJson, AListHasItsRulesInTheirOrder) {
    const auto rules = parse_rules(R"([{"id": "b"}, {"id": "a"}])");
    ASSERT_TRUE(rules.has_value()) << rules.error();
    ASSERT_EQ(rules->size(), 2U);
    EXPECT_EQ(rules->front().id, "b");
    EXPECT_EQ(rules->back().id, "a");
}

TEST(FaultJson, AnErrorInAListNamesTheRule) {
    EXPECT_EQ(problem_of(R"([{"id": "a"}, {"when": {"nth": 0}}, {"when": {"every": 0}}])"),
              "rule 2: \"when.nth\" must be a whole number from 1 to 9223372036854775807");
    EXPECT_EQ(problem_of(R"([{}, 3])"), "rule 2: a rule must be an object");
}

TEST(FaultJson, AListHasALimit) {
    const auto list = [](std::size_t count) {
        nlohmann::ordered_json rules = nlohmann::ordered_json::array();
        for (std::size_t number = 0; number < count; ++number) {
            rules.push_back(nlohmann::ordered_json::object());
        }
        return rules.dump();
    };
    EXPECT_EQ(problem_of(list(FaultTable::kRulesMax)), "");
    EXPECT_EQ(problem_of(list(FaultTable::kRulesMax + 1)), "a list must have 1 to 1024 rules");
    EXPECT_EQ(problem_of("[]"), "a list must have 1 to 1024 rules");
}

TEST(FaultJson, ATextThatIsNotJsonIsRefusedWithItsLine) {
    EXPECT_EQ(problem_of("{\n\"id\": 'a'\n}"), "the text is not JSON: cannot read its line 2");
    EXPECT_EQ(problem_of(""), "the text is not JSON: cannot read its line 1");
    EXPECT_EQ(problem_of("{\"id\": \"\xff\"}"), "the text is not JSON: cannot read its line 1");
    EXPECT_EQ(problem_of(R"({"when": {"probability": 1e999}})"), "the text is not JSON: a number in it is too large");
    for (const char* text : {"3", "\"rule\"", "null", "true"}) {
        EXPECT_EQ(problem_of(text), "the text must be a rule, which is an object, or a list of rules") << text;
    }
}

TEST(FaultJson, AnUnknownMemberIsRefusedWithThoseThatAreAllowed) {
    EXPECT_EQ(problem_of(R"({"id": "a", "then": {}})"), "\"then\" is unknown here; allowed: id, match, when, do");
    EXPECT_EQ(problem_in("match", R"("apis": "Produce")"),
              "\"match.apis\" is unknown here; allowed: api, version, client_id, software, principal, group, topic, partition, "
              "listener, broker");
    EXPECT_EQ(problem_in("when", R"("Nth": 1)"),
              "\"when.Nth\" is unknown here; allowed: nth, every, times, probability, seed, after_ms, for_ms, after_fault");
    EXPECT_EQ(problem_in("do", R"("drop": null)"),
              "\"do.drop\" is unknown here; allowed: delay_ms, hold, error, takes_effect, drop_request, drop_response, "
              "disconnect, throttle_ms, "
              "corrupt_records, truncate_records, stale_metadata, log_start, "
              "slow_bytes_per_s, reset_after_bytes, duplicate_response, disk_full, sync_fails");
    EXPECT_LT(problem_of(R"({")" + std::string(100'000, 'x') + R"(": 1})").size(), 200U);
}

TEST(FaultJson, APartThatIsNoObjectIsRefused) {
    for (const std::string part : {"match", "when", "do"}) {
        EXPECT_EQ(problem_of(R"({")" + part + R"(": []})"), "\"" + part + "\" must be an object");
    }
}

TEST(FaultJson, UnknownNamesOfKafkaAreRefused) {
    EXPECT_EQ(problem_in("match", R"("api": "Produced")"),
              "\"match.api\" is \"Produced\"; use Kafka's name of a request, such as Produce or JoinGroup");
    for (const std::string name : {"NOT_A_LEADER", "NONE"}) {
        EXPECT_EQ(problem_in("do", R"("error": ")" + name + R"(")"),
                  "\"do.error\" is \"" + name + "\"; use Kafka's name of an error, such as NOT_LEADER_OR_FOLLOWER");
    }
}

TEST(FaultJson, NumbersAreInTheRangeOfTheirMember) {
    struct Tried {
        const char* part;
        const char* name;
        const char* least;
        const char* most;
        const char* too_large;
    };
    constexpr const char* kInt64Max = "9223372036854775807";
    constexpr const char* kBeyondInt64 = "9223372036854775808";
    constexpr Tried kTried[] = {
        {"match", "version", "0", "32767", "32768"},       {"match", "partition", "0", "2147483647", "2147483648"},
        {"when", "nth", "1", kInt64Max, kBeyondInt64},     {"when", "every", "1", kInt64Max, kBeyondInt64},
        {"when", "times", "0", kInt64Max, kBeyondInt64},   {"when", "after_ms", "0", "3600000", "3600001"},
        {"when", "for_ms", "0", "3600000", "3600001"},     {"do", "delay_ms", "0", "3600000", "3600001"},
        {"do", "throttle_ms", "0", "3600000", "3600001"},  {"do", "slow_bytes_per_s", "0", "1000000000", "1000000001"},
        {"do", "log_start", "0", kInt64Max, kBeyondInt64}, {"do", "reset_after_bytes", "0", "2147483647", "2147483648"},
    };
    for (const Tried& tried : kTried) {
        const auto problem_with = [&](const std::string& value) {
            return problem_in(tried.part, "\"" + std::string(tried.name) + "\": " + value);
        };
        EXPECT_EQ(problem_with(tried.least), "");
        EXPECT_EQ(problem_with(tried.most), "");
        const std::string expected = "\"" + std::string(tried.part) + "." + tried.name + "\" must be a whole number from " +
                                     tried.least + " to " + tried.most;
        const std::string too_small = std::to_string(std::stoi(tried.least) - 1);
        for (const std::string& value : {too_small, std::string(tried.too_large), std::string("1.5"), std::string("\"1\"")}) {
            EXPECT_EQ(problem_with(value), expected) << value;
        }
    }
    EXPECT_EQ(problem_in("when", R"("seed": -1)"), "\"when.seed\" must be a whole number from 0 to 18446744073709551615");
}

TEST(FaultJson, AProbabilityIsFrom0To1) {
    for (const std::string value : {"0", "1", "0.5"}) {
        EXPECT_EQ(problem_in("when", "\"probability\": " + value), "");
    }
    for (const std::string value : {"-0.1", "1.01", "2", "\"0.5\""}) {
        EXPECT_EQ(problem_in("when", "\"probability\": " + value), "\"when.probability\" must be a number from 0 to 1");
    }
}

TEST(FaultJson, FlagsAreTrueOrFalse) {
    for (const std::string name : {"hold", "drop_request", "drop_response", "disconnect", "corrupt_records", "truncate_records",
                                   "duplicate_response", "takes_effect", "disk_full", "sync_fails"}) {
        EXPECT_EQ(problem_in("do", "\"" + name + "\": false"), "");
        for (const std::string value : {"1", "\"true\"", "{}"}) {
            EXPECT_EQ(problem_in("do", "\"" + name + "\": " + value), "\"do." + name + "\" must be true or false");
        }
    }
}

TEST(FaultJson, StaleMetadataIsAnObject) {
    const auto problem_with = [](const std::string& value) { return problem_in("do", R"("stale_metadata": )" + value); };
    EXPECT_EQ(problem_with("null"), "");
    EXPECT_EQ(problem_with(R"({"leader": 2147483647})"), "");
    EXPECT_EQ(problem_with("true"), "\"do.stale_metadata\" must be an object");
    EXPECT_EQ(problem_with(R"({"missing": 1})"), "\"do.stale_metadata.missing\" must be true or false");
    EXPECT_EQ(problem_with(R"({"partitions": 0})"),
              "\"do.stale_metadata.partitions\" must be a whole number from 1 to 2147483647");
    EXPECT_EQ(problem_with(R"({"leader": -2})"), "\"do.stale_metadata.leader\" must be a whole number from -1 to 2147483647");
    EXPECT_EQ(problem_with(R"({"count": 1})"),
              "\"do.stale_metadata.count\" is unknown here; allowed: partitions, missing, shuffled, leader");
}

TEST(FaultJson, APresetStandsForRulesThatATableTakes) {
    FaultTable table;
    for (const std::string name : {"coordinator-failover", "flaky-network", "producer-fenced", "rebalance-storm",
                                   "rolling-restart", "slow-broker", R"(hot-partition", "topic": "orders)"}) {
        auto rules = parse_rules(R"({"preset": ")" + name + "\"}");
        ASSERT_TRUE(rules.has_value()) << name << ": " << rules.error();
        EXPECT_FALSE(rules->empty());
        const auto ids = table.add(std::move(*rules), {});
        EXPECT_TRUE(ids.has_value()) << name << ": " << ids.error();
    }
    for (const FaultTable::Entry& entry : table.entries()) {
        EXPECT_FALSE(entry.rule.match.topic.starts_with('$') || entry.rule.match.group.starts_with('$')) << entry.rule.id;
    }
}

TEST(FaultJson, APresetTakesATopicAGroupAndAnId) {
    const auto rules = parse_rules(
        R"([{"id": "a"}, {"preset": "rolling-restart", "id": "mine", "topic": "orders", "group": "billing"}, {"id": "b"}])");
    ASSERT_TRUE(rules.has_value()) << rules.error();
    EXPECT_EQ(rules->front().id, "a");
    EXPECT_EQ(rules->back().id, "b");
    EXPECT_EQ(rules->at(1).id, "mine.down");
    EXPECT_EQ(rules->at(2).id, "mine.write");
    EXPECT_EQ(rules->at(2).match.topic, "orders");
    EXPECT_EQ(rules->at(4).match.group, "billing");
}

TEST(FaultJson, ABadPresetIsRefused) {
    EXPECT_EQ(problem_of(R"({"preset": "earthquake"})"),
              "\"preset\" is unknown; the presets are coordinator-failover, flaky-network, hot-partition, producer-fenced, "
              "rebalance-storm, rolling-restart, slow-broker");
    EXPECT_EQ(problem_of(R"({"preset": "hot-partition"})"), "\"topic\" is missing: the preset hot-partition needs it");
    EXPECT_EQ(problem_of(R"([{}, {"preset": "slow-broker", "group": "g"}])"),
              "rule 2: \"group\" does not go with the preset slow-broker");
    EXPECT_EQ(problem_of(R"({"preset": "slow-broker", "do": {}})"), "\"do\" is unknown here; allowed: preset, id, topic, group");
}

TEST(FaultJson, TextsHaveALimit) {
    const auto with_topic = [](std::size_t size) { return problem_in("match", R"("topic": ")" + std::string(size, 't') + "\""); };
    EXPECT_EQ(with_topic(Rule::kTextBytesMax), "");
    EXPECT_EQ(with_topic(Rule::kTextBytesMax + 1), "\"match.topic\" must be a text of at most 1024 bytes");
    EXPECT_THAT(problem_of(R"({"id": 3})"), StartsWith("\"id\" must be a text"));
    EXPECT_THAT(problem_in("do", R"("error": 6)"), HasSubstr("must be a text"));
}

}  // namespace
}  // namespace partita::faults
