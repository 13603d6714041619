#include "protocol/function_ref.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace partita {
namespace {

int twice(FunctionRef<int(int)> function) { return function(1) + function(2); }

TEST(FunctionRef, CallsALambdaThatLivesUntilTheCallReturns) {
    int calls = 0;
    EXPECT_EQ(twice([&](int value) {
                  ++calls;
                  return 10 * value;
              }),
              30);
    EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, CallsTheCallableItselfAndNoCopy) {
    struct Counting {
        int calls = 0;
        Counting() = default;
        Counting(const Counting&) = delete;
        Counting& operator=(const Counting&) = delete;
        int operator()(int value) {
            ++calls;
            return value;
        }
    };
    Counting counting;
    EXPECT_EQ(twice(counting), 3);
    EXPECT_EQ(counting.calls, 2);
}

TEST(FunctionRef, TakesAConstantOneAndAStdFunction) {
    const auto constant = [](int value) { return value + 1; };
    EXPECT_EQ(twice(constant), 5);
    const std::function<int(int)> owned = [](int value) { return -value; };
    EXPECT_EQ(twice(owned), -3);
}

TEST(FunctionRef, ACopyRefersToTheSame) {
    int calls = 0;
    const auto count = [&] { ++calls; };
    const FunctionRef<void()> first(count);
    const FunctionRef<void()> second = first;
    first();
    second();
    EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, PassesReferencesAndWhatCanOnlyBeMoved) {
    const auto take = [](FunctionRef<std::string(std::unique_ptr<int>, std::string&)> function) {
        std::string text = "n";
        std::string result = function(std::make_unique<int>(7), text);
        return result + text;
    };
    EXPECT_EQ(take([](std::unique_ptr<int> owned, std::string& text) {
                  text = "changed";
                  return std::to_string(*owned) + " ";
              }),
              "7 changed");
}

TEST(FunctionRef, DropsAResultThatIsNotAskedFor) {
    int calls = 0;
    const auto call = [](FunctionRef<void()> function) { function(); };
    call([&] { return ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(FunctionRef, TakesOnlyWhatCanBeCalledLikeThat) {
    EXPECT_FALSE((std::is_constructible_v<FunctionRef<int(int)>, int>));
    EXPECT_FALSE((std::is_constructible_v<FunctionRef<int(int)>, std::string (*)(std::string)>));
    EXPECT_TRUE((std::is_constructible_v<FunctionRef<int(int)>, int (*&)(int)>));
}

}  // namespace
}  // namespace partita
