#include "broker/expansion/findings_board.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "protocol/assert.h"

namespace partita::expansion {
namespace {

/// Id and subject as one text. Lengths stand before names, so that no name can look like two.
std::string identity(const Finding& finding) {
    const Subject& subject = finding.subject;
    std::string text = to_string(finding.id);
    for (const std::string* name : {&subject.topic, &subject.group, &subject.client_id, &subject.client_address}) {
        text += "|" + std::to_string(name->size()) + ":" + *name;
    }
    text += "|p" + (subject.partition ? std::to_string(subject.partition->value) : "");
    text += "|i" + (subject.producer_id ? std::to_string(subject.producer_id->value) : "");
    return text;
}

}  // namespace

std::string_view to_string(FindingEvent::Kind kind) {
    switch (kind) {
        case FindingEvent::Kind::opened:
            return "opened";
        case FindingEvent::Kind::updated:
            return "updated";
        case FindingEvent::Kind::closed:
            return "closed";
    }
    return "";
}

void FindingsBoard::settle(std::string_view source, std::span<const Finding> current, TimestampMs now) {
    PARTITA_ASSERT(events_.size() <= kEventsMax, "somebody takes the events");
    auto place = sources_.find(source);
    if (place == sources_.end()) {
        if (current.empty()) {
            return;
        }
        place = sources_.emplace(std::string(source), Findings{}).first;
    }
    Findings& findings = place->second;
    std::set<std::string> seen;
    for (const Finding& finding : current) {
        std::string key = identity(finding);
        if (!seen.insert(key).second) {
            continue;
        }
        if (const auto known = findings.find(key); known != findings.end()) {
            update_finding(known->second, finding, now);
        } else {
            open_finding(findings, std::move(key), finding, now);
        }
    }
    for (auto held = findings.begin(); held != findings.end();) {
        if (seen.contains(held->first)) {
            ++held;
            continue;
        }
        emit(FindingEvent::Kind::closed, held->second.open.finding, held->second.open.opened, now);
        --open_count_;
        held = findings.erase(held);
    }
    if (findings.empty()) {
        sources_.erase(place);
    }
}

std::vector<FindingEvent> FindingsBoard::take_events() { return std::exchange(events_, {}); }

std::vector<OpenFinding> FindingsBoard::open() const {
    std::vector<OpenFinding> all;
    all.reserve(open_count_);
    for (const auto& [source, findings] : sources_) {
        for (const auto& [key, held] : findings) {
            all.push_back(held.open);
        }
    }
    std::ranges::stable_sort(all, [](const OpenFinding& a, const OpenFinding& b) {
        return std::tuple(-static_cast<int>(a.finding.severity), a.finding.id, std::string_view(a.finding.subject.topic)) <
               std::tuple(-static_cast<int>(b.finding.severity), b.finding.id, std::string_view(b.finding.subject.topic));
    });
    return all;
}

void FindingsBoard::open_finding(Findings& findings, std::string key, const Finding& finding, TimestampMs now) {
    if (open_count_ >= kOpenMax) {
        ++refused_;
        return;
    }
    ++open_count_;
    findings.emplace(std::move(key), Held{.open = {finding, now, now}, .told = finding, .told_at = now});
    emit(FindingEvent::Kind::opened, finding, now, now);
}

void FindingsBoard::update_finding(Held& held, const Finding& finding, TimestampMs now) {
    if (held.open.finding != finding) {
        held.open.finding = finding;
        held.open.changed = now;
    }
    const bool is_worse = finding.severity > held.told.severity;
    if (held.told == finding || (!is_worse && now.value - held.told_at.value < kUpdateIntervalMs)) {
        return;
    }
    held.told = finding;
    held.told_at = now;
    emit(FindingEvent::Kind::updated, finding, held.open.opened, now);
}

void FindingsBoard::emit(FindingEvent::Kind kind, const Finding& finding, TimestampMs opened, TimestampMs now) {
    events_.push_back({.sequence = ++last_sequence_, .kind = kind, .time = now, .opened = opened, .finding = finding});
}

}  // namespace partita::expansion
