#include "broker/addons/scenarios/core/run.h"

#include <gmock/gmock.h>

#include <string>

#include "broker/addons/scenarios/core/report.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kWall = 1'000'000;

/// A run of steps, whose world the test is.
class RunTest : public ::testing::Test {
  protected:
    void begin(const std::string& steps, const std::string& application = "{topic: orders, group: billing, reports: stdout}",
               const std::string& more = "") {
        auto read = read_scenario("name: n\napplication: " + application + "\n" + more + "steps:\n" + steps);
        ASSERT_TRUE(read.has_value()) << read.error().text();
        scenario = std::move(*read);
        run.emplace(scenario, kWall);
    }

    template <class Wanted>
    Wanted next() {
        const auto deed = run->next(now);
        EXPECT_TRUE(deed && std::holds_alternative<Wanted>(*deed));
        return deed && std::holds_alternative<Wanted>(*deed) ? std::get<Wanted>(*deed) : Wanted{};
    }
    std::string asked() { return next<Ask>().request.target; }
    void answer(const std::string& body, int status = 200) { run->handle(Answered{status, ordered_json::parse(body)}, now); }
    void none() { EXPECT_FALSE(run->next(now).has_value()); }
    /// Plays the first start.
    void start(const std::string& group = "{}") {
        EXPECT_EQ(asked(), "/v1/groups/billing");
        answer(group);
        EXPECT_EQ(asked(), "/v1/topics/orders");
        answer(R"({"partitions": [{"partition": 0, "end": 10}, {"partition": 1, "end": 3}]})");
        EXPECT_EQ(next<StartInstances>().count, 1);
        run->handle(Done{}, now);
    }
    void close(const std::string& findings = R"({"findings": []})") {
        EXPECT_EQ(asked(), "/v1/findings?state=all");
        answer(findings);
        EXPECT_TRUE(run->is_over());
    }
    std::vector<std::string> outcomes() const {
        std::vector<std::string> all;
        for (const StepOutcome& step : run->steps()) {
            all.emplace_back(to_string(step.outcome));
        }
        return all;
    }

    Scenario scenario;
    std::optional<scenarios::Run> run;
    std::int64_t now = 0;
};

TEST_F(RunTest, StepsAreDoneOneAfterTheOther) {
    begin("  - grow: {topic: orders, to: 8, mode: fenced}\n  - load: {topic: orders, generate: 5}\n  - stop: application\n");
    EXPECT_EQ(asked(), "/v1/topics/orders/configs");
    none();
    answer("{}");
    EXPECT_EQ(asked(), "/v1/topics/orders/partitions");
    now = 40;
    answer("{}");
    EXPECT_EQ(next<Write>().seed->records.size(), 1u);
    run->handle(Done{}, now);
    EXPECT_FALSE(next<EndInstances>().kills);
    run->handle(Done{}, now);
    close();
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("ok", "ok", "ok"));
    EXPECT_EQ(run->steps()[0].ended_ms, 40);
    EXPECT_EQ(run->outcome(), Outcome::passed);
}

TEST_F(RunTest, ARefusalBreaksTheRunUnlessItIsWanted) {
    begin("  - grow: {topic: orders, to: 8}\n  - grow: {topic: orders, to: 9}\n");
    static_cast<void>(asked());
    answer(R"({"error": "no", "code": "POLICY_VIOLATION"})", 400);
    close();
    EXPECT_EQ(run->steps()[0].message, "the broker says: no");
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("BROKEN", "skipped"));
    EXPECT_EQ(run->outcome(), Outcome::broken);

    begin(
        "  - grow: {topic: orders, to: 8, refused: POLICY_VIOLATION}\n  - grow: {topic: orders, to: 8, refused: true}\n"
        "  - grow: {topic: orders, to: 8, refused: INVALID_PARTITIONS}\n");
    static_cast<void>(asked());
    answer(R"({"error": "no", "code": "POLICY_VIOLATION"})", 400);
    static_cast<void>(asked());
    answer(R"({"error": "no", "code": "POLICY_VIOLATION"})", 400);
    static_cast<void>(asked());
    answer(R"({"error": "no", "code": "POLICY_VIOLATION"})", 400);
    close();
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("ok", "ok", "FAILED"));

    begin("  - grow: {topic: orders, to: 8, refused: true}\n");
    static_cast<void>(asked());
    answer("{}");
    close();
    EXPECT_EQ(run->steps()[0].message, "the broker did not refuse it");
}

TEST_F(RunTest, AWaitLooksAgainLessOftenUntilItsTimeIsOver) {
    begin("  - wait: {members: 2, within: 2s}\n  - stop: application\n");
    EXPECT_EQ(asked(), "/v1/groups/billing");
    answer(R"({"error": "none"})", 404);
    none();
    EXPECT_EQ(run->deadline_ms(), 20);
    now = 20;
    EXPECT_EQ(asked(), "/v1/groups/billing");
    answer(R"({"state": "PreparingRebalance", "members": [{}, {}]})");
    none();
    EXPECT_EQ(run->deadline_ms(), 60);
    now = 1900;
    EXPECT_EQ(asked(), "/v1/groups/billing");
    answer(R"({"state": "Stable", "members": [{}]})");
    none();
    EXPECT_EQ(run->deadline_ms(), 1980);
    now = 2000;
    EXPECT_EQ(asked(), "/v1/groups/billing");
    answer(R"({"state": "Stable", "members": [{}]})");
    close();
    EXPECT_EQ(run->steps()[0].message, "not within 2000 ms: group billing has 1 member and is in state Stable");
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("FAILED", "skipped"));
    EXPECT_EQ(run->outcome(), Outcome::failed);
}

TEST_F(RunTest, AWaitEndsWhenItsConditionsHold) {
    begin("  - wait: {lag: 3, quiet: 100ms}\n");
    run->handle(Heard{{{0, 0, 1, 1}}}, now);
    static_cast<void>(asked());
    const std::string group = R"({"partitions": [{"topic": "orders", "partition": 0, "lag": 2, "end": 9},
                                                 {"topic": "orders", "partition": 1, "lag": null, "end": 1}]})";
    answer(group);
    none();
    now = 100;
    static_cast<void>(asked());
    answer(group);
    close();
    EXPECT_EQ(run->outcome(), Outcome::passed);
}

TEST_F(RunTest, RecordsOfATopicAreCounted) {
    begin("  - wait: {records: {topic: out, at_least: 9}}\n  - assert: {records: 3}\n");
    EXPECT_EQ(asked(), "/v1/topics/out");
    answer(R"({"partitions": [{"partition": 0, "start": 1, "end": 6}, {"partition": 1, "start": 0, "end": 4}]})");
    EXPECT_EQ(asked(), "/v1/topics/orders");
    answer(R"({"error": "none"})", 404);
    close();
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("ok", "FAILED"));
    EXPECT_EQ(run->steps()[1].message, "topic orders has 0 records");
}

TEST_F(RunTest, EachPartitionHasAMemberOrOneIsNamed) {
    begin("  - assert: {assigned: true}\n  - assert: {assigned: true}\n");
    const std::string group = R"({"partitions": [{"topic": "orders", "partition": 0, "member_id": "m"},
                                                 {"topic": "orders", "partition": 1, "member_id": null}]})";
    for (const char* topic :
         {R"({"partitions": [{"partition": 0}]})", R"({"partitions": [{"partition": 0}, {"partition": 1}]})"}) {
        EXPECT_EQ(asked(), "/v1/groups/billing");
        answer(group);
        EXPECT_EQ(asked(), "/v1/topics/orders");
        answer(topic);
    }
    close();
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("ok", "FAILED"));
    EXPECT_EQ(run->steps()[1].message, "group billing has no member for 1 partition of orders, such as 1");
}

TEST_F(RunTest, AnAssertionThatFailsLetsTheOthersBeJudged) {
    begin("  - start: application\n  - assert: {nothing_lost: true}\n  - assert: {nothing_twice: true, order_of_keys: true}\n");
    start(
        R"({"partitions": [{"topic": "orders", "partition": 0, "committed": 1}, {"topic": "other", "partition": 1, "committed": 5}]})");
    run->handle(Heard{{{0, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 1, 3}}}, now);
    for (int check = 0; check < 2; ++check) {
        EXPECT_EQ(next<ReadRecords>().topic, "orders");
        run->handle(RecordsRead{{{0, 0, 1, "a"}, {0, 1, 2, "a"}, {1, 0, 3, "b"}, {1, 1, 4, "b"}}}, now);
    }
    close();
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("ok", "FAILED", "FAILED"));
    // Offset 0 of partition 0 was committed before.
    EXPECT_EQ(run->steps()[1].message, "1 record never came to the application, such as offset 0 of partition 1");
    EXPECT_EQ(run->steps()[2].message, "1 record came twice, such as offset 1 of partition 1");
}

TEST_F(RunTest, AGroupWithoutCommitsBeginsWhereTheScenarioSays) {
    begin("  - start: application\n  - assert: {nothing_lost: true}\n",
          "{topic: orders, group: billing, reports: stdout, begins: latest}");
    start();
    static_cast<void>(next<ReadRecords>());
    run->handle(RecordsRead{{{0, 9, 1, "a"}, {1, 2, 2, "a"}, {2, 0, 3, "b"}}}, now);
    close();
    // The topic had ten and three records; partition 2 came later.
    EXPECT_EQ(run->steps()[1].message, "1 record never came to the application, such as offset 0 of partition 2");
}

TEST_F(RunTest, ReportsOfATopicAreReadAnewForEachLook) {
    begin("  - wait: {received: 2}\n", "{topic: orders, reports: {topic: out}}");
    static_cast<void>(next<Write>());
    run->handle(Done{}, now);
    EXPECT_EQ(next<ReadReports>().topic, "out");
    run->handle(ReportsRead{{{0, 0, 0, 0}}}, now);
    none();
    now = 20;
    EXPECT_EQ(next<ReadReports>().topic, "out");
    run->handle(ReportsRead{{{0, 0, 0, 0}, {0, 1, 0, 0}}}, now);
    close();
    EXPECT_EQ(run->outcome(), Outcome::passed);
    EXPECT_THAT(run->progress(), ::testing::ElementsAre(std::pair(0, 1), std::pair(20, 2)));
}

constexpr const char* kFindings = R"({"findings": [
    {"id": "H06", "title": "out of order", "severity": "block", "state": "open", "condition": "two keys", "opened_ms": 1000500,
     "subject": {"topic": "orders", "group": "billing"}},
    {"id": "H24", "title": "rebalance", "severity": "block", "state": "over", "condition": "x", "subject": {"topic": "orders"}}]})";

TEST_F(RunTest, CommitsAreJudgedByFindings) {
    begin("  - assert: {order_of_keys: true}\n  - assert: {nothing_lost: true, for: 0s}\n", "{topic: orders, group: billing}");
    EXPECT_EQ(asked(), "/v1/groups/billing");
    answer(R"({"partitions": [{"topic": "orders", "partition": 1, "lag": 4}]})");
    EXPECT_EQ(asked(), "/v1/findings?state=all");
    answer(kFindings);
    static_cast<void>(asked());
    answer(R"({"partitions": [{"topic": "orders", "partition": 1, "lag": 4}]})");
    static_cast<void>(asked());
    answer(kFindings);
    close(kFindings);
    EXPECT_EQ(run->steps()[0].message, "finding H06 (block): two keys");
    EXPECT_EQ(run->steps()[1].message, "group billing has 4 records left to read, where orders-1 has 4 records");
    // The timeline has when the findings came.
    ASSERT_EQ(run->marks().size(), 2u);
    EXPECT_EQ(run->marks()[1].time_ms, 500);
}

TEST_F(RunTest, AbsenceOfFindingsMustLast) {
    begin("  - assert: {findings: {absent: H20, none_of_severity: warn}, for: 1s}\n");
    for (const std::int64_t time : {0, 20, 60, 140, 300, 620}) {
        now = time;
        static_cast<void>(asked());
        answer(kFindings);
        none();
    }
    now = 1000;
    static_cast<void>(asked());
    answer(kFindings);
    close();
    EXPECT_EQ(run->outcome(), Outcome::passed);

    begin(
        "  - assert: {findings: {none_of_severity: block}}\n  - assert: {findings: {present: H07}}\n"
        "  - assert: {findings: {present: H24}}\n  - assert: {findings: {present: H24, group: billing}}\n");
    for (int check = 0; check < 4; ++check) {
        static_cast<void>(asked());
        answer(kFindings);
    }
    close();
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("FAILED", "FAILED", "ok", "FAILED"));
    EXPECT_EQ(run->steps()[1].message, "there is no finding H07");
}

TEST_F(RunTest, AnApplicationThatEndsWithAnErrorFailsTheRun) {
    begin("  - start: application\n  - wait: {received: 5}\n");
    start();
    none();
    run->handle(InstanceEnded{.instance = 1, .how = "with exit code 3", .is_good = false, .last_words = "Traceback\n"}, 70);
    now = 70;
    close();
    EXPECT_EQ(run->steps()[1].message, "instance 1 of the application ended with exit code 3");
    EXPECT_EQ(run->outcome(), Outcome::failed);
    EXPECT_THAT(end_text(scenario, *run), AllOf(HasSubstr("Traceback"), HasSubstr("n: failed, 1 of 2 steps are good")));

    begin("  - start: application\n  - wait: {ended: true}\n", "{topic: orders, group: billing, may_fail: true}");
    start();
    none();
    run->handle(InstanceEnded{.instance = 1, .how = "with exit code 3", .is_good = false, .last_words = {}}, now);
    now = 100;
    close();
    EXPECT_EQ(run->outcome(), Outcome::passed);
}

TEST_F(RunTest, TheTimeLimitEndsWhateverWaits) {
    begin("  - wait: {received: 5, within: 1h}\n", "{topic: orders, group: billing, reports: stdout}", "time_limit: 5s\n");
    none();
    EXPECT_LE(run->deadline_ms(), 5000);
    now = 5000;
    close();
    EXPECT_EQ(run->steps()[0].message, "the time limit of the scenario, 5000 ms, is over");
    EXPECT_EQ(run->outcome(), Outcome::failed);
}

TEST_F(RunTest, ABrokerThatDiesOrAPersonEndsTheRunAtOnce) {
    begin("  - load: {topic: orders, generate: 5}\n  - stop: application\n");
    static_cast<void>(next<Write>());
    run->handle(Stopped{"interrupted"}, now);
    EXPECT_TRUE(run->is_over());
    EXPECT_THAT(outcomes(), ::testing::ElementsAre("BROKEN", "skipped"));
    // Later events change nothing.
    run->handle(Done{}, now);
    none();
    EXPECT_EQ(run->steps().size(), 2u);
}

TEST_F(RunTest, ReportsAreLimited) {
    begin("  - wait: {received: 9000000}\n");
    run->handle(Heard{std::vector<Report>(kJudgedMax)}, now);
    none();
    run->handle(Heard{std::vector<Report>(1)}, now);
    close();
    EXPECT_EQ(run->steps()[0].message, "the application reported more than 2000000 records");
}

TEST_F(RunTest, ReportsNameStepsAndReasons) {
    begin("  - grow: {topic: 'a<b>', to: 8}\n  - wait: {received: 5}\n");
    static_cast<void>(asked());
    run->handle(Failed{"no \"way\"\x01"}, 1250);
    now = 1250;
    close(kFindings);
    EXPECT_EQ(step_text(run->steps()[0]),
              "    0.00 s  BROKEN   grow a<b> to 8 partitions  (1.25 s)\n                     no \"way\"?\n");
    const std::string xml = junit_xml(scenario, *run);
    EXPECT_THAT(xml, HasSubstr(R"(tests="2" failures="0" errors="1" skipped="1" time="1.250")"));
    EXPECT_THAT(
        xml,
        HasSubstr(R"(name="1. grow a&lt;b&gt; to 8 partitions" time="1.250"><error message="no &quot;way&quot;?"/></testcase>)"));
    EXPECT_THAT(xml, HasSubstr("<skipped/>"));
    const std::string svg = timeline_svg(scenario, *run);
    EXPECT_THAT(svg, AllOf(HasSubstr("grow a&lt;b&gt; to 8 partitions"), HasSubstr("H06 out of order"), HasSubstr("n: failed")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(end_text(scenario, *run), HasSubstr("finding  H06 out of order (block)\n"));
}

}  // namespace
}  // namespace partita::scenarios
