#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "protocol/lock_rank.h"
#include "tests/support/tests_directory.h"

namespace partita {
namespace {

std::string page() {
    std::string text = R"(# Locks

A thread takes locks in the order of this table, from top to bottom, and never two of one rank.
A development build ends the process at the first lock taken out of order, and clang
checks what each lock guards (`scripts/tidy --locks`). A test (`protocol_test`, with `PARTITA_WRITE_DOCS=1`)
writes this page from `protocol/lock_rank.h`.

| rank | owner | guards |
|---|---|---|
)";
    for (const LockDescription& lock : kLocks) {
        text.append("| `").append(lock.rank).append("` | ").append(lock.owner).append(" | ").append(lock.guards).append(" |\n");
    }
    return text;
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LockDocs, ThePageListsAllLocksInTheirOrder) {
    const auto path = test::tests_directory().parent_path() / "docs" / "internals" / "locks.md";
    if (std::getenv("PARTITA_WRITE_DOCS") != nullptr) {
        std::ofstream(path) << page();
    }
    EXPECT_EQ(content(path), page()) << "write it anew: PARTITA_WRITE_DOCS=1 protocol_test";
}

}  // namespace
}  // namespace partita
