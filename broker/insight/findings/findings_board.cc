#include "broker/insight/findings/findings_board.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "broker/insight/findings/sentence_numbers.h"
#include "protocol/assert.h"

namespace partita::insight {
namespace {

/// The least time between the last event of a finding, which told of it as `told`, and the next.
std::int64_t update_interval_ms(const Finding& told, const Finding& finding) {
    if (told == finding) {
        return finding.kind == HazardKind::harm ? FindingsBoard::kHarmRepeatMs : std::numeric_limits<std::int64_t>::max();
    }
    Finding other = told;
    other.evidence = finding.evidence;
    return other == finding ? FindingsBoard::kEvidenceIntervalMs : FindingsBoard::kUpdateIntervalMs;
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

std::string_view to_string(EndedFinding::How how) {
    switch (how) {
        case EndedFinding::How::over:
            return "over";
        case EndedFinding::How::seen:
            return "seen";
        case EndedFinding::How::stopped:
            return "stopped";
    }
    return "";
}

void FindingsBoard::settle(std::string_view name, std::span<const Finding> current, TimestampMs now) {
    PARTITA_ASSERT(events_.size() <= kEventsMax, "somebody takes the events");
    auto place = sources_.find(name);
    if (place == sources_.end()) {
        if (current.empty()) {
            return;
        }
        place = sources_.emplace(std::string(name), Source{}).first;
    }
    Source& source = place->second;
    source.refused = {};
    open_worst_first(source, settle_known(source, current, now), now);
    if (source.is_empty()) {
        sources_.erase(place);
    }
    settle_overflow(now);
}

std::size_t FindingsBoard::mark_seen(FunctionRef<bool(const OpenFinding&)> which, TimestampMs now) {
    std::size_t count = 0;
    for (auto& [name, source] : sources_) {
        for (auto held = source.findings.begin(); held != source.findings.end();) {
            const OpenFinding& open = held->second.open;
            if (open.finding.kind != HazardKind::harm || !which(open)) {
                ++held;
                continue;
            }
            end(open, EndedFinding::How::seen, now);
            source.seen.insert_or_assign(held->first, open.finding.count);
            held = source.findings.erase(held);
            --open_count_;
            ++count;
        }
    }
    return count;
}

void FindingsBoard::restore(PastFindings past, TimestampMs now) {
    // Findings may have ended since the start.
    for (EndedFinding& ended :
         std::exchange(ended_, {std::make_move_iterator(past.ended.begin()), std::make_move_iterator(past.ended.end())})) {
        keep_ended(std::move(ended));
    }
    for (const OpenFinding& harm : past.harm) {
        if (open_count_ >= kOpenMax) {
            break;
        }
        const Finding& finding = harm.finding;
        const auto [place, is_new] = sources_[past_source(harm.opened)].findings.try_emplace(
            identity_of(finding), Held{.open = harm, .told = finding, .told_at = now});
        if (is_new) {
            ++open_count_;
            emit(FindingEvent::Kind::opened, finding, harm.opened, now);
        }
    }
}

std::size_t FindingsBoard::forget(TimestampMs now) {
    const std::size_t count = open_count_ + ended_.size();
    for (const auto& [name, source] : sources_) {
        for (const auto& [key, held] : source.findings) {
            end(held.open, EndedFinding::How::over, now);
        }
    }
    sources_.clear();
    open_count_ = 0;
    settle_overflow(now);
    ended_.clear();
    return count;
}

std::vector<FindingsBoard::Newcomer> FindingsBoard::settle_known(Source& source, std::span<const Finding> current,
                                                                 TimestampMs now) {
    std::vector<Newcomer> newcomers;
    std::set<std::string> reported;
    for (const Finding& finding : current) {
        std::string key = identity_of(finding);
        if (!reported.insert(key).second || is_still_seen(source, key, finding)) {
            continue;
        }
        if (const auto known = source.findings.find(key); known != source.findings.end()) {
            update_finding(known->second, finding, now);
        } else {
            newcomers.push_back({std::move(key), &finding});
        }
    }
    for (auto held = source.findings.begin(); held != source.findings.end();) {
        if (reported.contains(held->first)) {
            ++held;
            continue;
        }
        end(held->second.open, EndedFinding::How::over, now);
        --open_count_;
        held = source.findings.erase(held);
    }
    std::erase_if(source.seen, [&](const auto& one) { return !reported.contains(one.first); });
    return newcomers;
}

bool FindingsBoard::is_still_seen(Source& source, const std::string& key, const Finding& finding) {
    const auto known = source.seen.find(key);
    if (known == source.seen.end()) {
        return false;
    }
    if (finding.count > known->second) {
        source.seen.erase(known);
        return false;
    }
    known->second = finding.count;
    return true;
}

void FindingsBoard::open_worst_first(Source& source, std::vector<Newcomer> newcomers, TimestampMs now) {
    std::ranges::stable_sort(newcomers, std::ranges::greater(), [](const Newcomer& one) { return one.finding->severity; });
    std::optional<std::vector<Place>> places;
    for (Newcomer& newcomer : newcomers) {
        const Finding& finding = *newcomer.finding;
        if (open_count_ >= kOpenMax) {
            if (!places) {
                places = this->places();
            }
            if (!displace(*places, finding.severity, now)) {
                ++source.refused[static_cast<std::size_t>(finding.severity)];
                continue;
            }
        }
        ++open_count_;
        source.findings.emplace(
            std::move(newcomer.key),
            Held{.open = {finding, now, now, finding.count}, .told = finding, .told_at = now, .told_sequence = last_sequence_});
        emit(FindingEvent::Kind::opened, finding, now, now);
    }
}

std::vector<FindingsBoard::Place> FindingsBoard::places() {
    std::vector<Place> places;
    places.reserve(open_count_);
    for (auto& [name, source] : sources_) {
        for (const auto& [key, held] : source.findings) {
            places.push_back({held.open.finding.severity, held.open.opened, &source, key});
        }
    }
    std::ranges::stable_sort(places, [](const Place& one, const Place& other) {
        return std::tuple(-static_cast<int>(one.severity), one.opened) <
               std::tuple(-static_cast<int>(other.severity), other.opened);
    });
    return places;
}

bool FindingsBoard::displace(std::vector<Place>& places, Severity severity, TimestampMs now) {
    if (places.empty() || places.back().severity >= severity) {
        return false;
    }
    const Place place = std::move(places.back());
    places.pop_back();
    const auto held = place.source->findings.find(place.key);
    PARTITA_ASSERT(held != place.source->findings.end(), "what has a place is open");
    emit(FindingEvent::Kind::closed, held->second.open.finding, held->second.open.opened, now).is_displaced = true;
    place.source->findings.erase(held);
    ++place.source->refused[static_cast<std::size_t>(place.severity)];
    --open_count_;
    return true;
}

std::size_t FindingsBoard::refused() const {
    std::size_t total = 0;
    for (const auto& [name, source] : sources_) {
        for (const std::size_t count : source.refused) {
            total += count;
        }
    }
    return total;
}

void FindingsBoard::settle_overflow(TimestampMs now) {
    SeverityCounts refused{};
    for (const auto& [name, source] : sources_) {
        for (std::size_t severity = 0; severity < kSeverities; ++severity) {
            refused[severity] += source.refused[severity];
        }
    }
    const auto at = [&](Severity severity) { return static_cast<std::int64_t>(refused[static_cast<std::size_t>(severity)]); };
    const std::int64_t total = at(Severity::info) + at(Severity::warn) + at(Severity::block);
    if (total == 0) {
        if (overflow_) {
            end(overflow_->open, EndedFinding::How::over, now);
            overflow_.reset();
        }
        return;
    }
    Finding finding = make_finding(HazardId::findings_overflow, {},
                                   counted(total, "finding holds and is", "findings hold and are") + " not shown (" +
                                       std::to_string(at(Severity::block)) + " of severity block, " +
                                       std::to_string(at(Severity::warn)) + " warn, " + std::to_string(at(Severity::info)) +
                                       " info): the broker keeps the worst " + std::to_string(kOpenMax),
                                   total);
    finding.severity = at(Severity::block) > 0 ? Severity::block : at(Severity::warn) > 0 ? Severity::warn : Severity::info;
    finding.numbers = {
        {"refused_block", at(Severity::block)}, {"refused_warn", at(Severity::warn)}, {"refused_info", at(Severity::info)}};
    if (overflow_) {
        update_finding(*overflow_, finding, now);
        return;
    }
    overflow_ = Held{.open = {finding, now, now, finding.count}, .told = finding, .told_at = now};
    emit(FindingEvent::Kind::opened, finding, now, now);
}

std::vector<FindingEvent> FindingsBoard::take_events() { return std::exchange(events_, {}); }

std::vector<OpenFinding> FindingsBoard::open() const {
    std::vector<OpenFinding> all;
    all.reserve(open_count_ + 1);
    for (const auto& [name, source] : sources_) {
        for (const auto& [key, held] : source.findings) {
            all.push_back(held.open);
        }
    }
    if (overflow_) {
        all.push_back(overflow_->open);
    }
    std::ranges::stable_sort(all, [](const OpenFinding& a, const OpenFinding& b) {
        return std::tuple(-static_cast<int>(a.finding.severity), a.finding.id, std::string_view(a.finding.subject.topic)) <
               std::tuple(-static_cast<int>(b.finding.severity), b.finding.id, std::string_view(b.finding.subject.topic));
    });
    return all;
}

void FindingsBoard::update_finding(Held& held, const Finding& finding, TimestampMs now) {
    if (held.open.finding != finding) {
        held.open.finding = finding;
        held.open.changed = now;
        held.open.largest_count = std::max(held.open.largest_count, finding.count);
    }
    const bool is_worse = finding.severity > held.told.severity;
    const bool is_buried = finding.kind == HazardKind::harm && last_sequence_ - held.told_sequence >= kHarmRepeatEvents;
    if (!is_worse && !is_buried && now.value - held.told_at.value < update_interval_ms(held.told, finding)) {
        return;
    }
    held.told = finding;
    held.told_at = now;
    emit(FindingEvent::Kind::updated, finding, held.open.opened, now);
    held.told_sequence = last_sequence_;
}

void FindingsBoard::end(const OpenFinding& open, EndedFinding::How how, TimestampMs now) {
    emit(FindingEvent::Kind::closed, open.finding, open.opened, now).is_seen = how == EndedFinding::How::seen;
    keep_ended({open.finding, open.opened, now, open.largest_count, how});
}

void FindingsBoard::keep_ended(EndedFinding ended) {
    ended_.push_back(std::move(ended));
    if (ended_.size() > kEndedMax) {
        ended_.erase(std::ranges::min_element(ended_, {}, [](const EndedFinding& one) { return one.finding.severity; }));
    }
}

FindingEvent& FindingsBoard::emit(FindingEvent::Kind kind, const Finding& finding, TimestampMs opened, TimestampMs now) {
    return events_.emplace_back(
        FindingEvent{.sequence = ++last_sequence_, .kind = kind, .time = now, .opened = opened, .finding = finding});
}

}  // namespace partita::insight
