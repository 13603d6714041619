// Tests records that people write over HTTP as plain values: their partition and their batch.

#include "broker/http/written_record.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/record_batch.h"

namespace partita::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(WrittenRecord, GoesToTheChosenPartition) {
    EXPECT_EQ(place_of({.key = "k", .partition = 5}, 6), PartitionIndex{5});
    EXPECT_EQ(place_of({.partition = 9}, 6), PartitionIndex{9}) << "the look-up refuses it";
}

TEST(WrittenRecord, WithoutAPartitionGoesWhereTheJavaClientPutsItsKey) {
    // By Kafka's UtilsTest the hash of "21" is -973932308, so the positive one is 1173551340.
    EXPECT_EQ(place_of({.key = "21"}, 7), PartitionIndex{1173551340 % 7});
    std::set<PartitionIndex> places;
    for (int key = 0; key < 100; ++key) {
        places.insert(place_of({.key = std::to_string(key)}, 3));
    }
    EXPECT_THAT(places, ElementsAre(PartitionIndex{0}, PartitionIndex{1}, PartitionIndex{2}));
}

TEST(WrittenRecord, WithoutAKeyGoesToTheFirstPartition) { EXPECT_EQ(place_of({.value = "v"}, 6), PartitionIndex{0}); }

TEST(WrittenRecord, IsABatchOfOneRecord) {
    const std::vector<std::byte> bytes =
        batch_of({.key = std::nullopt, .value = "v", .headers = {{"a", "1"}, {"b", std::nullopt}}}, TimestampMs{7});
    BatchCursor cursor{Bytes(bytes)};
    ASSERT_TRUE(cursor.next());
    EXPECT_TRUE(check_crc(cursor.batch()));
    int records = 0;
    std::map<std::string, std::optional<std::string>> headers;
    ASSERT_TRUE(for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
        ++records;
        EXPECT_EQ(record.timestamp, TimestampMs{7});
        EXPECT_FALSE(record.key);
        EXPECT_EQ(as_text(record.value.value()), "v");
        RecordHeaderRange range = record.headers();
        for (RecordHeader header; range.next(header);) {
            headers[std::string(header.key)] = header.value ? std::optional(std::string(as_text(*header.value))) : std::nullopt;
        }
        return true;
    }));
    EXPECT_EQ(records, 1);
    EXPECT_THAT(headers, ElementsAre(Pair("a", "1"), Pair("b", std::nullopt)));
    EXPECT_FALSE(cursor.next()) << "one batch";
}

}  // namespace
}  // namespace partita::http
