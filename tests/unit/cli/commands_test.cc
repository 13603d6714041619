// Tests how command lines are understood, and the exit codes that scripts rely on.

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "tests/unit/cli/answering_server.h"

namespace partita::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Reads and runs command lines as `main` does.
class CommandsTest : public ::testing::Test {
  protected:
    CommandsTest() { ::unsetenv("PARTITA_HTTP"); }

    /// The reason of the refusal; empty when the line is not refused.
    [[nodiscard]] static std::string refusal(const std::vector<std::string>& words) {
        const auto action = read_line(program(), words);
        return action ? "" : action.error();
    }
    struct Ran {
        int exit_code = -1;
        std::string output;
        std::string errors;
    };
    [[nodiscard]] static Ran run(const std::vector<std::string>& words) {
        const auto action = read_line(program(), words);
        if (!action) {
            ADD_FAILURE() << "the line is refused: " << action.error();
            return {};
        }
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        Ran ran;
        ran.exit_code = (*action)();
        std::fflush(stdout);
        ran.output = ::testing::internal::GetCapturedStdout();
        ran.errors = ::testing::internal::GetCapturedStderr();
        return ran;
    }
};

TEST_F(CommandsTest, ALineThatLacksSomethingRunsNothing) {
    for (const auto& [words, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"plan"}, "TOPIC is required"},
             {{"plan", "t"}, "--to is required"},
             {{"plan", "t", "--to"}, "--to needs an argument"},
             {{"plan", "t", "--to", "many"}, "--to is many; use a whole number"},
             {{"plan", "t", "--to", "4", "--to", "5"}, "--to is given twice"},
             {{"plan", "t", "--to", "4", "--records", "0"}, "--records is 0; use a whole number from 1 on"},
             {{"plan", "t", "--to", "4", "--fail-on", "everything"}, "--fail-on is everything; use warn or block"},
             {{"plan", "t", "--to", "4", "--json=yes"}, "--json takes no argument"},
             {{"control"}, "`partita control` needs one of: show, nudge, visibility, unseed"},
             {{"control", "nudge"}, "TOPIC is required"},
             {{"control", "unseed", "t"}, "--epoch is required"},
             {{"partitioner", "java", "-n", "0"}, "--partitions is 0; use a whole number from 1 to 2147483647"},
             {{"partitioner", "java", "-z"}, "-z is not an option of `partita partitioner`"},
             {{"watch", "--no-such-option"}, "--no-such-option is not an option of `partita watch`"},
             {{"watch", "--every-ms", "49"}, "--every-ms is 49; use a whole number from 50"},
             {{"top", "--interval", "0.05"}, "--interval is 0.05; use a number of seconds from 0.1"},
             {{"dev-security"}, "DIR is required"},
             {{"dev-security", "d", "--port", "0"}, "--port is 0; use a port"},
             {{"dev-security", "d", "--port", "65536"}, "--port is 65536; use a port"},
             {{"--security", "no-such-directory"}, "--security is no-such-directory; use an existing directory"},
             {{"--config", "/"}, "--config is /; use an existing file"},
             {{"completion", "tcsh"}, "SHELL is tcsh; use bash, zsh or fish"},
             {{"plan", "t", "--to", "4", "watch"}, "unexpected watch after `partita plan`"},
         }) {
        EXPECT_THAT(refusal(words), StartsWith(why)) << ::testing::PrintToString(words);
    }
}

TEST_F(CommandsTest, OptionsAreReadInEveryWayThatPeopleWriteThem) {
    static std::vector<std::string> given;
    static constexpr tools::Option kPositionals[] = {{.name = "NAME", .argument = "", .help = ""}};
    static constexpr tools::Option kOptions[] = {
        {.name = "count", .argument = "number", .help = "", .default_value = "7", .alias = "n", .check = kWholeNumber},
        {.name = "flag", .argument = "", .help = "", .alias = "f"},
        {.name = "many", .argument = "text", .help = "", .alias = "m", .may_repeat = true},
    };
    static constexpr Command kTried{
        .name = "tried", .summary = "", .options = kOptions, .positionals = kPositionals, .run = [](const CommandLine& line) {
            given = {line.value("NAME"), std::to_string(*line.integer("count")), line.has("flag") ? "flag" : ""};
            for (const std::string& each : line.values("many")) {
                given.push_back(each);
            }
            return 0;
        }};
    const auto read = [](const std::vector<std::string>& words) {
        const auto action = read_line(kTried, words);
        return action && (*action)() == 0 ? given : std::vector<std::string>{action ? "" : action.error()};
    };
    using Words = std::vector<std::string>;
    EXPECT_EQ(read({}), (Words{"", "7", ""}));
    EXPECT_EQ(read({"x", "--count", "-3", "--flag"}), (Words{"x", "-3", "flag"}));
    EXPECT_EQ(read({"--count=3", "x", "-f", "-f"}), (Words{"x", "3", "flag"}));
    EXPECT_EQ(read({"-n", "3", "-fn4"}).front(), "--count is given twice (`partita --help` lists commands and options)");
    EXPECT_EQ(read({"-fn4"}), (Words{"", "4", "flag"}));
    EXPECT_EQ(read({"-n=4"}), (Words{"", "4", ""}));
    EXPECT_EQ(read({"-m", "a=b", "--many", "--c", "--many="}), (Words{"", "7", "", "a=b", "--c", ""}));
    EXPECT_EQ(read({"--", "--flag"}), (Words{"--flag", "7", ""}));
    EXPECT_EQ(read({"-"}), (Words{"-", "7", ""}));
    EXPECT_THAT(read({"-count", "3"}).front(), StartsWith("-c is not an option"));
    EXPECT_THAT(read({"--n", "3"}).front(), StartsWith("--n is not an option"));
}

TEST_F(CommandsTest, WordsThatAreNearlyRightAreSuggested) {
    EXPECT_THAT(refusal({"plam", "t", "--to", "4"}), StartsWith("plam is not a command; did you mean plan?"));
    EXPECT_THAT(refusal({"plan", "t", "--to", "4", "--record=5"}),
                StartsWith("--record is not an option of `partita plan`; did you mean --records?"));
    EXPECT_EQ(refusal({"frobnicate"}), "frobnicate is not a command (`partita --help` lists commands and options)");
}

TEST_F(CommandsTest, HelpIsOutputAndNamesWhatACommandTakes) {
    const Ran plan = run({"plan", "--help"});
    EXPECT_EQ(plan.exit_code, kExitDone);
    EXPECT_EQ(plan.errors, "");
    EXPECT_THAT(plan.output, StartsWith("usage: partita plan TOPIC [OPTION]...\n\npredict the effects of adding partitions"));
    EXPECT_THAT(plan.output, HasSubstr("  --fail-on <severity>"));
    EXPECT_THAT(plan.output, HasSubstr("localhost:8092) ($PARTITA_HTTP)"));
    EXPECT_EQ(run({"plan", "t", "-h"}).output, plan.output) << "whatever else the line says";
    const Ran all = run({"--help"});
    EXPECT_THAT(all.output, StartsWith("usage: partita [COMMAND] [OPTION]...\n"));
    EXPECT_THAT(all.output, HasSubstr("\nCommands:\n  "));
    EXPECT_THAT(all.output, HasSubstr("\nKafka's tools:\n  acls "));
    EXPECT_THAT(run({"control", "--help"}).output, HasSubstr("  unseed "));
    EXPECT_THAT(run({"--version"}).output, StartsWith("partita "));
}

/// One style and one mood: "read settings from this file", and not "The file." or "Reads settings."
void expect_good_help(std::string_view help, const std::string& where) {
    EXPECT_FALSE(help.empty()) << where;
    EXPECT_FALSE(help.ends_with('.') && !help.ends_with("...")) << where << ": " << help;
    const std::string_view first = help.substr(0, help.find(' '));
    const bool is_name = std::ranges::any_of(first, [](unsigned char letter) { return std::isdigit(letter) != 0; });
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(help.front())) != 0 || is_name) << where << ": " << help;
    for (const char* word : {"the", "a", "an", "only", "what", "who", "how", "where", "from", "of", "not"}) {
        EXPECT_NE(first, word) << where << ": " << help;
    }
}

void expect_good_helps(const Command& command, const std::string& path) {
    expect_good_help(command.summary, path);
    for (const tools::Option& option : command.options) {
        // "not served: ask a broker" is the whole truth about it.
        if (!option.help.starts_with("not served")) {
            expect_good_help(option.help, path + " --" + std::string(option.name));
        }
    }
    for (const Command& below : command.subcommands) {
        expect_good_helps(below, path + " " + std::string(below.name));
    }
}

TEST_F(CommandsTest, HelpIsInOneMood) { expect_good_helps(program(), "partita"); }

TEST_F(CommandsTest, ASecureDirectoryIsMadeOnceAndThenRefused) {
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

TEST_F(CommandsTest, ADirectoryWithoutSettingsStartsNoBroker) {
    const std::string empty = ::testing::TempDir() + "no-security-" + std::to_string(::getpid());
    std::filesystem::create_directory(empty);
    const Ran ran = run({"--security", empty});
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_THAT(ran.errors, HasSubstr("partita dev-security " + empty + " creates it"));
    std::filesystem::remove_all(empty);
}

TEST_F(CommandsTest, AnAnswerOfTheBrokerIsPrintedAndTheCommandIsDone) {
    AnsweringServer server(AnsweringServer::http("200 OK", "{\"mode\":\"fenced\"}\n"));
    const Ran ran = run({"control", "show", "a topic", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_EQ(ran.output, "{\"mode\":\"fenced\"}\n");
    EXPECT_EQ(server.request(), "GET /v1/topics/a%20topic/protection HTTP/1.1");
}

TEST_F(CommandsTest, WhatTheBrokerRefusesIsUsageAndGoesToStandardError) {
    AnsweringServer server(AnsweringServer::http("404 Not Found", "{\"error\":\"there is no topic t\"}\n"));
    const Ran ran = run({"control", "unseed", "t", "--epoch", "2", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_EQ(ran.output, "");
    EXPECT_THAT(ran.errors, HasSubstr("there is no topic t"));
    EXPECT_EQ(server.request(), "DELETE /v1/topics/t/seeds?epoch=2 HTTP/1.1");
}

TEST_F(CommandsTest, WhatTheBrokerCannotDoIsBroken) {
    AnsweringServer server(AnsweringServer::http("503 Service Unavailable", "{\"error\":\"it stops\"}\n"));
    EXPECT_EQ(run({"control", "nudge", "t", "--http", server.address()}).exit_code, kExitBroken);
}

TEST_F(CommandsTest, TheEnvironmentNamesTheBrokerUnlessTheLineDoes) {
    ::setenv("PARTITA_HTTP", "host:not-a-port", 1);
    const Ran by_environment = run({"control", "show", "t"});
    EXPECT_EQ(by_environment.exit_code, kExitUsage);
    EXPECT_THAT(by_environment.errors, HasSubstr("host:not-a-port"));
    EXPECT_THAT(run({"control", "show", "t", "--http", "other:no-port"}).errors, HasSubstr("other:no-port"));
    ::unsetenv("PARTITA_HTTP");
}

TEST_F(CommandsTest, APlanThatIsRefusedIsUsage) {
    for (const std::string status : {"400 Bad Request", "403 Forbidden", "404 Not Found"}) {
        AnsweringServer server(AnsweringServer::http(status, "{\"error\":\"no\"}\n"));
        EXPECT_EQ(run({"plan", "t", "--to", "4", "--quiet", "--http", server.address()}).exit_code, kExitUsage) << status;
    }
}

TEST_F(CommandsTest, WhatIsNoPlanIsBroken) {
    for (const std::string body : {"", "{\"plan\":{\"verdict\":7}}\n", "{\"plan\":{\"verdict\":\"safe\"}}\n",
                                   "{\"error\":\"topic t was deleted meanwhile\"}\n", "hello\n"}) {
        AnsweringServer server(AnsweringServer::http("200 OK", body));
        const Ran ran = run({"plan", "t", "--to", "4", "--quiet", "--http", server.address()});
        EXPECT_EQ(ran.exit_code, kExitBroken) << body;
        EXPECT_EQ(ran.output, "") << body;
        EXPECT_THAT(ran.errors, StartsWith("partita: ")) << body;
    }
}

TEST_F(CommandsTest, APlanIsNotAskedForByAPartitionerThatNobodyKnows) {
    const Ran ran = run({"plan", "t", "--to", "4", "--partitioner", "jav"});
    EXPECT_EQ(ran.exit_code, kExitUsage);
    EXPECT_THAT(ran.errors, HasSubstr("did you mean java"));
}

TEST_F(CommandsTest, SettingsThatTheClientOfAPlanDoesNotKnowAreRefusedBeforeAnybodyIsAsked) {
    for (const auto& [setting, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"no.such.setting=1", "-X no.such.setting: unknown setting of the client"},
             {"sasl.usernam=a", "did you mean sasl.username?"},
             {"nonsense", "-X nonsense: use KEY=VALUE"},
             {"request.timeout.ms=soon", "Invalid value soon for configuration request.timeout.ms"},
             {"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=GSSAPI is not served"},
         }) {
        const Ran ran = run({"plan", "t", "--to", "4", "--bootstrap", "127.0.0.1:1", "-X", setting});
        EXPECT_EQ(ran.exit_code, kExitUsage) << setting;
        EXPECT_THAT(ran.errors, HasSubstr(sentence)) << setting;
        EXPECT_EQ(ran.output, "") << setting;
    }
}

TEST_F(CommandsTest, PartitionersAreListed) {
    const Ran ran = run({"partitioner", "--list"});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_THAT(ran.output, HasSubstr("murmur2-pos"));
}

TEST_F(CommandsTest, APartitionerNeedsANameThatPlacesKeysAndACount) {
    EXPECT_THAT(run({"partitioner"}).errors, HasSubstr("a partitioner is missing"));
    EXPECT_EQ(run({"partitioner"}).exit_code, kExitUsage);
    EXPECT_EQ(run({"partitioner", "no-such-client"}).exit_code, kExitUsage);
    EXPECT_THAT(run({"partitioner", "java"}).errors, HasSubstr("--partitions"));
}

TEST_F(CommandsTest, WatchingEndsBrokenWhenTheBrokerEndsIt) {
    const std::string event =
        R"({"event":"opened","time_ms":0,"finding":{"id":"H03","severity":"block","subject":{"topic":"t"},"condition":"c","advice":"a"}})";
    AnsweringServer server(AnsweringServer::http("200 OK", event + "\n" + R"({"finding":{}})" + "\n"));
    const Ran ran = run({"watch", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitBroken);
    EXPECT_THAT(ran.output, HasSubstr("opened  block H03 t: c\n"));
    EXPECT_THAT(ran.errors, HasSubstr("the broker ended the event stream"));
}

TEST_F(CommandsTest, WatchingTellsWhatWasMarkedAsSeenFromWhatIsOver) {
    const std::string event = R"({"event":"closed","seen":true,"time_ms":0,"finding":{"id":"H06","severity":"warn",)"
                              R"("subject":{"topic":"t"},"condition":"c","advice":"a"}})";
    AnsweringServer server(AnsweringServer::http("200 OK", event + "\n"));
    EXPECT_THAT(run({"watch", "--http", server.address()}).output, HasSubstr("seen    warn H06 t: c\n"));
}

TEST_F(CommandsTest, WatchingSaysWhoseFindingsTheyAre) {
    AnsweringServer server("HTTP/1.1 200 OK\r\nPartita-Broker: node=1; data=/d\r\nContent-Length: 0\r\n\r\n");
    const Ran ran = run({"watch", "--json", "--http", server.address()});
    EXPECT_THAT(ran.errors, StartsWith("partita: watching the broker node=1; data=/d\n"));
    EXPECT_EQ(ran.output, "") << "where scripts read events";
}

TEST_F(CommandsTest, EventsOfOtherTopicsAreLeftOut) {
    const std::string event = R"({"event":"closed","time_ms":0,"finding":{"id":"H03","severity":"info","subject":{"topic":"t"},)"
                              R"("condition":"c","advice":"a"}})";
    AnsweringServer server(AnsweringServer::http("200 OK", event + "\n"));
    EXPECT_EQ(run({"watch", "--topic", "u", "--json", "--http", server.address()}).output, "");
}

constexpr const char* kHarmFound =
    R"({"id":"H06","severity":"warn","kind":"harm","subject":{"topic":"t","group":"g"},"condition":"c","advice":"a",)"
    R"("state":"open","opened_ms":0,"restored":true})";
constexpr const char* kDangerPast =
    R"({"id":"H03","severity":"block","kind":"danger","subject":{"topic":"t"},"condition":"d","advice":"b",)"
    R"("state":"over","opened_ms":0,"closed_ms":1000,"ended":"stopped"})";

std::string findings_answer(const std::string& findings) {
    return AnsweringServer::http("200 OK", R"({"findings":[)" + findings + "]}");
}

TEST_F(CommandsTest, FindingsAreListedWithWhatIsOverOnRequest) {
    AnsweringServer server(findings_answer(std::string(kHarmFound) + "," + kDangerPast));
    const Ran ran = run({"findings", "--topic", "t", "--all", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_THAT(ran.output, HasSubstr("H06 warn harm t: c\n    open since 19"));
    EXPECT_THAT(ran.output, HasSubstr(", before the broker's last start\n    a\n"));
    EXPECT_THAT(ran.output, HasSubstr("H03 block danger t: d\n"));
    EXPECT_THAT(ran.output, HasSubstr(", when the broker stopped\n    b\n"));
    EXPECT_EQ(server.request(), "GET /v1/findings?state=all&topic=t HTTP/1.1");
}

TEST_F(CommandsTest, FindingsAreChosenByIdAndGroup) {
    const std::string both = std::string(kHarmFound) + "," + kDangerPast;
    AnsweringServer by_group(findings_answer(both));
    EXPECT_THAT(run({"findings", "--group", "g", "--json", "--http", by_group.address()}).output, Not(HasSubstr("H03")));
    AnsweringServer by_id(findings_answer(both));
    EXPECT_EQ(run({"findings", "--id", "H20", "--http", by_id.address()}).output, "no open findings\n");
}

TEST_F(CommandsTest, HarmIsMarkedAsSeen) {
    AnsweringServer server(AnsweringServer::http("200 OK", R"({"seen":1})"));
    const Ran ran = run({"findings", "--seen", "--topic", "t", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitDone);
    EXPECT_EQ(ran.output, "marked 1 finding as seen\n");
    EXPECT_EQ(server.request(), "POST /v1/findings/seen HTTP/1.1");
}

TEST_F(CommandsTest, FindingsThatTheBrokerRefusesOrThatAreNoneAreAFailure) {
    AnsweringServer refusing(AnsweringServer::http("403 Forbidden", R"({"error":"User:a lacks ALTER TOPIC on t"})"));
    const Ran refused = run({"findings", "--seen", "--http", refusing.address()});
    EXPECT_EQ(refused.exit_code, kExitUsage);
    EXPECT_THAT(refused.errors, HasSubstr("lacks ALTER TOPIC on t"));
    AnsweringServer strange(AnsweringServer::http("200 OK", "{}"));
    const Ran ran = run({"findings", "--http", strange.address()});
    EXPECT_EQ(ran.exit_code, kExitBroken);
    EXPECT_THAT(ran.errors, HasSubstr("gave an unknown answer"));
    EXPECT_EQ(run({"findings", "--seen", "--all"}).exit_code, kExitUsage);
}

TEST_F(CommandsTest, AGroupsPartitionsAreWatchedUntilTheBrokerEnds) {
    const std::string body =
        R"({"time_ms":0,"members":[{"member_id":"m","instance_id":null,"client_id":"web"}],"takeovers":[],"partitions":[)"
        R"({"topic":"t","partition":3,"member_id":"m","claim":2,"since_ms":0,"free_since_ms":null,"checkpoint":null}]})";
    AnsweringServer server(AnsweringServer::http("200 OK", body));
    const Ran ran = run({"watch", "--ownership", "g", "--every-ms", "50", "--http", server.address()});
    EXPECT_EQ(ran.exit_code, kExitBroken);
    EXPECT_THAT(ran.output, HasSubstr("owner    t 3: web, claim 2, no commit\n"));
    AnsweringServer strange(AnsweringServer::http("200 OK", "{}"));
    EXPECT_THAT(run({"watch", "--ownership", "g", "--http", strange.address()}).errors, HasSubstr("gave an unknown answer"));
}

}  // namespace
}  // namespace partita::cli
