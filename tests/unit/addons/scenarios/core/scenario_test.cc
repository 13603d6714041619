#include "broker/addons/scenarios/core/scenario.h"

#include <gmock/gmock.h>

#include <string>

namespace partita::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kHead = "name: n\napplication: {topic: orders, group: billing, reports: stdout}\nsteps:\n";
constexpr const char* kHeadOfCommits = "name: n\napplication: {topic: orders, group: billing}\nsteps:\n";

/// The only step of a scenario.
Step step_of(const std::string& step, const char* head = kHead) {
    const auto scenario = read_scenario(head + ("  - " + step + "\n"));
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
    return scenario ? scenario->steps.at(0) : Step{};
}
std::string problem_of(const std::string& text) {
    const auto scenario = read_scenario(text);
    return scenario ? "none" : scenario.error().text();
}
std::string problem_of_step(const std::string& step, const char* head = kHead) {
    return problem_of(head + ("  - " + step + "\n"));
}

TEST(Scenario, AFileHasABrokerAnApplicationAndSteps) {
    const auto scenario = read_scenario(R"(
name: growth
hazards: [H03, H06]
time_limit: 2m
broker: {configs: {num.partitions: 3}, from_snapshot: fixtures/one}
seed: {topics: {orders: 6}, records: [{topic: orders, generate: 10}], groups: {billing: {orders: 25%}}}
application:
  command: ./app --fast
  instances: 2
  environment: {LEVEL: 7}
  topic: orders
  group: billing
  reports: {topic: processed}
  begins: latest
steps:
  - start: application
)");
    ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
    EXPECT_EQ(scenario->time_limit_ms, 120'000);
    EXPECT_EQ(scenario->broker.from_snapshot, "fixtures/one");
    EXPECT_EQ(scenario->broker.configs[0].second, "3");
    EXPECT_EQ(scenario->application.command, "./app --fast");
    EXPECT_EQ(scenario->application.environment[0].second, "7");
    EXPECT_EQ(scenario->application.reports, Reports::topic);
    EXPECT_TRUE(scenario->application.begins_at_end);
    // The seed is the first step, and the topic of the reports is in it.
    ASSERT_EQ(scenario->steps.size(), 2u);
    EXPECT_EQ(scenario->steps[0].text, "create 2 topics, write 10 records to orders, commit offsets");
    EXPECT_EQ(scenario->steps[0].load.topics[1].name, "processed");
    EXPECT_EQ(scenario->steps[0].load.topics[1].partitions, 1);
    EXPECT_EQ(scenario->steps[1].instances, 2);
    EXPECT_EQ(scenario->steps[1].text, "start 2 instances of the application");
}

TEST(Scenario, StepsBecomeRequests) {
    const Step grow = step_of("grow: {topic: a/b, to: 8, mode: fenced}");
    ASSERT_EQ(grow.requests.size(), 2u);
    EXPECT_EQ(grow.requests[0].target, "/v1/topics/a%2Fb/configs");
    EXPECT_EQ(grow.requests[0].body, R"({"set":{"partita.expansion.mode":"fenced"}})");
    EXPECT_EQ(grow.requests[1].body, R"({"count":8})");
    EXPECT_EQ(grow.text, "grow a/b to 8 partitions in mode fenced");
    const Step refused = step_of("grow: {topic: a, to: 8, refused: POLICY_VIOLATION}");
    EXPECT_TRUE(refused.requests[0].must_be_refused);
    EXPECT_EQ(refused.requests[0].refusal_code, "POLICY_VIOLATION");
    EXPECT_EQ(step_of("configs: {topic: a, set: {retention.ms: 7, x: null}}").requests[0].body,
              R"({"set":{"retention.ms":"7","x":null}})");
    EXPECT_EQ(step_of("visibility: {topic: a, producers: until-released, consumers: 5000}").requests[0].target,
              "/v1/topics/a/visibility?producers=until-released&consumers=5000");
    EXPECT_EQ(step_of("nudge: a").requests[0].target, "/v1/topics/a/nudge");
    EXPECT_EQ(step_of("clock: {advance_ms: 5000}").requests[0].body, R"({"advance_ms":5000})");
    EXPECT_EQ(step_of("fault: [{match: {api: Fetch}, do: {hold: true}}]").requests[0].target, "/v1/faults");
    EXPECT_EQ(step_of("release: gate").requests[0].target, "/v1/faults/gate/release");
    EXPECT_EQ(step_of("remove_faults: all").requests[0].method, Request::Method::delete_);
    EXPECT_EQ(step_of("snapshot: one").requests[0].method, Request::Method::put);
    EXPECT_EQ(step_of("restore: one").requests[0].target, "/v1/snapshots/one/restore");
    EXPECT_EQ(step_of("http: {method: DELETE, path: /v1/groups/g, refused: true}").requests[0].target, "/v1/groups/g");
    EXPECT_EQ(step_of("load: {topic: a, generate: 5}").text, "write 5 records to a");
    EXPECT_EQ(step_of("start: 3").instances, 3);
}

TEST(Scenario, WaitsAndAssertionsHaveConditions) {
    const Step wait = step_of("wait: {members: 2, lag: {group: other, topic: t, at_most: 5}, quiet: 500ms, within: 10s}");
    EXPECT_EQ(wait.time_ms, 10'000);
    ASSERT_EQ(wait.conditions.size(), 3u);
    EXPECT_EQ(wait.conditions[0].group, "billing");
    EXPECT_EQ(wait.text,
              "wait until group billing has 2 members, and group other has at most 5 records left to read in t, and the "
              "application has received nothing for 500 ms");
    EXPECT_EQ(step_of("wait: {received: 1}").time_ms, Scenario::kWaitMs);
    EXPECT_EQ(step_of("assert: {nothing_lost: true}").time_ms, 0);
    // Findings come late, so that their absence has to last.
    EXPECT_EQ(step_of("assert: {findings: {absent: H20}}").time_ms, Scenario::kFindingsMs);
    EXPECT_EQ(step_of("assert: {findings: {absent: H20}, for: 3s}").time_ms, 3000);
    EXPECT_EQ(step_of("assert: {findings: {present: [H03]}}").time_ms, 0);
    EXPECT_EQ(step_of("assert: {order_of_keys: true}", kHeadOfCommits).time_ms, Scenario::kFindingsMs);
}

TEST(Scenario, AMistakeNamesItsPlace) {
    EXPECT_EQ(
        problem_of_step("gorw: {}"),
        "line 4, column 5: steps[0].gorw is no step; allowed: load, start, stop, kill, grow, configs, visibility, nudge, clock, "
        "fault, release, remove_faults, snapshot, restore, http, wait, assert");
    EXPECT_EQ(problem_of_step("grow: {topic: a}"), "line 4, column 5: steps[0].grow needs to");
    EXPECT_EQ(problem_of_step("wait: {within: 5s}"),
              "line 4, column 5: steps[0].wait needs a condition: members, assigned, lag, records, findings, received, quiet, "
              "ended, nothing_lost, nothing_twice or order_of_keys");
    EXPECT_EQ(problem_of_step("wait: {lag: 0, within: 5 hours}"),
              "line 4, column 20: steps[0].wait.within must be a time such as 500ms, 10s or 2m, at most 24h");
    EXPECT_EQ(problem_of_step("assert: {nothing_twice: true}", kHeadOfCommits),
              "line 4, column 14: steps[0].assert.nothing_twice needs an application that reports what it processed: reports: "
              "stdout, or "
              "a topic");
    EXPECT_EQ(problem_of_step("assert: {nothing_lost: false}"),
              "line 4, column 14: steps[0].assert.nothing_lost must be true, or missing");
    EXPECT_THAT(problem_of_step("start: app"), HasSubstr("must be application, or a number of instances"));
    EXPECT_THAT(problem_of_step("{start: 1, stop: application}"), HasSubstr("must be a mapping of one member"));
    EXPECT_THAT(problem_of_step("http: {method: GET, path: v1}"), HasSubstr("path must begin with /"));
    EXPECT_EQ(problem_of("name: n\napplication: {topic: orders}\nsteps: [start: application]\n"),
              "line 2, column 1: application needs a group, or reports: stdout: without commits nothing tells what it received");
    EXPECT_EQ(problem_of("name: n\napplication: {topic: orders, group: g}\nsteps: []\n"),
              "line 3, column 1: steps must have 1 to 1000 steps");
    EXPECT_THAT(problem_of("name: n\n"), StartsWith("line 1, column 1: the document needs application"));
}

TEST(Scenario, StepsAreLimited) {
    std::string text = kHead;
    for (std::size_t step = 0; step < Scenario::kStepsMax; ++step) {
        text += "  - start: 1\n";
    }
    EXPECT_EQ(problem_of(text), "none");
    EXPECT_EQ(problem_of(text + "  - start: 1\n"), "line 3, column 1: steps must have 1 to 1000 steps");
}

}  // namespace
}  // namespace partita::scenarios
