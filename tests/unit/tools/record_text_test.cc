// Tests records as text, and text as records.

#include "broker/tools/record_text.h"

#include <gtest/gtest.h>

#include "protocol/record_batch_builder.h"

namespace partita::tools {
namespace {

/// A record in a batch, as it is fetched.
class StoredRecord {
  public:
    StoredRecord(std::optional<std::string_view> key, std::optional<std::string_view> value,
                 const std::vector<RecordHeader>& headers = {}) {
        BatchBuilder builder;
        const auto bytes = [](const auto& text) { return text ? std::optional(as_bytes(*text)) : std::nullopt; };
        builder.append({1234}, bytes(key), bytes(value), headers);
        builder.build(batch_);
    }
    [[nodiscard]] std::string shown(const RecordWriter& writer, const Decoded& decoded = {}) const {
        const Batch batch = *parse_batch(batch_);
        partita::RecordReader reader(batch);
        RecordView view;
        EXPECT_TRUE(reader.next(view).value_or(false));
        std::string text;
        const auto written = writer.write({.topic = "t",
                                           .partition = 3,
                                           .offset = 7,
                                           .timestamp_ms = view.timestamp.value,
                                           .key = view.key,
                                           .value = view.value,
                                           .headers = view.headers()},
                                          decoded, text);
        return written ? text : text + "<" + written.error() + ">";
    }

  private:
    std::vector<std::byte> batch_;
};

std::unique_ptr<RecordWriter> writer_of(const Properties& properties) {
    std::vector<std::string> unknown;
    auto writer = default_writer(properties, unknown);
    EXPECT_EQ(unknown, std::vector<std::string>());
    return writer;
}

const std::vector<RecordHeader> kHeaders{{"a", as_bytes("1")}, {"b", std::nullopt}};

TEST(RecordText, TheDefaultShowsTheValue) {
    EXPECT_EQ(StoredRecord("k", "v").shown(*writer_of({})), "v\n");
    EXPECT_EQ(StoredRecord("k", std::nullopt).shown(*writer_of({})), "null\n");
    EXPECT_EQ(StoredRecord("k", "v").shown(*writer_of({{"print.value", "false"}})), "");
}

TEST(RecordText, PropertiesChooseColumns) {
    const auto writer = writer_of({{"print.timestamp", "true"},
                                   {"print.partition", "TRUE"},
                                   {"print.offset", "true"},
                                   {"print.headers", "true"},
                                   {"print.key", "true"},
                                   {"key.separator", "|"},
                                   {"null.literal", "-"}});
    EXPECT_EQ(StoredRecord(std::nullopt, "v", kHeaders).shown(*writer), "CreateTime:1234|Partition:3|Offset:7|a:1,b:-|-|v\n");
    EXPECT_EQ(StoredRecord("k", "v").shown(*writer_of({{"print.headers", "true"}})), "NO_HEADERS\tv\n");
}

constexpr const char* kInteger = "org.apache.kafka.common.serialization.IntegerDeserializer";

TEST(RecordText, ADeserializerShowsItsObject) {
    const auto writer = writer_of({{"value.deserializer", kInteger}});
    EXPECT_EQ(StoredRecord("k", std::string_view("\0\0\1\0", 4)).shown(*writer), "256\n");
    // Kafka's formatter hands its text for null to the deserializer, and "null" has four bytes.
    EXPECT_EQ(StoredRecord("k", std::nullopt).shown(*writer), "1853189228\n");
}

TEST(RecordText, ColumnsBeforeBytesThatCannotBeDecodedStay) {
    const auto writer = writer_of({{"print.key", "true"}, {"value.deserializer", kInteger}});
    EXPECT_EQ(
        StoredRecord("k", "v").shown(*writer),
        "k\t<org.apache.kafka.common.errors.SerializationException: Size of data received by IntegerDeserializer is not 4>");
}

TEST(RecordText, AnUnknownDeserializerIsNamedAndBytesAreShown) {
    std::vector<std::string> unknown;
    const auto writer = default_writer({{"key.deserializer", "my.Avro"}, {"value.deserializer", "IntegerDeserializer"}}, unknown);
    EXPECT_EQ(unknown, (std::vector<std::string>{"my.Avro", "IntegerDeserializer"}));
    EXPECT_EQ(StoredRecord("k", "v").shown(*writer), "v\n");
}

TEST(RecordText, ARecordOfMessageFormatZeroHasNoTime) {
    const auto writer = writer_of({{"print.timestamp", "true"}});
    std::string text;
    EXPECT_TRUE(writer->write({.topic = "t", .timestamp_type = std::nullopt, .value = as_bytes("v"), .headers = {}}, {}, text));
    EXPECT_EQ(text, "NO_TIMESTAMP\tv\n");
}

TEST(RecordText, FormatsShowWhatTheyName) {
    const StoredRecord record("k", "v", kHeaders);
    EXPECT_EQ(record.shown(**format_writer(R"(%t-%p@%o %T %k=%s %K/%S [%h] 100%%\t\\\n)", false)),
              "t-3@7 1234 k=v 1/1 [a=1,b=NULL] 100%\t\\\n");
    EXPECT_EQ(record.shown(**format_writer("%k%s", true)), "6b76");
    EXPECT_EQ(StoredRecord(std::nullopt, "").shown(**format_writer("%k,%K,%S", false)), ",-1,0");
    EXPECT_EQ(format_writer("%x", false).error(), "the format has the unknown field %x; use %t %p %o %T %k %s %K %S %h");
    EXPECT_EQ(format_writer("a%", false).error(), "the format ends with %");
    EXPECT_EQ(format_writer("\\q", false).error(), "the format has the unknown escape \\q");
    EXPECT_EQ(record.shown(**format_writer(R"(%k\x1f%s\x0A)", false)), "k\x1fv\n");
    for (const char* cut : {"\\x", "\\x1", "\\xzz"}) {
        EXPECT_EQ(format_writer(cut, false).error(), "the format has \\x without two hexadecimal digits");
    }
}

TEST(RecordText, JsonIsReadAsItIsWritten) {
    const StoredRecord record("k\"", std::string_view("\xff\x00", 2), kHeaders);
    const std::string line = record.shown(*json_writer());
    EXPECT_EQ(
        line,
        R"({"topic":"t","partition":3,"offset":7,"timestamp":1234,"headers":[{"key":"a","value":"1"},{"key":"b","value":null}],)"
        R"("key":"k\"","value_hex":"ff00"})"
        "\n");
    const auto read = json_reader()->read(line, 1);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->key, "k\"");
    EXPECT_EQ(read->value, std::string("\xff\x00", 2));
    EXPECT_EQ(read->partition, 3);
    EXPECT_EQ(read->timestamp_ms, 1234);
    ASSERT_EQ(read->headers.size(), 2u);
    EXPECT_EQ(read->headers[1].second, std::nullopt);
    EXPECT_EQ(json_reader()->read(R"({"value":{"a":1}})", 1)->value, R"({"a":1})");
}

TEST(RecordText, JsonThatIsNoRecordIsNamedByItsLine) {
    for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
             {"", "line 5: not a JSON object"},
             {"[]", "line 5: not a JSON object"},
             {R"({"key_hex":"abc"})", "line 5: not hexadecimal: abc"},
             {R"({"partition":"1"})", "line 5: partition is not a number"},
             {R"({"timestamp":true})", "line 5: timestamp is not a number"},
             {R"({"headers":[{"value":"v"}]})", "line 5: a header without a key"},
         }) {
        const auto read = json_reader()->read(line, 5);
        ASSERT_FALSE(read) << line;
        EXPECT_EQ(read.error(), message);
    }
}

TEST(RecordText, LinesAreReadAsKafkasReaderDoes) {
    const auto plain = line_reader({});
    EXPECT_EQ((*plain)->read("a\tb", 1)->value, "a\tb");
    EXPECT_EQ((*plain)->read("", 1)->value, "");
    const auto all = line_reader({{"parse.key", "true"}, {"parse.headers", "true"}, {"null.marker", "NULL"}});
    const auto record = (*all)->read("h:1,i:NULL\tk\tv\tw", 1);
    ASSERT_TRUE(record) << record.error();
    EXPECT_EQ(record->key, "k");
    EXPECT_EQ(record->value, "v\tw");
    ASSERT_EQ(record->headers.size(), 2u);
    EXPECT_EQ(record->headers[0], std::pair(std::string("h"), std::optional(std::string("1"))));
    EXPECT_EQ(record->headers[1].second, std::nullopt);
    EXPECT_EQ((*all)->read("NULL\tNULL\tNULL", 1)->value, std::nullopt);
    EXPECT_EQ((*all)->read("no headers", 3).error(), "No headers delimiter found on line number 3: 'no headers'");
    EXPECT_EQ((*all)->read("h\tk\tv", 3).error(), "No header key separator found in pair 'h' on line number 3");
    EXPECT_EQ((*all)->read("NULL:1\tk\tv", 3).error(),
              "Header keys should not be equal to the null marker 'NULL' as they can't be null");
    EXPECT_EQ((*line_reader({{"parse.key", "true"}, {"ignore.error", "true"}}))->read("no key", 1)->value, "no key");
    EXPECT_EQ(line_reader({{"headers.separator", "\t"}}).error(), "headers.delimiter and headers.separator may not be equal");
    EXPECT_EQ(line_reader({{"null.marker", "\t"}}).error(), "null.marker and key.separator may not be equal");
}

}  // namespace
}  // namespace partita::tools
