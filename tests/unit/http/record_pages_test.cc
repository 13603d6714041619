// Tests pages of records over HTTP as plain values: which page a query asks for, and how the answer tells it.

#include "broker/http/record_pages.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace partita::http {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::expected<RecordsWish, std::string> parse(std::string_view query) {
    return parse_records_wish(*parse_target("/v1/topics/t/partitions/0/records?" + std::string(query)));
}

TEST(RecordsWish, WithoutParametersIsTheFirstHundredRecords) {
    const auto wish = parse("");
    ASSERT_TRUE(wish) << wish.error();
    EXPECT_EQ(wish->start, logs::PageStart(logs::PartitionStart{}));
    EXPECT_EQ(wish->limits.records, 100U);
    EXPECT_EQ(wish->limits.key, std::nullopt);
}

TEST(RecordsWish, BeginsAtAnOffsetOrATime) {
    EXPECT_EQ(parse("from=12")->start, logs::PageStart(Offset{12}));
    EXPECT_EQ(parse("time_ms=12")->start, logs::PageStart(TimestampMs{12}));
}

TEST(RecordsWish, HasALimit) {
    EXPECT_EQ(parse("limit=1")->limits.records, 1U);
    EXPECT_EQ(parse("limit=1000")->limits.records, static_cast<std::size_t>(kRecordsMax));
    for (const char* query : {"limit=0", "limit=1001", "limit=x"}) {
        EXPECT_FALSE(parse(query)) << query;
    }
}

TEST(RecordsWish, MayNameAKeyAsTextOrAsBytes) {
    EXPECT_EQ(parse("key=a%20b")->limits.key, "a b");
    EXPECT_EQ(parse("key=")->limits.key, "");
    EXPECT_EQ(parse("key_hex=00ff")->limits.key, std::string("\0\xff", 2));
    EXPECT_FALSE(parse("key_hex=0")) << "half a byte";
    EXPECT_FALSE(parse("key_hex=0g"));
}

TEST(RecordsWish, ContradictionsNameBothParameters) {
    EXPECT_THAT(parse("from=1&time_ms=1").error(),
                ::testing::AllOf(::testing::HasSubstr("\"from\""), ::testing::HasSubstr("\"time_ms\"")));
    EXPECT_THAT(parse("key=a&key_hex=00").error(),
                ::testing::AllOf(::testing::HasSubstr("\"key\""), ::testing::HasSubstr("\"key_hex\"")));
}

TEST(RecordsWish, AWrongNumberIsNamed) {
    for (const char* name : {"from", "time_ms"}) {
        for (const char* value : {"-1", "x", "", "9223372036854775808"}) {
            const auto wish = parse(std::string(name) + "=" + value);
            ASSERT_FALSE(wish) << name << value;
            EXPECT_THAT(wish.error(), ::testing::StartsWith(std::string(name) + "=" + value));
        }
    }
}

TEST(RecordPages, AMissingPageIsNotFoundUnlessTheDiskFailed) {
    EXPECT_EQ(status_without_page(logs::Outcome::offset_out_of_range), Status::not_found);
    EXPECT_EQ(status_without_page(logs::Outcome::unknown_partition), Status::not_found);
    EXPECT_EQ(status_without_page(logs::Outcome::storage_failed), Status::internal_error);
}

TEST(RecordPages, TellRecordsAndDamageAndWhereTheNextPageBegins) {
    logs::RecordPage page{
        .records =
            {{.offset = {4}, .timestamp = {7}, .key = "k", .value = std::nullopt, .headers = {}},
             {.offset = {6}, .timestamp = {8}, .key = "\xff", .value = "v", .headers = {{"trace", "1"}, {"\xfe", std::nullopt}}}},
        .from = {3},
        .next = {7},
        .log_start = {2},
        .end = {9},
        .looked_at = 3,
        .damage = {{Offset{5}, "wrong checksum"}}};
    ordered_json object;
    add_page(object, page);
    EXPECT_EQ(object, ordered_json::parse(R"({"start": 2, "end": 9, "from": 3, "next": 7, "looked_at": 3, "records": [
        {"offset": 4, "timestamp_ms": 7, "key": "k", "value": null, "headers": []},
        {"offset": 6, "timestamp_ms": 8, "key_hex": "ff", "value": "v",
         "headers": [{"name": "trace", "value": "1"}, {"name_hex": "fe", "value": null}]}],
        "damage": [{"offset": 5, "reason": "wrong checksum"}]})"));
}

}  // namespace
}  // namespace partita::http
