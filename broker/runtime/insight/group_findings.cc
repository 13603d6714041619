#include "broker/runtime/insight/group_findings.h"

#include <map>
#include <utility>
#include <vector>

#include "broker/ownership/ownership_findings.h"
#include "broker/runtime/coordinators/claim_shards.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/findings/findings_hub.h"

namespace partita::runtime {
namespace {

std::string source_of(const std::string& group_id) { return "ownership/" + group_id; }

}  // namespace

Instant GroupFindings::next_due() const {
    const bool has_news = groups_.membership_version() != seen_version_;
    return has_news || !told_.empty() || next_ < look_until_ ? next_ : kNever;
}

void GroupFindings::hear(const UpkeepBell::Heard& heard, Instant now) {
    if (heard.commit_refused) {
        look_until_ = now + kLookOnMs;
    }
}

void GroupFindings::run_due(Now now) {
    if (now.monotonic < next_due()) {
        return;
    }
    if (const std::uint64_t version = groups_.membership_version(); version != std::exchange(seen_version_, version)) {
        look_until_ = now.monotonic + kLookOnMs;
    }
    next_ = now.monotonic + kEveryMs;
    std::map<std::string, std::vector<expansion::Finding>> found;
    const auto look = [&](std::string_view group_id, const groups::GroupHistory& history) {
        for (expansion::Finding& finding : ownership::ownership_findings(group_id, history, now.wall)) {
            found[std::string(group_id)].push_back(std::move(finding));
        }
    };
    groups_.visit_histories(look);
    claims_.visit_histories(look);
    // A history that is forgotten, with its group or because others are newer, has no findings any more.
    for (const std::string& group_id : std::exchange(told_, {})) {
        if (!found.contains(group_id)) {
            findings_.settle(source_of(group_id), {}, now.wall);
        }
    }
    for (const auto& [group_id, findings] : found) {
        findings_.settle(source_of(group_id), findings, now.wall);
        told_.insert(group_id);
    }
}

}  // namespace partita::runtime
