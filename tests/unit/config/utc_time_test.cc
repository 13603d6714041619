#include "broker/config/utc_time.h"

#include <gtest/gtest.h>

namespace partita::config {
namespace {

TEST(UtcTime, IsReadInThreeForms) {
    EXPECT_EQ(parse_utc_time("2026-11-21T10:00:05Z"), TimestampMs{1'795'255'205'000});
    EXPECT_EQ(parse_utc_time("2026-11-21T10:00:05"), TimestampMs{1'795'255'205'000});
    EXPECT_EQ(parse_utc_time("2026-11-21"), TimestampMs{1'795'219'200'000});
    EXPECT_EQ(parse_utc_time("1970-01-01"), TimestampMs{0});
    EXPECT_EQ(parse_utc_time("9999-12-31T23:59:59Z"), TimestampMs{kLastTime.value - 999});
}

TEST(UtcTime, NothingElseIsRead) {
    for (const char* text :
         {"", "now", "2026-11", "2026-13-01", "2026-11-21T10:00:05+01:00", "2026-11-21T10:00:05Z ", "2026-11-21 10:00:05"}) {
        EXPECT_EQ(parse_utc_time(text), std::nullopt) << text;
    }
}

TEST(UtcTime, IsWrittenWithMilliseconds) {
    EXPECT_EQ(utc_time_text({1'795'255'205'007}), "2026-11-21T10:00:05.007Z");
    EXPECT_EQ(utc_time_text({0}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(utc_time_text(kLastTime), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(utc_time_text({kLastTime.value + 1}), "253402300800000 ms");
    EXPECT_EQ(utc_time_text({-1}), "-1 ms");
}

}  // namespace
}  // namespace partita::config
