#include "broker/insight/readers/fetch_news.h"

#include <gtest/gtest.h>

#include <memory>

#include "broker/insight/readers/consumer_watch.h"

namespace partita::insight {
namespace {

class FetchMemoryTest : public testing::Test {
  protected:
    bool is_news(std::uint64_t reader, std::int64_t from) { return memory_.is_news(reader, {from}, changes_, now_); }

    FetchNews memory_;
    std::uint64_t changes_ = 0;
    TimestampMs now_{1'000'000};
};

TEST_F(FetchMemoryTest, AReaderThatGoesForwardIsNotedOnce) {
    EXPECT_TRUE(is_news(7, 0));
    EXPECT_FALSE(is_news(7, 0));
    EXPECT_FALSE(is_news(7, 100));
    EXPECT_TRUE(is_news(8, 100)) << "another reader is not known yet";
    EXPECT_FALSE(is_news(7, 101));
}

TEST_F(FetchMemoryTest, GoingBackIsNews) {
    EXPECT_TRUE(is_news(7, 100));
    EXPECT_FALSE(is_news(7, 200));
    EXPECT_TRUE(is_news(7, 150)) << "behind where it was last, though not behind where it was noted";
    EXPECT_FALSE(is_news(7, 150));
}

TEST_F(FetchMemoryTest, AChangeMakesEverybodysNextFetchNews) {
    EXPECT_TRUE(is_news(7, 0));
    EXPECT_TRUE(is_news(8, 0));
    ++changes_;
    EXPECT_TRUE(is_news(7, 0));
    EXPECT_TRUE(is_news(8, 0));
    EXPECT_FALSE(is_news(7, 0));
}

TEST_F(FetchMemoryTest, AnUnchangedReaderIsNotedBeforeItCountsAsSilent) {
    static_assert(FetchNews::kRepeatMs * 2 < ConsumerWatch::kSilentMs);
    EXPECT_TRUE(is_news(7, 0));
    now_.value += FetchNews::kRepeatMs - 1;
    EXPECT_FALSE(is_news(7, 0));
    now_.value += 1;
    EXPECT_TRUE(is_news(7, 0));
    now_.value -= 5;
    EXPECT_TRUE(is_news(7, 0)) << "a clock that was set back promises nothing";
}

TEST_F(FetchMemoryTest, OfTwoReadersInOnePlaceNoneIsLost) {
    EXPECT_TRUE(is_news(7, 0));
    EXPECT_TRUE(is_news(7 + FetchNews::kReaders, 0));
    EXPECT_TRUE(is_news(7, 0)) << "it was forgotten, so it is noted again";
}

}  // namespace
}  // namespace partita::insight
