#pragma once

#include <filesystem>

namespace partita::test {

/// Where tests/ lies in the checkout that this program was built from: for golden files. A function of its own library, so that
/// what a compiler cache holds of the tests serves every checkout.
[[nodiscard]] std::filesystem::path tests_directory();

}  // namespace partita::test
