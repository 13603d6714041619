#include "tests/histories/oracle.h"

#include <algorithm>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {
std::vector<Claim> claims_of(const Script& script, const Diary& diary, const std::string& unique, bool is_everything_seen) {
    return Oracle(script, diary, unique, is_everything_seen).claims();
}

std::vector<std::string> compare(const std::vector<Claim>& claims, const std::vector<Told>& told) {
    std::vector<std::string> problems;
    for (const Told& finding : told) {
        std::string nearest = "nothing of the kind holds";
        bool holds = false;
        // A text must say so when its number is not exact, and must not when it is.
        const bool is_bound = finding.text.find("at least ") != std::string::npos ||
                              finding.text.find("up to ") != std::string::npos ||
                              finding.text.starts_with("judging from a part of the records, ");
        const bool is_honest = !finding.is_exact || *finding.is_exact != is_bound;
        for (const Claim& claim : claims) {
            if (claim.id != finding.id || claim.about != finding.about) {
                continue;
            }
            const bool has_number = claim.exact < 0 || !finding.is_exact.value_or(false) || finding.count == claim.exact;
            holds |= has_number && finding.count >= claim.least && finding.count <= claim.most;
            nearest = "it is " + std::to_string(claim.least) + " to " + std::to_string(claim.most) +
                      (claim.exact < 0 ? "" : ", exactly " + std::to_string(claim.exact)) + " (" + claim.why + ")";
        }
        if (!holds || !is_honest) {
            problems.push_back("false: " + finding.id + " about '" + finding.about + "' counts " + std::to_string(finding.count) +
                               ", and " + nearest + "\n      " + finding.text);
        }
    }
    for (const Claim& claim : claims) {
        if (!claim.is_due) {
            continue;
        }
        const bool is_told = std::ranges::any_of(
            told, [&](const Told& finding) { return finding.id == claim.id && finding.about == claim.about; });
        if (!is_told) {
            problems.push_back("missing: " + claim.id + " about '" + claim.about + "', " + std::to_string(claim.least) + " to " +
                               std::to_string(claim.most) + ": " + claim.why);
        }
    }
    return problems;
}

}  // namespace partita::test::histories
