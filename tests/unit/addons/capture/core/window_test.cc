#include "broker/addons/capture/core/window.h"

#include <gtest/gtest.h>

#include <limits>

namespace partita::capture {
namespace {

constexpr WindowSettings kSettings{.interval_ms = 60'000, .size_bytes = 1000};
constexpr std::int64_t kWall = 1'770'000'000'500;

Now at(std::int64_t ms, std::int64_t wall_shift_ms = 0) { return {{ms}, {kWall + ms + wall_shift_ms}}; }

/// A window that began at 0.
Window begun() { return Window(Progress(), kSettings, at(0)); }

bool is_due(const Window& window, std::int64_t now_ms, std::int64_t owed_bytes = 0) {
    return window.due(kSettings, Offset{5}, Offset{9}, owed_bytes, Instant{now_ms}).has_value();
}

TEST(WindowTest, EndsWhenItsTimeIsOver) {
    EXPECT_FALSE(is_due(begun(), 59'999));
    EXPECT_TRUE(is_due(begun(), 60'000));
    EXPECT_EQ(begun().ends(kSettings), Instant{60'000});
}

TEST(WindowTest, EndsWhenWhatWaitsHasItsSize) {
    EXPECT_FALSE(is_due(begun(), 1, 999));
    EXPECT_TRUE(is_due(begun(), 1, 1000));
    const auto due = begun().due(kSettings, Offset{5}, Offset{9}, 1000, Instant{1});
    EXPECT_FALSE(due->by_time);
    EXPECT_EQ(due->until, Offset{9});
    EXPECT_EQ(due->bytes_max, 1000);
}

TEST(WindowTest, AnotherBeginsWhereItWasClosed) {
    Window window = begun();
    const auto due = window.due(kSettings, Offset{5}, Offset{9}, 10, Instant{60'300});
    window.close(*due, Offset{9}, TimestampMs{kWall}, Instant{60'300});
    EXPECT_FALSE(window.due(kSettings, Offset{9}, Offset{12}, 10, Instant{120'299}).has_value());
    EXPECT_TRUE(window.due(kSettings, Offset{9}, Offset{12}, 10, Instant{120'300}).has_value());
}

TEST(WindowTest, WhatDidNotFitGoesIntoFurtherFilesAtOnceWhenTheTimeWasOver) {
    Window window = begun();
    auto due = window.due(kSettings, Offset{5}, Offset{100}, 10, Instant{60'000});
    window.close(*due, Offset{50}, TimestampMs{kWall}, Instant{60'000});
    due = window.due(kSettings, Offset{50}, Offset{300}, 10, Instant{60'001});
    ASSERT_TRUE(due.has_value());
    EXPECT_EQ(due->until, Offset{100}) << "what came since belongs to the next window";
    window.close(*due, Offset{100}, TimestampMs{kWall}, Instant{60'001});
    EXPECT_FALSE(window.due(kSettings, Offset{100}, Offset{300}, 10, Instant{60'002}).has_value());
}

TEST(WindowTest, WhatDidNotFitWaitsForTheNextWindowWhenTheSizeWasReached) {
    Window window = begun();
    const auto due = window.due(kSettings, Offset{5}, Offset{100}, 1500, Instant{1});
    window.close(*due, Offset{70}, TimestampMs{kWall}, Instant{1});
    EXPECT_FALSE(window.due(kSettings, Offset{70}, Offset{100}, 500, Instant{2}).has_value());
}

TEST(WindowTest, WhoIsFarBehindWritesLargerFiles) {
    EXPECT_EQ(begun().due(kSettings, Offset{0}, Offset{9}, 3999, Instant{1})->bytes_max, 1000);
    EXPECT_EQ(begun().due(kSettings, Offset{0}, Offset{9}, 4000, Instant{1})->bytes_max, Window::kLargestFileBytes);
    // The limit also holds when a few bytes in the log become many in files.
    Window window = begun();
    std::int64_t next = 0;
    auto due = window.due(kSettings, Offset{0}, Offset{100}, 10, Instant{60'000});
    for (int file = 0; file < Window::kLateFiles; ++file) {
        EXPECT_EQ(due->bytes_max, 1000);
        window.close(*due, Offset{++next}, TimestampMs{kWall}, Instant{60'000});
        due = window.due(kSettings, Offset{next}, Offset{100}, 10, Instant{60'000});
    }
    EXPECT_EQ(due->bytes_max, Window::kLargestFileBytes);
    window.close(*due, Offset{100}, TimestampMs{kWall}, Instant{60'000});
    EXPECT_EQ(window.due(kSettings, Offset{100}, Offset{200}, 1000, Instant{60'001})->bytes_max, 1000);
}

TEST(WindowTest, AfterARestartItEndsWhenTheInterruptedOneWouldHave) {
    const Progress progress{.next = {5}, .files = 3, .closed_at = {kWall - 20'000}, .named_at = {kWall - 20'500}, .path = "a"};
    const Window window(progress, kSettings, at(0));
    EXPECT_FALSE(is_due(window, 39'999));
    EXPECT_TRUE(is_due(window, 40'000));
}

TEST(WindowTest, AClockThatJumpedWhileNobodyRanNeitherDelaysNorRepeatsAWindow) {
    Progress progress{.next = {5}, .files = 3, .closed_at = {kWall - 10'000'000}, .named_at = {kWall - 10'000'000}, .path = "a"};
    EXPECT_EQ(Window(progress, kSettings, at(0)).ends(kSettings), Instant{0}) << "long ago: at once, and once";
    progress.closed_at = TimestampMs{kWall + 10'000'000};
    EXPECT_EQ(Window(progress, kSettings, at(0)).ends(kSettings), Instant{60'000}) << "in the future: one interval at most";
    progress.closed_at = TimestampMs{0};
    EXPECT_EQ(Window(progress, kSettings, {{0}, {std::numeric_limits<std::int64_t>::max()}}).ends(kSettings), Instant{0});
}

TEST(WindowTest, NamesAreSecondsAndNoneComesTwice) {
    Window window = begun();
    EXPECT_EQ(window.name_time(at(0)), TimestampMs{kWall - 500});
    const auto due = window.due(kSettings, Offset{5}, Offset{9}, 1000, Instant{0});
    window.close(*due, Offset{9}, TimestampMs{kWall - 500}, Instant{0});
    EXPECT_EQ(window.name_time(at(499)).error(), Instant{1000});
    EXPECT_EQ(window.name_time(at(500)), TimestampMs{kWall + 500}) << "the next second has begun";
}

TEST(WindowTest, NamesGoOnWhileTheWallClockIsSetBack) {
    Window window = begun();
    const auto due = window.due(kSettings, Offset{5}, Offset{9}, 1000, Instant{0});
    window.close(*due, Offset{9}, TimestampMs{kWall - 500}, Instant{0});
    EXPECT_FALSE(window.name_time(at(999, -3'600'000)).has_value());
    EXPECT_EQ(window.name_time(at(1000, -3'600'000)), TimestampMs{kWall + 500}) << "one a second, whatever time it is said to be";
}

TEST(WindowTest, ANameThatIsTakenIsPassedOverAtOnce) {
    Window window = begun();
    window.pass_over(TimestampMs{kWall - 500}, Instant{0});
    EXPECT_EQ(window.name_time(at(0)), TimestampMs{kWall + 500});
}

TEST(ProgressText, IsReadAsItWasWritten) {
    const Progress progress{.next = {77}, .files = 3, .closed_at = {kWall}, .named_at = {kWall - 500}, .path = "a/b c.avro"};
    EXPECT_EQ(parse_progress(progress_text(progress)), progress);
}

TEST(ProgressText, WhatIsTornOrStrangeIsNotRead) {
    const std::string text = progress_text({.next = {77}, .files = 3, .closed_at = {kWall}, .named_at = {kWall}, .path = "a"});
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(parse_progress(text.substr(0, size)).has_value()) << size;
    }
    EXPECT_FALSE(parse_progress(text + "x").has_value());
    for (const auto& [what, instead] :
         {std::pair("next 77", "next -1"), std::pair("next 77", "next 7x"), std::pair("next 77", "next 99999999999999999999"),
          std::pair("files 3", "files 0"), std::pair("capture 1", "capture 2"),
          std::pair("closed", "closed -9223372036854775808 ")}) {
        std::string other = text;
        other.replace(other.find(what), std::string_view(what).size(), instead);
        EXPECT_FALSE(parse_progress(other).has_value()) << instead;
    }
}

}  // namespace
}  // namespace partita::capture
