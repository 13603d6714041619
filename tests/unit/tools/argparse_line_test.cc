// Tests lines of kafka-producer-perf-test against what Kafka's tool said (without its line breaks).

#include "broker/tools/argparse_line.h"

#include <gtest/gtest.h>

#include "broker/tools/text.h"

namespace partita::tools {
namespace {

constexpr ArgparseOption kLineTable[] = {
    {.name = "topic", .is_required = true},
    {.name = "num-records", .kind = ArgumentKind::int64, .is_required = true},
    {.name = "record-size", .kind = ArgumentKind::int32, .is_alternative = true},
    {.name = "payload-file", .is_alternative = true},
    {.name = "payload-monotonic", .kind = ArgumentKind::none, .is_alternative = true},
    {.name = "throughput", .kind = ArgumentKind::real, .is_required = true},
    {.name = "command-property", .kind = ArgumentKind::list},
};

/// The words of the line behind "--topic t --num-records 5", or the error.
std::string read_line(const std::string& rest) {
    const auto line = read_argparse_line(kLineTable, split("--topic t --num-records 5" + (rest.empty() ? "" : " " + rest), ' '));
    return line ? joined(*line, " ") : line.error();
}

TEST(ArgparseLine, EachValueBecomesAWord) {
    EXPECT_EQ(read_line("--through -1 --record-size=7 --command-property a=b c=d"),
              "--command-property=a=b --command-property=c=d --num-records=5 --record-size=7 --throughput=-1 --topic=t");
    EXPECT_EQ(read_line("--throughput 1 --topic u --command-property a=b --command-property c=d --payload-m"),
              "--command-property=c=d --num-records=5 --payload-monotonic --throughput=1 --topic=u");
    EXPECT_EQ(read_line("--record-size x -h"),
              "argument --record-size: could not convert 'x' to Integer (For input string: \"x\")");
    EXPECT_EQ(read_line("-h --lost"), "--help");
}

TEST(ArgparseLine, WordsThatFitNowhereAreNamed) {
    EXPECT_EQ(read_line("--lost"), "unrecognized arguments: '--lost'");
    EXPECT_EQ(read_line("extra --throughput 1"), "unrecognized arguments: 'extra --throughput 1'");
    EXPECT_EQ(read_line("-- x"), "unrecognized arguments: 'x'");
    EXPECT_EQ(read_line("--command-property=a=b extra --throughput 5"), "unrecognized arguments: 'extra --throughput 5'");
    EXPECT_EQ(read_line("--pay x"), "ambiguous option: --pay could match --payload-file, --payload-monotonic");
    EXPECT_EQ(read_line("--payload-m=5"), "argument --payload-monotonic: ignore implicit argument '5'");
    EXPECT_EQ(read_line("--help=5"), "argument -h/--help: ignore implicit argument '5'");
}

TEST(ArgparseLine, ValuesAreConvertedWhereTheyStand) {
    EXPECT_EQ(read_line("--throughput -x"), "argument --throughput: expected one argument");
    EXPECT_EQ(read_line("--throughput -1.5"), "argument --throughput: expected one argument");
    EXPECT_EQ(read_line("--throughput -"), "argument --throughput: could not convert '-' to Double (For input string: \"-\")");
    EXPECT_EQ(read_line("--throughput="), "argument --throughput: could not convert '' to Double (empty String)");
    EXPECT_EQ(read_line("--command-property --throughput 5"), "argument --command-property: expected 1 argument(s)");
    EXPECT_EQ(read_line("--record-size 99999999999"),
              "argument --record-size: could not convert '99999999999' to Integer (For input string: \"99999999999\")");
}

TEST(ArgparseLine, OneOfTheAlternativesIsRequired) {
    EXPECT_EQ(read_line(""), "argument --throughput is required");
    EXPECT_EQ(read_line("--throughput 1"), "one of the arguments --record-size --payload-file --payload-monotonic is required");
    EXPECT_EQ(read_line("--record-size 5 --record-size 6 --payload-monotonic"),
              "argument --payload-monotonic: not allowed with argument --record-size");
}

TEST(ArgparseLine, RealNumbersAreJavas) {
    EXPECT_EQ(parse_real("1e3"), 1000);
    EXPECT_EQ(parse_real(" -2.5d "), -2.5);
    EXPECT_EQ(parse_real(".5f"), 0.5);
    EXPECT_EQ(parse_real("x"), std::nullopt);
    EXPECT_EQ(parse_real("1x"), std::nullopt);
    EXPECT_EQ(parse_real("d"), std::nullopt);
}

}  // namespace
}  // namespace partita::tools
