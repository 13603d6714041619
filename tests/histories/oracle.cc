#include "tests/histories/oracle.h"

#include <algorithm>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {
namespace {

bool is_known_wrong(const std::string& id, bool is_missing) {
    return std::ranges::any_of(known_wrong(), [&](const KnownWrong& wrong) { return wrong.id == id && wrong.is_missing == is_missing; });
}

}  // namespace

std::vector<Claim> claims_of(const Script& script, const Diary& diary, const std::string& unique, bool is_everything_seen) {
    return Oracle(script, diary, unique, is_everything_seen).claims();
}

std::vector<std::string> compare(const std::vector<Claim>& claims, const std::vector<Told>& told) {
    std::vector<std::string> problems;
    for (const Told& finding : told) {
        if (is_known_wrong(finding.id, false)) continue;
        std::string nearest = "nothing of the kind holds";
        bool holds = false;
        for (const Claim& claim : claims) {
            if (claim.id != finding.id || claim.about != finding.about) continue;
            holds |= finding.count >= claim.least && finding.count <= claim.most;
            nearest = "it is " + std::to_string(claim.least) + " to " + std::to_string(claim.most) + " (" + claim.why + ")";
        }
        if (!holds) problems.push_back("false: " + finding.id + " about '" + finding.about + "' counts " + std::to_string(finding.count) + ", and " + nearest + "\n      " + finding.text);
    }
    for (const Claim& claim : claims) {
        if (!claim.is_due || is_known_wrong(claim.id, true)) continue;
        const bool is_told = std::ranges::any_of(told, [&](const Told& finding) { return finding.id == claim.id && finding.about == claim.about; });
        if (!is_told) problems.push_back("missing: " + claim.id + " about '" + claim.about + "', " + std::to_string(claim.least) + " to " + std::to_string(claim.most) + ": " + claim.why);
    }
    return problems;
}

const std::vector<KnownWrong>& known_wrong() {
    static const std::vector<KnownWrong> kList = {
        // Producers, keys, and who is in no group.
        {"H04", false, "the oracle does not know yet that what a stale producer wrote stays told until every group is beyond it"},
        {"H09", false, "keys whose partition was written to at a later count as well are not counted"},
        {"H40", true, "as H40 below"},
        {"H48", false, "a mirror that a growth met after its last fetch"},
        {"H40", false, "values that a producer with the old count wrote after the growth are not counted"},
        {"H52", false, "the oracle does not play who may be a member and is held"},
    };
    return kList;
}

}  // namespace partita::test::histories
