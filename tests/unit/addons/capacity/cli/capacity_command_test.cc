// Tests that `partita capacity` sends the right request, and prints the answer or the reason of a refusal.

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "tests/unit/cli/answering_server.h"

namespace partita::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTwoUnits = R"({"units": 2, "units_max": 10,
    "ingress": {"per_second": {"bytes": 2000000, "events": null}, "wait_ms": 0},
    "egress": {"per_second": {"bytes": 4000000, "events": 8192}, "wait_ms": 70},
    "commits_per_partition_and_second": 4,
    "counts": {"incoming_requests": 5, "throttled_requests": 1, "incoming_messages": 30, "outgoing_messages": 20}})";

struct Ran {
    /// Unset when the line is refused.
    std::optional<int> exit_code;
    std::string request;
    std::string output;
    std::string errors;
};
Ran run(std::vector<std::string> words, const std::string& answer = AnsweringServer::http("200 OK", kTwoUnits)) {
    AnsweringServer server(answer);
    words.insert(words.end(), {"--http", server.address()});
    Ran ran;
    const auto action = read_line(program(), words);
    if (!action) {
        return ran;
    }
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    ran.exit_code = (*action)();
    std::fflush(stdout);
    ran.output = ::testing::internal::GetCapturedStdout();
    ran.errors = ::testing::internal::GetCapturedStderr();
    ran.request = server.request();
    return ran;
}

TEST(CapacityCommand, ShowsWhatThereIsWithAndWithoutAWord) {
    for (const std::vector<std::string>& line : {std::vector<std::string>{"capacity"}, {"capacity", "show"}}) {
        const Ran ran = run(line);
        EXPECT_EQ(ran.exit_code, kExitDone);
        EXPECT_EQ(ran.request, "GET /v1/capacity HTTP/1.1");
        EXPECT_THAT(ran.output, StartsWith("2 units, raised automatically up to 10\n"));
        EXPECT_THAT(ran.output, HasSubstr("ingress: 2000000 bytes or unlimited events a second, no wait\n"));
        EXPECT_THAT(ran.output, HasSubstr("a request now waits 70 ms\n"));
    }
}

TEST(CapacityCommand, WithoutUnitsItSaysHowToGetSome) {
    const Ran ran = run({"capacity"}, AnsweringServer::http("200 OK", R"({"units": null})"));
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_THAT(ran.output, StartsWith("no limit"));
}

TEST(CapacityCommand, SetsUnits) {
    const Ran ran = run({"capacity", "set", "2", "--max", "10"});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_EQ(ran.request, "PUT /v1/capacity HTTP/1.1");
    EXPECT_THAT(ran.output, StartsWith("2 units"));
}

TEST(CapacityCommand, WhatTheBrokerRefusesIsUsage) {
    const Ran ran =
        run({"capacity", "set", "0"}, AnsweringServer::http("400 Bad Request", R"({"error": "units must be at least 1"})"));
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_EQ(ran.output, "");
    EXPECT_EQ(ran.errors, "partita: units must be at least 1\n");
}

TEST(CapacityCommand, WhatIsNoNumberAsksNobody) {
    for (const char* units : {"two", "1.5", "2x"}) {
        EXPECT_EQ(run({"capacity", "set", units}).exit_code, std::nullopt) << units;
    }
    EXPECT_EQ(run({"capacity", "set"}).exit_code, std::nullopt);
}

TEST(CapacityCommand, AnAnswerThatIsNotUnderstoodIsBroken) {
    for (const char* body : {"", "{", "[]", "{}", R"({"units": "2"})", R"({"units": 2})"}) {
        const Ran ran = run({"capacity"}, AnsweringServer::http("200 OK", body));
        EXPECT_EQ(ran.exit_code, kExitBroken) << body;
        EXPECT_NE(ran.errors, "") << body;
    }
}

}  // namespace
}  // namespace partita::cli
