#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace {

using Input = std::vector<std::byte>;

void run(const Input& input) {
    // A copy of exactly the right size lets AddressSanitizer see a read behind the end.
    const auto* data = reinterpret_cast<const std::uint8_t*>(input.data());
    LLVMFuzzerTestOneInput(data, input.size());
}

/// One to four damages of the kinds that find faults in decoders: flips, extreme bytes, cuts, repeats.
Input damaged(Input input, std::mt19937_64& random) {
    const auto damages = 1 + random() % 4;
    for (std::uint64_t damage = 0; damage < damages && !input.empty(); ++damage) {
        const auto place = static_cast<std::ptrdiff_t>(random() % input.size());
        switch (random() % 6) {
            case 0:
                input[static_cast<std::size_t>(place)] ^= static_cast<std::byte>(1u << (random() % 8));
                break;
            case 1:
                input[static_cast<std::size_t>(place)] = static_cast<std::byte>(random());
                break;
            case 2:
                input[static_cast<std::size_t>(place)] = random() % 2 ? std::byte{0xff} : std::byte{0x7f};
                break;
            case 3:
                input.resize(static_cast<std::size_t>(place));
                break;
            case 4:
                input.insert(input.begin() + place, static_cast<std::byte>(random()));
                break;
            case 5: {
                const Input tail(input.begin() + place, input.end());
                if (input.size() < 1u << 16) {
                    input.insert(input.end(), tail.begin(), tail.end());
                }
                break;
            }
        }
    }
    return input;
}

TEST(FuzzSmoke, ThePropertyHoldsForSeedsTheirPrefixesAndDamagedCopies) {
    // PARTITA_FUZZ_SEED repeats a run, PARTITA_FUZZ_ROUNDS makes a longer one.
    const char* seed_text = std::getenv("PARTITA_FUZZ_SEED");
    const char* rounds_text = std::getenv("PARTITA_FUZZ_ROUNDS");
    const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
    const std::uint64_t rounds = rounds_text ? std::strtoull(rounds_text, nullptr, 10) : 20000;
    RecordProperty("seed", std::to_string(seed));
    std::mt19937_64 random(seed);

    const std::vector<Input> seeds = fuzz_seeds();
    ASSERT_FALSE(seeds.empty());
    run({});
    constexpr std::size_t kLongestCutEverywhere = 2048;
    for (const Input& input : seeds) {
        run(input);
        for (std::size_t size = 0; size < std::min(input.size(), kLongestCutEverywhere); ++size) {
            run(Input(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)));
        }
    }
    for (std::uint64_t round = 0; round < rounds; ++round) {
        run(damaged(seeds[random() % seeds.size()], random));
    }
}

}  // namespace
