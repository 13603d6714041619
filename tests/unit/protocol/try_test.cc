#include "protocol/try.h"

#include <gtest/gtest.h>

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace partita {
namespace {

/// Tells copies from moves.
struct CountedCopies {
    int copies = 0;
    int moves = 0;

    CountedCopies() = default;
    CountedCopies(const CountedCopies& other) : copies(other.copies + 1), moves(other.moves) {}
    CountedCopies(CountedCopies&& other) noexcept : copies(other.copies), moves(other.moves + 1) {}
    CountedCopies& operator=(const CountedCopies&) = delete;
    CountedCopies& operator=(CountedCopies&&) = delete;
    ~CountedCopies() = default;
};

using Number = std::expected<int, std::string>;

Number half(int number) {
    if (number % 2 != 0) {
        return std::unexpected(std::to_string(number) + " is odd");
    }
    return number / 2;
}

std::expected<void, std::string> must_be_even(int number) {
    PARTITA_TRY(half(number));
    return {};
}

std::expected<double, std::string> quarter(int number) {
    PARTITA_TRY_ASSIGN(const int once, half(number));
    PARTITA_TRY_ASSIGN(const auto twice, half(once));
    return twice;
}

TEST(Try, GoesOnWhenThereIsAValue) {
    EXPECT_TRUE(must_be_even(4).has_value());
    EXPECT_EQ(quarter(12), 3.0);
}

TEST(Try, ReturnsTheErrorOfTheFirstThatFails) {
    EXPECT_EQ(must_be_even(3).error(), "3 is odd");
    EXPECT_EQ(quarter(5).error(), "5 is odd");
    EXPECT_EQ(quarter(6).error(), "3 is odd");
}

TEST(Try, EvaluatesItsExpressionOnce) {
    int calls = 0;
    const auto counted = [&]() -> Number {
        ++calls;
        return 1;
    };
    const auto both = [&]() -> Number {
        PARTITA_TRY(counted());
        PARTITA_TRY_ASSIGN(const auto one, counted());
        return one;
    };
    EXPECT_EQ(both(), 1);
    EXPECT_EQ(calls, 2);
}

TEST(Try, FillsAVariableThatIsThereAlready) {
    const auto sum = [](int first, int second) -> Number {
        int part = 0;
        PARTITA_TRY_ASSIGN(part, half(first));
        const int before = part;
        PARTITA_TRY_ASSIGN(part, half(second));
        return before + part;
    };
    EXPECT_EQ(sum(2, 4), 3);
    EXPECT_EQ(sum(2, 3).error(), "3 is odd");
}

TEST(Try, TakesAnExpressionWithCommasAndAChoice) {
    const auto chosen = [](bool is_first) -> Number {
        PARTITA_TRY_ASSIGN(const auto pair, std::expected<std::pair<int, int>, std::string>({1, 2}));
        PARTITA_TRY_ASSIGN(const auto number, is_first ? half(pair.first) : half(pair.second));
        return number;
    };
    EXPECT_EQ(chosen(false), 1);
    EXPECT_EQ(chosen(true).error(), "1 is odd");
}

TEST(Try, MovesTheValueOfATemporary) {
    const auto take = []() -> std::expected<int, std::string> {
        PARTITA_TRY_ASSIGN(auto owned, std::expected<std::unique_ptr<int>, std::string>(std::make_unique<int>(7)));
        return *owned;
    };
    EXPECT_EQ(take(), 7);
}

TEST(Try, LeavesAVariableAsItIs) {
    std::expected<std::string, int> kept = "a text too long to lie within the string itself";
    const auto look = [&]() -> std::expected<std::size_t, int> {
        PARTITA_TRY(kept);
        PARTITA_TRY_ASSIGN(const auto copy, kept);
        return copy.size();
    };
    EXPECT_EQ(look(), kept->size());
    EXPECT_EQ(*kept, "a text too long to lie within the string itself");
}

TEST(Try, AReferenceRefersToTheVariableWithoutACopy) {
    const std::expected<CountedCopies, int> kept;
    const auto copies = [&]() -> std::expected<int, int> {
        PARTITA_TRY_ASSIGN(const auto& seen, kept);
        return seen.copies;
    };
    EXPECT_EQ(copies(), 0);
}

TEST(Try, MovesTheErrorOfATemporaryAndCopiesThatOfAVariable) {
    using Failing = std::expected<int, CountedCopies>;
    const auto temporary = []() -> Failing {
        PARTITA_TRY(Failing(std::unexpect));
        return 1;
    };
    const auto temporary_with_value = []() -> Failing {
        PARTITA_TRY_ASSIGN(const auto value, Failing(std::unexpect));
        return value;
    };
    const Failing kept(std::unexpect);
    const auto variable = [&]() -> Failing {
        PARTITA_TRY(kept);
        return 1;
    };
    EXPECT_EQ(temporary().error().copies, 0);
    EXPECT_GT(temporary().error().moves, 0);
    EXPECT_EQ(temporary_with_value().error().copies, 0);
    EXPECT_EQ(variable().error().copies, 1);
}

TEST(Try, AnErrorBecomesWhatTheFunctionGives) {
    struct Wide {
        std::string text;
        Wide(std::string narrow) : text(std::move(narrow)) {}
    };
    const auto widened = [](int number) -> std::expected<int, Wide> {
        PARTITA_TRY_ASSIGN(const auto value, half(number));
        return value;
    };
    EXPECT_EQ(widened(1).error().text, "1 is odd");
}

TEST(Try, LeavesALoopAndCleansUpOnItsWay) {
    int destroyed = 0;
    struct Notes {
        int& count;
        ~Notes() { ++count; }
    };
    const auto all = [&](const std::vector<int>& numbers) -> Number {
        int sum = 0;
        for (const int number : numbers) {
            const Notes notes{destroyed};
            PARTITA_TRY_ASSIGN(const auto part, half(number));
            sum += part;
        }
        return sum;
    };
    EXPECT_EQ(all({2, 4, 6}), 6);
    EXPECT_EQ(destroyed, 3);
    EXPECT_FALSE(all({2, 3, 6}).has_value());
    EXPECT_EQ(destroyed, 5);
}

}  // namespace
}  // namespace partita
