#include "broker/addons/faults/core/fault_table.h"

#include <algorithm>
#include <utility>

#include "protocol/try.h"

namespace partita::faults {
namespace {

bool agrees(std::string_view wanted, std::string_view found) { return wanted.empty() || wanted == found; }

/// Requests for metadata name topics, and a rule chooses the partitions in the answer.
bool names_partition(const Rule& rule, const RequestFacts& request) {
    const Match& match = rule.match;
    const bool is_any_partition = !match.partition || rule.action.stale_metadata.has_value();
    if (match.topic.empty() && is_any_partition) {
        return true;
    }
    return std::ranges::any_of(request.partitions, [&](const NamedPartition& named) {
        return agrees(match.topic, named.topic) && (is_any_partition || match.partition == named.partition);
    });
}

bool is_about(const Rule& rule, const RequestFacts& request) {
    const Match& match = rule.match;
    const bool is_hidden = request.names_incompletely && changes_answer(rule.action);
    return !is_about_disk(rule.action) && concerns(rule.action, request.api) && (!match.api || *match.api == request.api) &&
           (!match.version || *match.version == request.version) && agrees(match.client_id, request.client_id) &&
           agrees(match.software, request.software) && agrees(match.principal, request.principal) &&
           agrees(match.listener, request.listener) && (!match.broker || *match.broker == request.broker) &&
           (match.group.empty() || std::ranges::find(request.groups, match.group) != request.groups.end()) &&
           (is_hidden || names_partition(rule, request));
}

bool is_about(const Rule& rule, const DiskFacts& operation) {
    const bool is_wanted = operation.operation == DiskOperation::write ? rule.action.disk_full : rule.action.sync_fails;
    return is_wanted && agrees(rule.match.topic, operation.topic) &&
           (!rule.match.partition || rule.match.partition == operation.partition);
}

/// The next number of the sequence, between 0 and 1: splitmix64.
double next_random(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    mixed ^= mixed >> 31;
    constexpr double kUnit = 1.0 / (std::uint64_t{1} << 53);
    return static_cast<double>(mixed >> 11) * kUnit;
}

}  // namespace

std::expected<std::vector<std::string>, std::string> FaultTable::add(std::vector<Rule> rules, Now now) {
    if (entries_.size() + rules.size() > kRulesMax) {
        return std::unexpected("there may be " + std::to_string(kRulesMax) + " rules");
    }
    std::vector<Entry> added;
    std::vector<std::string> ids;
    const auto is_known = [&](const std::string& id) {
        return find(id) != nullptr || std::ranges::any_of(added, [&](const Entry& entry) { return entry.rule.id == id; });
    };
    for (Rule& rule : rules) {
        PARTITA_TRY(check(rule));
        const bool is_named_here = rule.id.empty();
        while (rule.id.empty() || (is_named_here && is_known(rule.id))) {
            rule.id = "fault-" + std::to_string(++last_number_);
        }
        if (is_known(rule.id)) {
            return std::unexpected("there is a rule \"" + rule.id + "\" already");
        }
        if (!rule.when.after_fault.empty() && !is_known(rule.when.after_fault)) {
            return std::unexpected("there is no rule \"" + rule.when.after_fault + "\" for \"after_fault\"");
        }
        ids.push_back(rule.id);
        const std::uint64_t seed = rule.when.seed;
        added.push_back({.rule = std::move(rule), .added = now.wall, .added_at = now.monotonic, .random = seed});
    }
    std::ranges::move(added, std::back_inserter(entries_));
    return ids;
}

bool FaultTable::remove(std::string_view id) {
    return std::erase_if(entries_, [&](const Entry& entry) { return entry.rule.id == id; }) > 0;
}

bool FaultTable::needs_names(ApiKey api, std::int16_t version) const {
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
        const Match& match = entry.rule.match;
        return !is_about_disk(entry.rule.action) && (!match.api || *match.api == api) &&
               (!match.version || *match.version == version) && (!match.group.empty() || !match.topic.empty() || match.partition);
    });
}

const FaultTable::Entry* FaultTable::find(std::string_view id) const {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.rule.id == id; });
    return found == entries_.end() ? nullptr : &*found;
}

bool FaultTable::is_due(const Entry& entry, Instant now) const {
    Instant since = entry.added_at;
    if (!entry.rule.when.after_fault.empty()) {
        const Entry* before = find(entry.rule.when.after_fault);
        if (before == nullptr || !before->first_acted_at) {
            return false;
        }
        since = std::max(since, *before->first_acted_at);
    }
    const std::int64_t passed_ms = now - since;
    const When& when = entry.rule.when;
    return passed_ms >= when.after_ms && (when.for_ms == 0 || passed_ms < when.after_ms + when.for_ms);
}

void FaultTable::take_back(std::string_view id, std::string_view client_address, std::int32_t correlation_id) {
    const auto entry = std::ranges::find_if(entries_, [&](const Entry& each) { return each.rule.id == id; });
    if (entry == entries_.end() || entry->acted == 0) {
        return;
    }
    if (--entry->acted == 0) {
        entry->first_acted_at.reset();
    }
    const auto note = std::find_if(entry->notes.rbegin(), entry->notes.rend(), [&](const MatchNote& each) {
        return each.correlation_id == correlation_id && each.client_address == client_address;
    });
    if (note != entry->notes.rend()) {
        note->has_acted = false;
    }
}

bool FaultTable::meet(Entry& entry, MatchNote note, Now now) {
    const When& when = entry.rule.when;
    ++entry.matched;
    const bool is_its_turn = entry.matched >= when.nth && (entry.matched - when.nth) % when.every == 0 &&
                             (when.times == 0 || entry.acted < when.times);
    const bool acts = is_its_turn && (when.probability >= 1 || next_random(entry.random) < when.probability);
    if (entry.notes.size() == kNotesMax) {
        entry.notes.pop_front();
    }
    note.time = now.wall;
    note.has_acted = acts;
    entry.notes.push_back(std::move(note));
    if (acts) {
        ++entry.acted;
        if (!entry.first_acted_at) {
            entry.first_acted_at = now.monotonic;
        }
    }
    return acts;
}

const Rule* FaultTable::decide(const RequestFacts& request, Now now) {
    for (Entry& entry : entries_) {
        if (is_about(entry.rule, request) && is_due(entry, now.monotonic) &&
            meet(entry,
                 {.api = request.api,
                  .version = request.version,
                  .client_id = std::string(request.client_id.substr(0, kNotedBytesMax)),
                  .client_address = std::string(request.client_address),
                  .correlation_id = request.correlation_id},
                 now)) {
            return &entry.rule;
        }
    }
    return nullptr;
}

bool FaultTable::fails(const DiskFacts& operation, Now now) {
    return std::ranges::any_of(entries_, [&](Entry& entry) {
        return is_about(entry.rule, operation) && is_due(entry, now.monotonic) &&
               meet(entry, {.file = std::string(operation.file.substr(0, kNotedBytesMax))}, now);
    });
}

bool FaultTable::has_disk_rules() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) { return is_about_disk(entry.rule.action); });
}

}  // namespace partita::faults
