#include "broker/insight/shell/ownership_observer.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/ownership/ownership_findings.h"
#include "broker/insight/shell/fenced_reads.h"

namespace partita::insight {
namespace {

std::string source_of(const std::string& group_id) { return "ownership/" + group_id; }

}  // namespace

Instant OwnershipObserver::next_due() const {
    const bool has_news = cluster_.groups().membership_version() != seen_version_;
    return has_news || !told_.empty() || fenced_readers_.has_suspects() || next_ < look_until_ ? next_ : kNever;
}

void OwnershipObserver::hear(const runtime::UpkeepBell::Heard& heard, Instant now) {
    if (heard.commit_refused) {
        look_until_ = now + kLookOnMs;
    }
}

void OwnershipObserver::identify_suspects() {
    for (Suspect& suspect : fenced_readers_.suspects()) {
        if (auto speaker = cluster_.clients().coordinator_of(suspect.group, suspect.member_id)) {
            cluster_.clients().want_process(speaker->id);
            suspect.speaker = std::move(speaker);
        }
    }
}

void OwnershipObserver::judge(Suspect& suspect, const SeenRead& read) {
    const std::optional<ConnectionFacts> reader = cluster_.clients().find(read.connection);
    if (!reader || reader->client_id != suspect.client_id) {
        return;
    }
    const auto peers = cluster_.clients().called(suspect.client_id, FencedReaders::kPeersMax + 1);
    // A peer whose process is unknown may be the suspect. If the suspect keeps reading, a later look knows more.
    for (const SpeakingConnection& peer : peers) {
        cluster_.clients().want_process(peer.facts.id);
    }
    const std::optional<ConnectionFacts> owner = cluster_.clients().coordinator_of(suspect.group, suspect.owner_id);
    const Witnesses witnesses{
        .peers = peers,
        .are_complete = cluster_.clients().knows_all(),
        .owner = owner,
        .is_member = [this](const SpokenFor& one) { return cluster_.groups().member(one.group, one.member_id).has_value(); }};
    if (!is_surely_of(read, suspect, witnesses)) {
        return;
    }
    if (auto told = FencedReaders::count(suspect, read)) {
        histories_.note_late_reading(suspect.group, suspect.member_id, suspect.owner_id, *std::move(told));
    }
}

void OwnershipObserver::judge_reads() {
    for (const SeenRead& read : reads_.take()) {
        for (Suspect& suspect : fenced_readers_.suspects()) {
            if (suspect.place == read.place) {
                judge(suspect, read);
            }
        }
    }
    reads_.watch(fenced_readers_.places());
}

void OwnershipObserver::run_due(Now now) {
    if (now.monotonic < next_due()) {
        return;
    }
    if (const std::uint64_t version = cluster_.groups().membership_version(); version != std::exchange(seen_version_, version)) {
        look_until_ = now.monotonic + kLookOnMs;
    }
    next_ = now.monotonic + kEveryMs;
    std::map<std::string, std::vector<Finding>> found;
    fenced_readers_.begin_round();
    histories_.visit_groups(
        [&](std::string_view group_id, const GroupHistory& history) { fenced_readers_.look(group_id, history, now.wall); });
    fenced_readers_.end_round(now.wall);
    identify_suspects();
    judge_reads();
    const auto look = [&](std::string_view group_id, const GroupHistory& history) {
        for (Finding& finding : ownership_findings(group_id, history, now.wall)) {
            found[std::string(group_id)].push_back(std::move(finding));
        }
    };
    histories_.visit_groups(look);
    histories_.visit_others(look);
    // A history may be forgotten with its group, or to make room for newer ones. It then has no findings any more.
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

}  // namespace partita::insight
