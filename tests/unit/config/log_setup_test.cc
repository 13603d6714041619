#include "broker/config/log_setup.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::log {
namespace {

TEST(Log, EventIsOneLineOfLevelAreaMessageAndFields) {
    EXPECT_EQ(format_event(Level::warning, "net", "connection refused", {{"peer", "127.0.0.1:5"}, {"count", 7}}),
              "WARN net connection refused peer=127.0.0.1:5 count=7");
}

TEST(Log, ValuesOfStrangersCannotForgeLinesOrFields) {
    EXPECT_EQ(format_event(Level::info, "net", "bad", {{"client", "x\nERROR a=\"b\"\\"}, {"empty", ""}}),
              "INFO net bad client=\"x\\x0aERROR a=\\\"b\\\"\\\\\" empty=\"\"");
}

TEST(Log, LevelsHaveNames) {
    EXPECT_EQ(parse_level("warn"), Level::warning);
    EXPECT_EQ(parse_level("off"), Level::off);
    EXPECT_EQ(parse_level("loud"), std::nullopt);
}

TEST(Log, OpenedLogWritesToStandardErrorFromItsLevelOn) {
    testing::internal::CaptureStderr();
    open(Level::warning);
    info("a", "not shown");
    warning("a", "shown", {{"k", 1}});
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("not shown"), std::string::npos);
    EXPECT_NE(text.find("Z WARN a shown k=1\n"), std::string::npos);
    EXPECT_FALSE(is_on(Level::info));
    EXPECT_TRUE(is_on(Level::error));
}

TEST(Log, ListenersGetEventsThatTheLogDoesNotWrite) {
    open(Level::error);
    std::vector<std::string> first;
    std::vector<std::string> second;
    const auto into = [](std::vector<std::string>& heard) {
        return [&heard](const Event& event) {
            heard.push_back(event.area + ": " + event.message);
            for (const auto& [key, value] : event.fields) {
                heard.back() += " " + key + "=" + value;
            }
        };
    };
    {
        const Listener one(into(first));
        info("groups", "a member is gone", {{"group", "g"}, {"members", 2}});
        const Listener other(into(second));
        debug("groups", "nothing new");
        warning("storage", "slow");
    }
    info("groups", "too late");
    EXPECT_EQ(first, (std::vector<std::string>{"groups: a member is gone group=g members=2", "storage: slow"}));
    EXPECT_EQ(second, std::vector<std::string>{"storage: slow"});
}

TEST(RateLimiter, OneLinePerSecondAndReasonWithTheNumberLeftOut) {
    RateLimiter limiter;
    EXPECT_EQ(limiter.admit("garbage", Instant{0}), 0u);
    EXPECT_EQ(limiter.admit("garbage", Instant{1}), std::nullopt);
    EXPECT_EQ(limiter.admit("garbage", Instant{999}), std::nullopt);
    EXPECT_EQ(limiter.admit("oversized", Instant{999}), 0u);
    EXPECT_EQ(limiter.admit("garbage", Instant{1000}), 2u);
    EXPECT_EQ(limiter.admit("garbage", Instant{2000}), 0u);
}

TEST(RateLimiter, ReasonsBeyondTheLimitShareOnePlace) {
    RateLimiter limiter;
    for (std::size_t index = 0; index < RateLimiter::kMaxReasons; ++index) {
        EXPECT_EQ(limiter.admit(std::to_string(index), Instant{0}), 0u);
    }
    EXPECT_EQ(limiter.admit("one more", Instant{0}), 0u);
    EXPECT_EQ(limiter.admit("and another", Instant{0}), std::nullopt);
}

}  // namespace
}  // namespace partita::log
