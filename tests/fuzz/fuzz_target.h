#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// Every `<name>_fuzz.cc` in this directory defines both. With PARTITA_FUZZ it becomes a libFuzzer program
/// `<name>_fuzz`; otherwise it is linked with `smoke_main.cc` to a test that feeds it the seeds, cut and
/// damaged, from a fixed random seed.

/// Checks the property. Returns 0; a broken property aborts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Well-formed inputs to start from.
std::vector<std::vector<std::byte>> fuzz_seeds();

/// Aborts with the place when the property does not hold, in every build.
#define FUZZ_CHECK(condition)                                                                  \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                      \
        }                                                                                      \
    } while (false)
