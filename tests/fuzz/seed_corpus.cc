// Part of every libFuzzer program: fills an empty corpus directory with the seeds, so that mutations begin with well-formed
// inputs.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/fuzz_target.h"

// Called once, before the corpus is read.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
    namespace fs = std::filesystem;
    for (int index = 1; index < *count; ++index) {
        const std::string argument = (*arguments)[index];
        if (argument.starts_with('-')) {
            continue;
        }
        std::error_code error;
        if (!fs::is_directory(argument, error) || !fs::is_empty(argument, error)) {
            return 0;
        }
        int number = 0;
        for (const std::vector<std::byte>& seed : fuzz_seeds()) {
            std::ofstream file(fs::path(argument) / ("seed-" + std::to_string(number++)), std::ios::binary);
            file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
            file.close();
            FUZZ_CHECK(file.good());
        }
        return 0;
    }
    return 0;
}
