#include "broker/tools/java_random.h"

namespace partita::tools {
namespace {

constexpr std::uint64_t kMultiplier = 0x5DEECE66DULL;
constexpr std::uint64_t kIncrement = 0xB;
constexpr std::uint64_t kStateBits = (1ULL << 48) - 1;
/// The step of java.util.SplittableRandom.
constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15ULL;

bool is_power_of_two(std::int32_t number) { return (number & (number - 1)) == 0; }

/// Java refuses numbers of the last, incomplete round of `bound` numbers: their sum with `bound` - 1 is more than 31 bits.
bool is_of_a_whole_round(std::int32_t number, std::int32_t rest, std::int32_t bound) {
    return static_cast<std::int64_t>(number) - rest + (bound - 1) <= INT32_MAX;
}

}  // namespace

JavaRandom::JavaRandom(std::uint64_t seed) : state_((seed ^ kMultiplier) & kStateBits) {}

std::int32_t JavaRandom::next(int bits) {
    state_ = (state_ * kMultiplier + kIncrement) & kStateBits;
    return static_cast<std::int32_t>(state_ >> (48 - bits));
}

std::int32_t JavaRandom::below(std::int32_t bound) {
    if (is_power_of_two(bound)) {
        return static_cast<std::int32_t>((static_cast<std::int64_t>(bound) * next(31)) >> 31);
    }
    while (true) {
        const std::int32_t number = next(31);
        const std::int32_t rest = number % bound;
        if (is_of_a_whole_round(number, rest, bound)) {
            return rest;
        }
    }
}

std::uint32_t SplittableRandom::next() {
    state_ += kGoldenGamma;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 33)) * 0x62A9D9ED799705F5ULL;
    mixed = (mixed ^ (mixed >> 28)) * 0xCB24D0A5C88C35B3ULL;
    return static_cast<std::uint32_t>(mixed >> 32);
}

std::int32_t SplittableRandom::below(std::int32_t bound) {
    if (is_power_of_two(bound)) {
        return static_cast<std::int32_t>(next()) & (bound - 1);
    }
    while (true) {
        const auto number = static_cast<std::int32_t>(next() >> 1);
        const std::int32_t rest = number % bound;
        if (is_of_a_whole_round(number, rest, bound)) {
            return rest;
        }
    }
}

}  // namespace partita::tools
