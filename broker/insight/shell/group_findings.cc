#include "broker/insight/shell/group_findings.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/ownership/ownership_findings.h"
#include "broker/insight/shell/fenced_reads.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/ownership_record.h"

namespace partita::runtime {
namespace {

std::string source_of(const std::string& group_id) { return "ownership/" + group_id; }

}  // namespace

Instant GroupFindings::next_due() const {
    const bool has_news = groups_.membership_version() != seen_version_;
    return has_news || !told_.empty() || fenced_readers_.has_suspects() || next_ < look_until_ ? next_ : kNever;
}

void GroupFindings::hear(const UpkeepBell::Heard& heard, Instant now) {
    if (heard.commit_refused) {
        look_until_ = now + kLookOnMs;
    }
}

void GroupFindings::identify_suspects() {
    for (insight::Suspect& suspect : fenced_readers_.suspects()) {
        if (auto speaker = connections_.coordinator_of(suspect.group, suspect.member_id)) {
            connections_.want_process(speaker->id);
            suspect.speaker = std::move(speaker);
        }
    }
}

void GroupFindings::judge(insight::Suspect& suspect, const insight::SeenRead& read) {
    const std::optional<insight::ConnectionFacts> reader = connections_.find(read.connection);
    if (!reader || reader->client_id != suspect.client_id) {
        return;
    }
    const auto peers = connections_.called(suspect.client_id, insight::FencedReaders::kPeersMax + 1);
    // Whoever is not known yet may be the suspect; who goes on is met again when more is known.
    for (const insight::SpeakingConnection& peer : peers) {
        connections_.want_process(peer.facts.id);
    }
    const std::optional<insight::ConnectionFacts> owner = connections_.coordinator_of(suspect.group, suspect.owner_id);
    const insight::Witnesses witnesses{
        .peers = peers,
        .are_complete = connections_.knows_all(),
        .owner = owner,
        .is_member = [this](const insight::SpokenFor& one) { return groups_.holdings_of(one.group, one.member_id).has_value(); }};
    if (!insight::is_surely_of(read, suspect, witnesses)) {
        return;
    }
    if (auto told = insight::FencedReaders::count(suspect, read)) {
        groups_.note_late_reading(suspect.group, suspect.member_id, suspect.owner_id, *std::move(told));
    }
}

void GroupFindings::judge_reads() {
    for (const insight::SeenRead& read : reads_.take()) {
        for (insight::Suspect& suspect : fenced_readers_.suspects()) {
            if (suspect.place == read.place) {
                judge(suspect, read);
            }
        }
    }
    reads_.watch(fenced_readers_.places());
}

void GroupFindings::run_due(Now now) {
    if (now.monotonic < next_due()) {
        return;
    }
    if (const std::uint64_t version = groups_.membership_version(); version != std::exchange(seen_version_, version)) {
        look_until_ = now.monotonic + kLookOnMs;
    }
    next_ = now.monotonic + kEveryMs;
    std::map<std::string, std::vector<insight::Finding>> found;
    fenced_readers_.begin_round();
    groups_.visit_histories([&](std::string_view group_id, const insight::GroupHistory& history) {
        fenced_readers_.look(group_id, history, now.wall);
    });
    fenced_readers_.end_round(now.wall);
    identify_suspects();
    judge_reads();
    const auto look = [&](std::string_view group_id, const insight::GroupHistory& history) {
        for (insight::Finding& finding : insight::ownership_findings(group_id, history, now.wall)) {
            found[std::string(group_id)].push_back(std::move(finding));
        }
    };
    groups_.visit_histories(look);
    for (OwnershipSource* other : others_) {
        other->visit_histories(look);
    }
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
