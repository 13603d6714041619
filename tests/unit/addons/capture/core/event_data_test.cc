#include "broker/addons/capture/core/event_data.h"

#include <gmock/gmock.h>

#include <array>
#include <limits>

#include "protocol/record_batch_builder.h"
#include "tests/unit/addons/capture/avro_events.h"

namespace partita::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr SyncMarker kSync{std::byte{7}};

/// A file with the record in it, read back.
test::AvroEvent written(TimestampMs time, std::optional<Bytes> key, std::optional<Bytes> value,
                        std::span<const RecordHeader> headers = {}) {
    BatchBuilder builder({.base_offset = Offset{41}});
    builder.append(time, key, value, headers);
    std::vector<std::byte> batch;
    builder.build(batch);
    RecordReader reader(*parse_batch(batch));
    RecordView record;
    EXPECT_TRUE(reader.next(record).value_or(false));
    std::vector<std::byte> event;
    append_event(record, event);
    std::vector<std::byte> file;
    append_file_header(kSync, file);
    append_block_header(1, event.size(), file);
    file.insert(file.end(), event.begin(), event.end());
    file.insert(file.end(), kSync.begin(), kSync.end());
    return test::AvroFileReader::read(as_text(file)).at(0);
}

TEST(EventData, HasAllThatARecordHas) {
    const std::array<RecordHeader, 2> headers{RecordHeader{"trace", as_bytes("\xff\x00")}, RecordHeader{"empty", std::nullopt}};
    const test::AvroEvent event = written({1'770'260'649'123}, as_bytes("customer"), as_bytes("order"), headers);
    EXPECT_EQ(event.sequence_number, 41);
    EXPECT_EQ(event.offset, "41");
    EXPECT_EQ(event.enqueued_time, "2/5/2026 3:04:09 AM");
    EXPECT_THAT(event.system_properties,
                ElementsAre(Pair("x-opt-enqueued-time", "0:1770260649123"), Pair("x-opt-kafka-key", "3:customer")));
    EXPECT_THAT(event.properties, ElementsAre(Pair("empty", "3:"), Pair("trace", "3:\xff")));
    EXPECT_EQ(event.body, "order");
}

TEST(EventData, ATombstoneWithoutKeyHasANullBodyAndNoKey) {
    const test::AvroEvent event = written({0}, std::nullopt, std::nullopt);
    EXPECT_EQ(event.body, std::nullopt);
    EXPECT_THAT(event.system_properties, ElementsAre(Pair("x-opt-enqueued-time", "0:0")));
    EXPECT_THAT(event.properties, IsEmpty());
}

TEST(EventData, OfHeadersWithOneNameTheLastOneIsWritten) {
    const std::array<RecordHeader, 4> headers{RecordHeader{"b", as_bytes("1")}, RecordHeader{"a", as_bytes("2")},
                                              RecordHeader{"b", as_bytes("3")}, RecordHeader{"b", as_bytes("4")}};
    EXPECT_THAT(written({0}, std::nullopt, std::nullopt, headers).properties, ElementsAre(Pair("a", "3:2"), Pair("b", "3:4")));
}

TEST(EventData, NamesOfHeadersAreAlwaysText) {
    const std::array<RecordHeader, 1> headers{RecordHeader{"a\xff\xc3", as_bytes("1")}};
    EXPECT_THAT(written({0}, std::nullopt, std::nullopt, headers).properties,
                ElementsAre(Pair("a\xef\xbf\xbd\xef\xbf\xbd", "3:1")));
}

TEST(EventData, TimesAreSpelledAsTheServiceDoes) {
    EXPECT_EQ(enqueued_time_text({0}), "1/1/1970 12:00:00 AM");
    EXPECT_EQ(enqueued_time_text({12 * 3'600'000}), "1/1/1970 12:00:00 PM");
    EXPECT_EQ(enqueued_time_text({1'772'046'189'000}), "2/25/2026 7:03:09 PM");
    EXPECT_EQ(enqueued_time_text({std::numeric_limits<std::int64_t>::max()}), "12/31/9999 11:59:59 PM");
    EXPECT_EQ(enqueued_time_text({std::numeric_limits<std::int64_t>::min()}), "1/1/1 12:00:00 AM");
}

TEST(ValidUtf8, KeepsTextAndReplacesEachByteThatIsNone) {
    const std::string_view mark = "\xef\xbf\xbd";
    EXPECT_EQ(valid_utf8("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb5"), "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb5");
    for (const std::string_view text :
         {"\x80", "\xc0\x80", "\xe2\x82", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5", "\xff"}) {
        std::string expected;
        for (std::size_t index = 0; index < text.size(); ++index) {
            expected += mark;
        }
        EXPECT_EQ(valid_utf8(text), expected);
    }
}

}  // namespace
}  // namespace partita::capture
