#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/histories/diary.h"

/// Derives, from the log and the clients' diaries, the findings that the broker must tell about a history and those that it may
/// tell. The oracle follows docs/expansion.md and uses none of the broker's own code.
namespace partita::test::histories {

/// The name of H20 here when the broker accuses no single client: one of several that share a name.
inline constexpr const char* kOneOfSeveral = "H20, one of several";

/// The name of H06 here when the broker cannot tell which of two members was first.
inline constexpr const char* kMaybeInverted = "H06, perhaps";

/// A finding that holds. A broker that tells it has to give a number from `least` to `most`.
struct Claim {
    std::string id;
    /// The group, or the client ("shop@127.0.0.1"), or nothing for the topic.
    std::string about;
    std::int64_t least = 0;
    std::int64_t most = 0;
    /// It has to be told. Otherwise it may be.
    bool is_due = true;
    /// The facts that it follows from, for people.
    std::string why;
    /// The number that a finding without "at least" has to give; -1 when it is unknown.
    std::int64_t exact = -1;
};

/// A finding as the broker tells it.
struct Told {
    std::string id;
    std::string about;
    std::int64_t count = 0;
    /// The text as the broker sent it.
    std::string text;
    /// Set for findings that say whether their number is exact.
    std::optional<bool> is_exact;
};

/// `unique` makes the names of the history's groups unique. `is_everything_seen`: the broker looked at every record, as it
/// promises with little traffic.
[[nodiscard]] std::vector<Claim> claims_of(const Script& script, const Diary& diary, const std::string& unique,
                                           bool is_everything_seen);

/// One sentence for each finding that is false, and each that is missing.
[[nodiscard]] std::vector<std::string> compare(const std::vector<Claim>& claims, const std::vector<Told>& told);

}  // namespace partita::test::histories
