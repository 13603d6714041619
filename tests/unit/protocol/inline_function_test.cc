// Tests a function object that is kept without an allocation.

#include "protocol/inline_function.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace partita {
namespace {

using Length = InlineFunction<std::size_t(const std::string&), 32>;

TEST(InlineFunction, CallsWhatItKeeps) {
    Length length = [extra = std::size_t{2}](const std::string& text) { return text.size() + extra; };
    EXPECT_EQ(length("abc"), 5U);
}

TEST(InlineFunction, EndsWhatItKeepsOnceHoweverOftenItMoves) {
    const auto counted = std::make_shared<int>(0);
    {
        Length first = [counted](const std::string&) { return static_cast<std::size_t>(++*counted); };
        Length second = std::move(first);
        EXPECT_EQ(second(""), 1U);
        Length third = [](const std::string&) { return std::size_t{0}; };
        third = std::move(second);
        EXPECT_EQ(third(""), 2U);
        EXPECT_EQ(counted.use_count(), 2) << "the caller's and one more";
    }
    EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace partita
