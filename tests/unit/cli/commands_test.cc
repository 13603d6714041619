// What a command line is taken for, and the exit codes that scripts rely on.

#include <gmock/gmock.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "broker/cli/suggestions.h"
#include "tests/unit/cli/answering_server.h"

namespace partita::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// As `main` does it.
class CommandLine : public ::testing::Test {
  protected:
    CommandLine() {
        ::unsetenv("PARTITA_HTTP");
        application_.require_subcommand(0, 1);
        add_commands(application_, chosen_);
    }
    /// False when the line is refused.
    [[nodiscard]] bool parse(std::vector<std::string> words) {
        std::ranges::reverse(words);
        try {
            application_.parse(words);
            return true;
        } catch (const CLI::ParseError&) {
            return false;
        }
    }
    struct Ran {
        int exit_code = -1;
        std::string output;
        std::string errors;
    };
    [[nodiscard]] Ran run(const std::vector<std::string>& words) {
        if (!parse(words) || !chosen_) {
            ADD_FAILURE() << "the line is refused";
            return {};
        }
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        Ran ran;
        ran.exit_code = chosen_();
        std::fflush(stdout);
        ran.output = ::testing::internal::GetCapturedStdout();
        ran.errors = ::testing::internal::GetCapturedStderr();
        return ran;
    }

    CLI::App application_{"Partita"};
    Action chosen_;
};

TEST_F(CommandLine, WithoutACommandItServes) {
    EXPECT_TRUE(parse({}));
    EXPECT_TRUE(chosen_ != nullptr);
}

TEST_F(CommandLine, ALineThatLacksSomethingRunsNothing) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"plan"},
             {"plan", "t"},
             {"plan", "t", "--to", "many"},
             {"plan", "t", "--to", "4", "--records", "0"},
             {"plan", "t", "--to", "4", "--fail-on", "everything"},
             {"control"},
             {"control", "nudge"},
             {"control", "unseed", "t"},
             {"partitioner", "java", "-n", "0"},
             {"watch", "--no-such-option"},
             {"dev-security"},
             {"dev-security", "d", "--port", "0"},
             {"dev-security", "d", "--port", "65536"},
             {"--security", "no-such-directory"},
             {"plan", "t", "--to", "4", "watch"},
         }) {
        CLI::App application{"Partita"};
        application.require_subcommand(0, 1);
        Action chosen;
        add_commands(application, chosen);
        std::vector<std::string> reversed(words.rbegin(), words.rend());
        EXPECT_THROW(application.parse(reversed), CLI::ParseError) << ::testing::PrintToString(words);
    }
}

TEST_F(CommandLine, AWordThatIsNearlyOneOfTheLinesIsSuggested) {
    ASSERT_FALSE(parse({"plam", "t", "--to", "4"}));
    EXPECT_EQ(suggestion(application_), "plam: did you mean plan?");
}

TEST_F(CommandLine, OptionsAreSuggestedForTheCommandThatTheLineNames) {
    ASSERT_FALSE(parse({"plan", "t", "--to", "4", "--record=5"}));
    EXPECT_EQ(suggestion(application_), "--record: did you mean --records?");
}

TEST_F(CommandLine, NothingIsSuggestedForWhatIsNearToNothing) {
    ASSERT_FALSE(parse({"frobnicate"}));
    EXPECT_EQ(suggestion(application_), std::nullopt);
}

TEST_F(CommandLine, ASecureDirectoryIsMadeOnceAndThenRefused) {
    const std::string above = ::testing::TempDir() + "dev-security-command-" + std::to_string(::getpid());
    const Ran made = run({"dev-security", above + "/sec", "--user", "billing", "--mtls"});
    EXPECT_EQ(made.exit_code, kExitDone) << made.errors;
    EXPECT_THAT(made.output, HasSubstr("  partita --security " + above + "/sec\n"));
    for (const char* name : {"ca.pem", "server.pem", "broker.properties", "billing.properties", "billing.mtls.properties"}) {
        EXPECT_TRUE(std::filesystem::exists(above + "/sec/" + name)) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(above + "/sec/app.properties"));
    const Ran again = run({"dev-security", above + "/sec"});
    EXPECT_EQ(again.exit_code, kExitUsage);
    EXPECT_THAT(again.errors, HasSubstr("--overwrite"));
    EXPECT_EQ(again.output, "");
    std::filesystem::remove_all(above);
}

TEST_F(CommandLine, ADirectoryWithoutSettingsStartsNoBroker) {
    const std::string empty = ::testing::TempDir() + "no-security-" + std::to_string(::getpid());
    std::filesystem::create_directory(empty);
    const Ran ran = run({"--security", empty});
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_THAT(ran.errors, HasSubstr("partita dev-security " + empty + " makes it"));
    std::filesystem::remove_all(empty);
}

TEST_F(CommandLine, AnAnswerOfTheBrokerIsPrintedAndTheCommandIsDone) {
    AnsweringServer server(AnsweringServer::http("200 OK", "{\"mode\":\"fenced\"}\n"));
    const Ran ran = run({"control", "show", "a topic", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_EQ(ran.output, "{\"mode\":\"fenced\"}\n");
    EXPECT_EQ(server.request(), "GET /v1/topics/a%20topic/protection HTTP/1.1");
}

TEST_F(CommandLine, WhatTheBrokerRefusesIsUsageAndGoesToStandardError) {
    AnsweringServer server(AnsweringServer::http("404 Not Found", "{\"error\":\"there is no topic t\"}\n"));
    const Ran ran = run({"control", "unseed", "t", "--epoch", "2", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_EQ(ran.output, "");
    EXPECT_THAT(ran.errors, HasSubstr("there is no topic t"));
    EXPECT_EQ(server.request(), "DELETE /v1/topics/t/seeds?epoch=2 HTTP/1.1");
}

TEST_F(CommandLine, WhatTheBrokerCannotDoIsBroken) {
    AnsweringServer server(AnsweringServer::http("503 Service Unavailable", "{\"error\":\"it stops\"}\n"));
    EXPECT_EQ(run({"control", "nudge", "t", "--http", server.address()}).exit_code, kExitBroken);
}

TEST_F(CommandLine, TheEnvironmentNamesTheBrokerUnlessTheLineDoes) {
    ::setenv("PARTITA_HTTP", "host:not-a-port", 1);
    CLI::App application{"Partita"};
    Action chosen;
    add_commands(application, chosen);
    std::vector<std::string> words{"t", "show", "control"};
    application.parse(words);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(chosen(), kExitUsage);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("host:not-a-port"));
    ::unsetenv("PARTITA_HTTP");
}

TEST_F(CommandLine, APlanThatIsRefusedIsUsage) {
    for (const std::string status : {"400 Bad Request", "403 Forbidden", "404 Not Found"}) {
        AnsweringServer server(AnsweringServer::http(status, "{\"error\":\"no\"}\n"));
        EXPECT_EQ(run({"plan", "t", "--to", "4", "--quiet", "--http", server.address()}).exit_code, kExitUsage) << status;
    }
}

TEST_F(CommandLine, WhatIsNoPlanIsBroken) {
    for (const std::string body : {"", "{\"plan\":{\"verdict\":7}}\n", "{\"plan\":{\"verdict\":\"safe\"}}\n",
                                   "{\"error\":\"topic t was deleted meanwhile\"}\n", "hello\n"}) {
        AnsweringServer server(AnsweringServer::http("200 OK", body));
        const Ran ran = run({"plan", "t", "--to", "4", "--quiet", "--http", server.address()});
        EXPECT_EQ(ran.exit_code, kExitBroken) << body;
        EXPECT_EQ(ran.output, "") << body;
        EXPECT_THAT(ran.errors, StartsWith("partita: ")) << body;
    }
}

TEST_F(CommandLine, APlanIsNotAskedForByAPartitionerThatNobodyKnows) {
    const Ran ran = run({"plan", "t", "--to", "4", "--partitioner", "jav"});
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_THAT(ran.errors, HasSubstr("did you mean java"));
}

TEST_F(CommandLine, PartitionersAreListed) {
    const Ran ran = run({"partitioner", "--list"});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_THAT(ran.output, HasSubstr("murmur2-pos"));
}

TEST_F(CommandLine, APartitionerNeedsANameThatPlacesKeysAndACount) {
    EXPECT_THAT(run({"partitioner"}).errors, HasSubstr("which partitioner?"));
    EXPECT_EQ(run({"partitioner"}).exit_code, kExitUsage);
    EXPECT_EQ(run({"partitioner", "no-such-client"}).exit_code, kExitUsage);
    EXPECT_THAT(run({"partitioner", "java"}).errors, HasSubstr("--partitions"));
}

TEST_F(CommandLine, WatchingEndsBrokenWhenTheBrokerEndsIt) {
    const std::string event =
        R"({"event":"opened","time_ms":0,"finding":{"id":"H03","severity":"block","subject":{"topic":"t"},"condition":"c","advice":"a"}})";
    AnsweringServer server(AnsweringServer::http("200 OK", event + "\n" + R"({"finding":{}})" + "\n"));
    const Ran ran = run({"watch", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitBroken);
    EXPECT_THAT(ran.output, HasSubstr("opened  block H03 t: c\n"));
    EXPECT_THAT(ran.errors, HasSubstr("the broker ends the events"));
}

TEST_F(CommandLine, WatchingSaysWhoseFindingsTheyAre) {
    AnsweringServer server("HTTP/1.1 200 OK\r\nPartita-Broker: node=1; data=/d\r\nContent-Length: 0\r\n\r\n");
    const Ran ran = run({"watch", "--json", "--http", server.address()});
    EXPECT_THAT(ran.errors, StartsWith("partita: watching the broker node=1; data=/d\n"));
    EXPECT_EQ(ran.output, "") << "where scripts read events";
}

TEST_F(CommandLine, EventsOfOtherTopicsAreLeftOut) {
    const std::string event = R"({"event":"closed","time_ms":0,"finding":{"id":"H03","severity":"info","subject":{"topic":"t"},)"
                              R"("condition":"c","advice":"a"}})";
    AnsweringServer server(AnsweringServer::http("200 OK", event + "\n"));
    EXPECT_EQ(run({"watch", "--topic", "u", "--json", "--http", server.address()}).output, "");
}

TEST_F(CommandLine, AGroupsPartitionsAreWatchedUntilTheBrokerEnds) {
    const std::string body =
        R"({"time_ms":0,"members":[{"member_id":"m","instance_id":null,"client_id":"web"}],"takeovers":[],"partitions":[)"
        R"({"topic":"t","partition":3,"member_id":"m","claim":2,"since_ms":0,"free_since_ms":null,"checkpoint":null}]})";
    AnsweringServer server(AnsweringServer::http("200 OK", body));
    const Ran ran = run({"watch", "--ownership", "g", "--every-ms", "50", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitBroken);
    EXPECT_THAT(ran.output, HasSubstr("owner    t 3: web, claim 2, no commit\n"));
    AnsweringServer strange(AnsweringServer::http("200 OK", "{}"));
    EXPECT_THAT(run({"watch", "--ownership", "g", "--http", strange.address()}).errors, HasSubstr("does not know"));
}

}  // namespace
}  // namespace partita::cli
