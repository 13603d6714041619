// Tests bytes as the text of Java's objects. The expected texts are the output of kafka-console-consumer 4.3.1.

#include "broker/tools/deserializers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace partita::tools {
namespace {

std::string read(const std::string& name, std::string_view bytes) {
    const Deserializer deserializer = find_deserializer("org.apache.kafka.common.serialization." + name + "Deserializer");
    if (deserializer == nullptr) {
        return "no such class";
    }
    const auto text = deserializer(as_bytes(bytes));
    return text ? *text : "<" + text.error().substr(text.error().find(": ") + 2) + ">";
}

using namespace std::string_view_literals;

TEST(Deserializers, NumbersAreBigEndian) {
    EXPECT_EQ(read("Short", "\0\7"sv), "7");
    EXPECT_EQ(read("Integer", "abcd"), "1633837924");
    EXPECT_EQ(read("Long", "?x\0\0\0\0\0\0"sv), "4573405421594738688");
    EXPECT_EQ(read("Float", "abcd"), "2.6100788E20");
    EXPECT_EQ(read("Double", "?x\0\0\0\0\0\0"sv), "0.005859375");
    EXPECT_EQ(read("Boolean", "\1"), "true");
    EXPECT_EQ(read("Boolean", "\0"sv), "false");
}

TEST(Deserializers, AWrongSizeIsToldInKafkasWords) {
    EXPECT_EQ(read("Short", "abc"), "<Size of data received by ShortDeserializer is not 2>");
    EXPECT_EQ(read("Integer", "abc"), "<Size of data received by IntegerDeserializer is not 4>");
    EXPECT_EQ(read("Long", "abcd"), "<Size of data received by LongDeserializer is not 8>");
    EXPECT_EQ(read("Float", "abc"), "<Size of data received by Deserializer is not 4>");
    EXPECT_EQ(read("Double", "abc"), "<Size of data received by Deserializer is not 8>");
    EXPECT_EQ(read("Boolean", ""), "<Size of data received by BooleanDeserializer is not 1>");
    EXPECT_EQ(read("Boolean", "\2"), "<Unexpected byte received by BooleanDeserializer: 2>");
    EXPECT_EQ(read("Void", ""), "<Data should be null for a VoidDeserializer.>");
}

TEST(Deserializers, TextIsUtf8WithReplacements) {
    EXPECT_EQ(read("String", "a\\b\n\x7f\x80\xff\"'~ "), "a\\b\n\x7f\xef\xbf\xbd\xef\xbf\xbd\"'~ ");
    EXPECT_EQ(read("String", "\xc3\xa9"), "\xc3\xa9");
    // One replacement for what a character could have begun with: Java's decoder skips it whole.
    EXPECT_EQ(read("String", "\xe2\x82z"), "\xef\xbf\xbdz");
    EXPECT_EQ(read("String", "\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_EQ(read("String", "\xf0\x9f\x98"), "\xef\xbf\xbd");
}

TEST(Deserializers, BytesAreEscaped) {
    EXPECT_EQ(read("Bytes", "a\\b\n\x7f\x80\xff\"'~ "), "a\\x5Cb\\x0A\\x7F\\x80\\xFF\"'~ ");
    EXPECT_EQ(read("ByteBuffer", "abcd"), "java.nio.HeapByteBuffer[pos=0 lim=4 cap=4]");
}

TEST(Deserializers, UuidsAreReadAsJavaReadsThem) {
    EXPECT_EQ(read("UUID", "123E4567-e89b-12d3-a456-426614174000"), "123e4567-e89b-12d3-a456-426614174000");
    EXPECT_EQ(read("UUID", "1-1-1-1-1"), "00000001-0001-0001-0001-000000000001");
    EXPECT_EQ(read("UUID", "+1-1-1-1-1"), "00000001-0001-0001-0001-000000000001");
    EXPECT_EQ(read("UUID", "123456789-1-1-1-1"), "23456789-0001-0001-0001-000000000001");
    for (const char* bad : {"1-1-1-1", "", "g-1-1-1-1", "00000000-0000-0000-0000-0000000000000", "ffffffffffffffff-1-1-1-1"}) {
        EXPECT_EQ(read("UUID", bad), "<Error parsing data into UUID>") << bad;
    }
}

TEST(Deserializers, RealNumbersLookLikeJavas) {
    constexpr std::pair<double, const char*> kTexts[] = {{0.0, "0.0"},
                                                         {-0.0, "-0.0"},
                                                         {1.0, "1.0"},
                                                         {0.1, "0.1"},
                                                         {0.001, "0.001"},
                                                         {0.0009999, "9.999E-4"},
                                                         {1e7, "1.0E7"},
                                                         {9999999.0, "9999999.0"},
                                                         {12345678.0, "1.2345678E7"},
                                                         {100.0, "100.0"},
                                                         {123456.7, "123456.7"},
                                                         {2e-3, "0.002"},
                                                         {-3.0e-5, "-3.0E-5"},
                                                         {5e-324, "4.9E-324"},
                                                         {2.0e22, "2.0E22"},
                                                         {2.2250738585072014e-308, "2.2250738585072014E-308"},
                                                         {1.7976931348623157e308, "1.7976931348623157E308"},
                                                         {0.3333333333333333, "0.3333333333333333"},
                                                         // Java 17 printed more digits than these need (JDK-4511638).
                                                         {8.41e21, "8.41E21"},
                                                         {1.0e23, "1.0E23"}};
    for (const auto& [number, text] : kTexts) {
        EXPECT_EQ(java_text(number), text);
    }
    EXPECT_EQ(java_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
    EXPECT_EQ(java_text(-std::numeric_limits<double>::infinity()), "-Infinity");
    EXPECT_EQ(java_text(1.4e-45F), "1.4E-45");
    EXPECT_EQ(java_text(3.4e38F), "3.4E38");
    EXPECT_EQ(java_text(0.33333334F), "0.33333334");
}

TEST(Deserializers, OnlyFullNamesOfKafkasClassesAreKnown) {
    EXPECT_EQ(find_deserializer("IntegerDeserializer"), nullptr);
    EXPECT_EQ(find_deserializer("org.apache.kafka.common.serialization.ListDeserializer"), nullptr);
    EXPECT_EQ(find_deserializer("java.lang.String"), nullptr);
}

}  // namespace
}  // namespace partita::tools
