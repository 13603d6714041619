// Tests that completions and manual pages match what the commands take.

#include "broker/cli/completion.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "broker/cli/command.h"
#include "broker/cli/manual.h"
#include "broker/tools/tool.h"

namespace partita::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// A broker that knows two topics and three groups, and remembers who was asked.
struct Broker {
    WhomToAsk asked;
    [[nodiscard]] Completion complete(const Words& words) {
        return cli::complete(program(), words, [&](NameKind kind, const WhomToAsk& whom) {
            asked = whom;
            return kind == NameKind::topic ? Words{"payments", "orders"} : Words{"two words", "$(reboot)", "billing"};
        });
    }
    [[nodiscard]] Words words(const Words& line) {
        Words found;
        for (const Candidate& one : complete(line).candidates) {
            found.push_back(one.word);
        }
        return found;
    }
};

TEST(Completion, EveryOptionOfEveryToolIsOffered) {
    for (const tools::Tool* tool : tools::all_tools()) {
        const Words offered = Broker().words({"partita", std::string(tool->name), "-"});
        for (const tools::Option& option : tool->options) {
            EXPECT_THAT(offered, Contains("--" + std::string(option.name))) << tool->name;
        }
        if (tool->kafka_name.empty()) {
            continue;
        }
        EXPECT_EQ(Broker().words({"/usr/bin/" + std::string(tool->kafka_name) + ".sh", "-"}), offered);
        EXPECT_EQ(Broker().words({std::string(tool->kafka_name), "-"}), offered);
    }
}

TEST(Completion, EveryOptionOfOurOwnCommandsIsOffered) {
    std::size_t options = 0;
    for (const Command& command : program().subcommands) {
        if (command.tool != nullptr) {
            continue;
        }
        const Words offered = Broker().words({"partita", std::string(command.name), "--"});
        for (const tools::Option& option : command.options) {
            EXPECT_THAT(offered, Contains("--" + std::string(option.name))) << command.name;
            ++options;
        }
    }
    EXPECT_GT(options, 40u);
}

TEST(Completion, CommandsComeFirst) {
    const Words offered = Broker().words({"partita", ""});
    for (const char* name : {"serve", "topics", "top", "plan", "quotas"}) {
        EXPECT_THAT(offered, Contains(name));
    }
    EXPECT_THAT(Broker().words({"partita", "to"}), ElementsAre("top", "topics"));
    EXPECT_THAT(Broker().words({"partita", "--ver"}), ElementsAre("--version"));
    EXPECT_THAT(Broker().words({"partita", "--eph"}), ElementsAre("--ephemeral"));
    EXPECT_THAT(Broker().words({"partita", "control", "un"}), ElementsAre("unseed"));
    EXPECT_THAT(Broker().words({"partita", "control", "unseed", "--ep"}), ElementsAre("--epoch"));
    EXPECT_THAT(Broker().words({"partita", "transactions", "fi"}), ElementsAre("find-hanging"));
}

TEST(Completion, ValuesAreThoseThatAnOptionTakes) {
    EXPECT_THAT(Broker().words({"partita", "configs", "--entity-type", "brok"}), ElementsAre("brokers", "broker-loggers"));
    EXPECT_THAT(Broker().words({"partita", "configs", "--entity-type=us"}), ElementsAre("--entity-type=users"));
    EXPECT_THAT(Broker().words({"partita", "plan", "orders", "--picture", "a"}), ElementsAre("auto", "always"));
    EXPECT_THAT(Broker().words({"partita", "completion", "f"}), ElementsAre("fish"));
    EXPECT_THAT(Broker().words({"kafka-topics.sh", "-topic", "o"}), ElementsAre("orders")) << "one dash is as good as two";
}

TEST(Completion, NamesAreTheBrokersAndNoneThatAShellWouldTakeApart) {
    Broker broker;
    EXPECT_THAT(broker.words({"partita", "topics", "--bootstrap-server", "far:9092", "--command-config", "/c", "--topic", ""}),
                ElementsAre("orders", "payments"));
    EXPECT_EQ(broker.asked.bootstrap, "far:9092");
    EXPECT_EQ(broker.asked.properties_file, "/c");
    EXPECT_THAT(broker.words({"partita", "groups", "--bootstrap-server=near:1", "--group", ""}), ElementsAre("billing"));
    EXPECT_EQ(broker.asked.bootstrap, "near:1");
    EXPECT_THAT(broker.words({"partita", "plan", "--http", "web:8092", "o"}), ElementsAre("orders"));
    EXPECT_EQ(broker.asked.http, "web:8092");
    EXPECT_THAT(broker.words({"partita", "plan", "orders", "x"}), IsEmpty()) << "it takes one topic";
    EXPECT_THAT(broker.words({"partita", "log-dirs", "--topic-list", "orders,p"}), ElementsAre("orders,payments"));
    EXPECT_THAT(broker.words({"partita", "log-dirs", "--topic-list=orders,p"}), ElementsAre("--topic-list=orders,payments"));
}

TEST(Completion, OfManyNamesSomeAreOffered) {
    const NameSource many = [](NameKind, const WhomToAsk&) {
        Words names;
        for (std::size_t i = 0; i < 2 * kNamesOfferedMax; ++i) {
            names.push_back("t" + std::to_string(i));
        }
        return names;
    };
    EXPECT_EQ(complete(program(), {"partita", "topics", "--topic", "t"}, many).candidates.size(), kNamesOfferedMax);
}

TEST(Completion, WhereNothingIsKnownFilesAreOffered) {
    EXPECT_TRUE(Broker().complete({"partita", "topics", "--command-config", ""}).takes_files);
    EXPECT_TRUE(Broker().complete({"partita", "plan", "--svg", ""}).takes_files);
    EXPECT_FALSE(Broker().complete({"partita", "topics", "--topic", ""}).takes_files);
}

TEST(Completion, ALineThatMakesNoSenseIsOfferedNothing) {
    for (const Words& line :
         std::vector<Words>{{}, {"partita"}, {"partita", "topics", "--lost=x"}, {"partita", "topics", "--list=x"}}) {
        const Completion found = Broker().complete(line);
        EXPECT_TRUE(found.candidates.empty() && !found.takes_files);
    }
}

TEST(Completion, WordsThatBashBreaksArePutTogether) {
    const auto joined = [](const Words& words) {
        const JoinedWords found = joined_at_breaks(words);
        return std::pair(found.words, found.last_word_begins_at);
    };
    EXPECT_EQ(joined({"partita", "topics", "--topic", "=", "or"}),
              std::pair(Words({"partita", "topics", "--topic=or"}), std::size_t{8}));
    EXPECT_EQ(joined({"partita", "topics", "--topic", "="}), std::pair(Words({"partita", "topics", "--topic="}), std::size_t{8}));
    EXPECT_EQ(joined({"x", "--bootstrap-server", "localhost", ":", "9092", "--to"}),
              std::pair(Words({"x", "--bootstrap-server", "localhost:9092", "--to"}), std::size_t{0}));
    EXPECT_EQ(joined({"x", ""}), std::pair(Words({"x", ""}), std::size_t{0}));
    EXPECT_EQ(joined({}), std::pair(Words(), std::size_t{0}));
}

TEST(CompletionScript, NamesEveryProgramThatIsOurs) {
    for (const Shell shell : {Shell::bash, Shell::zsh, Shell::fish}) {
        const std::string script = completion_script(shell, program());
        EXPECT_THAT(script, AllOf(HasSubstr(" complete "), HasSubstr("kafka-topics.sh"), HasSubstr("kafka-transactions")));
    }
}

TEST(Manual, EveryCommandAndTheProgramHaveAPageWithAllOfTheirOptions) {
    std::vector<Command> commands(program().subcommands.begin(), program().subcommands.end());
    commands.push_back(program());
    for (const Command& command : commands) {
        const std::string page = manual_page(command, "1.2");
        EXPECT_THAT(page, StartsWith(command.name == "partita" ? ".TH PARTITA 1 " : ".TH PARTITA-"));
        for (const tools::Option& option : command.options) {
            std::string name = "--" + std::string(option.name);
            for (std::size_t at = name.find('-'); at != std::string::npos; at = name.find('-', at + 2)) {
                name.insert(at, "\\");
            }
            EXPECT_THAT(page, HasSubstr("\\fB" + name + "\\fR")) << command.name;
        }
        // A line that begins with a dot is a request of roff's.
        for (std::size_t at = page.find("\n."); at != std::string::npos; at = page.find("\n.", at + 1)) {
            EXPECT_THAT((Words{".SH", ".TP", ".BR", ".B ", ".br", ".PP", ".I "}), Contains(page.substr(at + 1, 3)))
                << command.name;
        }
    }
}

TEST(Manual, TextMeansNothingToRoff) {
    static constexpr tools::Option kOptions[] = {{.name = "x", .argument = "", .help = "'a \\n b"}};
    static constexpr Command kOdd{
        .name = "odd", .summary = ".so /etc/passwd\n.sy reboot", .purpose = ".so /etc/passwd\n.sy reboot", .options = kOptions};
    const std::string page = manual_page(kOdd, "1");
    EXPECT_THAT(page, Not(HasSubstr("\n.s")));
    EXPECT_THAT(page, HasSubstr("\\&'a \\en b"));
}

}  // namespace
}  // namespace partita::cli
