#pragma once

#include <filesystem>

namespace partita::test {

/// The path of tests/ in the checkout from which this program was built, for golden files. The function has its own library, so
/// that one compiler cache can serve every checkout.
[[nodiscard]] std::filesystem::path tests_directory();

}  // namespace partita::test
