#include "tests/support/tests_directory.h"

namespace partita::test {

std::filesystem::path tests_directory() { return PARTITA_TESTS_DIRECTORY; }

}  // namespace partita::test
