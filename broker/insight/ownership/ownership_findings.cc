#include "broker/insight/ownership/ownership_findings.h"

#include <algorithm>
#include <string>
#include <utility>

namespace partita::insight {
namespace {

using insight::Finding;
using insight::GroupHistory;
using insight::HazardId;
using insight::LateReading;
using insight::LateRequest;

const GroupHistory::KnownMember& member_at(const GroupHistory& history, std::int32_t index) {
    return history.members()[static_cast<std::size_t>(index)];
}

/// "web-1 of 10.0.0.7 (member web-1-2f1c)".
std::string name_of(const GroupHistory::KnownMember& member) {
    const std::string& host = member.client_host;
    return member.client_id + " of " + host.substr(host.starts_with('/') ? 1 : 0) + " (member " + member.member_id + ")";
}

std::string times(std::uint64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

bool is_recent(TimestampMs last, TimestampMs now) { return now.value - last.value <= GroupHistory::kLateSpellMs; }

using Readings = std::vector<const LateReading*>;

std::uint64_t fetches_in(const Readings& readings) {
    std::uint64_t fetches = 0;
    for (const LateReading* reading : readings) {
        fetches += reading->fetches;
    }
    return fetches;
}

/// The member's late readings of one topic. Readers of a finding may see that topic but need not know the others.
Readings readings_of(const GroupHistory& history, std::int32_t member, std::string_view topic, TimestampMs now) {
    Readings found;
    for (const LateReading& one : history.late_readings()) {
        if (one.member == member && one.topic == topic && is_recent(one.last, now) &&
            GroupHistory::was_put_out(member_at(history, member))) {
            found.push_back(&one);
        }
    }
    return found;
}

/// "its process java (pid 4711) fetched t 0 from offset 812 to 900, which web-2 of 10.0.0.8 (member m2) had for 5300 ms by then.
/// ..."
std::string reading_text(const GroupHistory& history, const Readings& readings) {
    const LateReading& one = *readings.front();
    std::string text = one.process.empty() ? "it fetched " : "its process " + one.process + " fetched ";
    text += one.topic + " " + std::to_string(one.partition) + " from offset " + std::to_string(one.from.value) + " to " +
            std::to_string(one.to.value) + ", which " + name_of(member_at(history, one.owner)) + " had owned for " +
            std::to_string(std::max<std::int64_t>(0, one.last.value - one.since.value)) + " ms. ";
    return text + times(fetches_in(readings), "fetch", "fetches") + " of " + times(readings.size(), "partition", "partitions") +
           " of other owners.";
}

void add_reading_numbers(const Readings& readings, Finding& finding) {
    finding.numbers.push_back({"late_fetches", static_cast<std::int64_t>(fetches_in(readings))});
    finding.numbers.push_back({"late_fetched_partitions", static_cast<std::int64_t>(readings.size())});
    finding.numbers.push_back({"late_fetched_offset", readings.front()->from.value});
}

/// Finds members that were dropped or replaced, and yet read partitions that another member has. `told`: the members that a
/// finding already names for that.
void find_late_readers(std::string_view group_id, const GroupHistory& history, const std::vector<std::int32_t>& told,
                       TimestampMs now, std::vector<Finding>& found) {
    std::vector<std::int32_t> done = told;
    for (const LateReading& one : history.late_readings()) {
        if (std::ranges::find(done, one.member) != done.end()) {
            continue;
        }
        const Readings readings = readings_of(history, one.member, one.topic, now);
        if (readings.empty()) {
            continue;
        }
        done.push_back(one.member);
        const GroupHistory::KnownMember& member = member_at(history, one.member);
        const LateReading& first = *readings.front();
        const std::string& host = member.client_host;
        Finding finding = make_finding(HazardId::two_owners,
                                       {.topic = first.topic,
                                        .partition = PartitionIndex{first.partition},
                                        .group = std::string(group_id),
                                        .client_id = member.client_id,
                                        .client_address = host.substr(host.starts_with('/') ? 1 : 0)},
                                       name_of(member) + " is no longer a member of " + std::string(group_id) + " (" +
                                           std::string(to_string(member.gone->cause)) +
                                           "), but still reads: " + reading_text(history, readings),
                                       static_cast<std::int64_t>(fetches_in(readings)));
        add_reading_numbers(readings, finding);
        finding.numbers.push_back({"gone_ms", member.gone->time.value});
        finding.numbers.push_back({"both_ms", std::max<std::int64_t>(0, first.last.value - first.since.value)});
        found.push_back(std::move(finding));
    }
}

/// Finds members that were dropped or replaced, and yet commit for partitions that another member has.
void find_two_owners(std::string_view group_id, const GroupHistory& history, TimestampMs now, std::vector<Finding>& found) {
    std::vector<std::int32_t> told;
    for (const GroupHistory::LateMember& late : history.late_members()) {
        const GroupHistory::KnownMember& member = member_at(history, late.member);
        const GroupHistory::LateMember::Overlap& overlap = late.overlap;
        // A member that is one generation behind learns it with its next heartbeat: that is G02. A member that left said so
        // itself; its later requests were already under way.
        const bool went_on = overlap.claim_ended || (member.gone && member.gone->cause != insight::RebalanceCause::left);
        if (overlap.topic.empty() || !is_recent(overlap.time, now) || !went_on) {
            continue;
        }
        const GroupHistory::KnownMember& owner = member_at(history, overlap.owner);
        const std::string place = overlap.topic + " " + std::to_string(overlap.partition);
        const std::string end =
            overlap.claim_ended
                ? " has lost its claim in " + std::string(group_id) + " (" + std::string(to_string(*overlap.claim_ended)) + ")"
                : " is no longer a member of " + std::string(group_id) + " (" + std::string(to_string(member.gone->cause)) + ")";
        std::string condition = name_of(member) + end + ", but continues: it tried to commit offset " +
                                std::to_string(overlap.offset.value) + " of " + place + ", which " + name_of(owner);
        Finding finding;
        const bool is_known = overlap.since != kNoTimestamp;
        const std::int64_t both_ms = is_known ? std::max<std::int64_t>(0, overlap.time.value - overlap.since.value) : 0;
        condition += is_known ? " had owned for " + std::to_string(both_ms) + " ms. " : " owns. ";
        condition += times(late.count(LateRequest::commit), "of its commits was refused.", "of its commits were refused.");
        const std::string& host = member.client_host;
        finding = make_finding(HazardId::two_owners,
                               {.topic = overlap.topic,
                                .partition = PartitionIndex{overlap.partition},
                                .group = std::string(group_id),
                                .client_id = member.client_id,
                                .client_address = host.substr(host.starts_with('/') ? 1 : 0)},
                               std::move(condition), late.count(LateRequest::commit));
        finding.numbers = {{"refused_commits", late.count(LateRequest::commit)}, {"refused_offset", overlap.offset.value}};
        if (is_known) {
            finding.numbers.push_back({"both_ms", both_ms});
        }
        if (const Readings readings = readings_of(history, late.member, overlap.topic, now); !readings.empty()) {
            finding.condition += " It also still reads: " + reading_text(history, readings);
            add_reading_numbers(readings, finding);
        }
        told.push_back(late.member);
        found.push_back(std::move(finding));
    }
    find_late_readers(group_id, history, told, now, found);
}

void find_refused_commits(std::string_view group_id, const GroupHistory& history, TimestampMs now, std::vector<Finding>& found) {
    std::uint64_t commits = 0;
    std::int64_t members = 0;
    const GroupHistory::LateMember* last = nullptr;
    for (const GroupHistory::LateMember& late : history.late_members()) {
        if (late.count(LateRequest::commit) == 0 || !is_recent(late.last, now)) {
            continue;
        }
        commits += late.count(LateRequest::commit);
        ++members;
        last = last == nullptr || last->last.value <= late.last.value ? &late : last;
    }
    if (commits < kRefusedCommits) {
        return;
    }
    Finding finding =
        make_finding(HazardId::commits_refused, {.group = std::string(group_id)},
                     "The broker refused " + times(commits, "commit", "commits") + " in the group " + std::string(group_id) +
                         " with an outdated generation, epoch or member id; their last outdated request came from " +
                         name_of(member_at(history, last->member)) + " by claim " + std::to_string(last->claim) + ".",
                     static_cast<std::int64_t>(commits));
    finding.numbers = {{"refused_commits", static_cast<std::int64_t>(commits)}, {"members", members}};
    found.push_back(std::move(finding));
}

/// "joined 12 times, session_expired 3 times".
std::string causes_text(const GroupHistory::Unrest& unrest) {
    std::vector<std::pair<std::uint64_t, std::size_t>> causes;
    for (std::size_t cause = 0; cause < unrest.causes.size(); ++cause) {
        if (unrest.causes.at(cause) > 0) {
            causes.emplace_back(unrest.causes.at(cause), cause);
        }
    }
    std::ranges::sort(causes, [](const auto& left, const auto& right) { return left.first > right.first; });
    std::string text;
    for (const auto& [count, cause] : causes) {
        text += (text.empty() ? "" : ", ") + std::string(to_string(static_cast<insight::RebalanceCause>(cause))) + " " +
                times(count, "time", "times");
    }
    return text;
}

void find_unrest(std::string_view group_id, const GroupHistory& history, TimestampMs now, std::vector<Finding>& found) {
    const auto unrest = history.unrest(now);
    if (!unrest || now.value - unrest->since.value < kRestlessMs) {
        return;
    }
    Finding finding = make_finding(
        HazardId::never_settles, {.group = std::string(group_id)},
        "The group " + std::string(group_id) + " was never stable for " + std::to_string(GroupHistory::kCalmMs / 1000) +
            " s in a row during the last " + std::to_string(kRestlessMs / 1000) +
            " s or longer: " + times(unrest->rebalances, "rebalance", "rebalances") + ", " + causes_text(*unrest) + ".",
        static_cast<std::int64_t>(unrest->rebalances));
    finding.numbers = {{"rebalances", static_cast<std::int64_t>(unrest->rebalances)}, {"since_ms", unrest->since.value}};
    found.push_back(std::move(finding));
}

void find_flapping(std::string_view group_id, const GroupHistory& history, TimestampMs now, std::vector<Finding>& found) {
    const TimestampMs last = history.last_flapping();
    if (last == kNoTimestamp || now.value - last.value > GroupHistory::kFlappingWindowMs) {
        return;
    }
    for (const auto& [name, topic] : history.topics()) {
        std::int64_t count = 0;
        std::string named;
        for (std::size_t partition = 0; partition < topic.partitions.size(); ++partition) {
            const GroupHistory::Ownership& one = topic.partitions[partition];
            if (one.previous == GroupHistory::kNobody || !GroupHistory::is_flapping(one, now)) {
                continue;
            }
            if (std::cmp_less(count++, kNamedPartitionsMax)) {
                named += (named.empty() ? "" : "; ") + std::to_string(partition) + " between " +
                         member_at(history, one.previous).client_id + " and " + member_at(history, one.owner).client_id;
            }
        }
        if (count == 0) {
            continue;
        }
        found.push_back(make_finding(HazardId::partitions_flap, {.topic = name, .group = std::string(group_id)},
                                     times(static_cast<std::uint64_t>(count), "partition", "partitions") + " of " + name +
                                         " returned to their previous owner in " + std::string(group_id) + " " +
                                         std::to_string(GroupHistory::kFlappingReturns) + " times in " +
                                         std::to_string(GroupHistory::kFlappingWindowMs / 60'000) + " minutes: " + named + ".",
                                     count));
        found.back().numbers = {{"partitions", count}};
    }
}

}  // namespace

std::vector<Finding> ownership_findings(std::string_view group_id, const GroupHistory& history, TimestampMs now) {
    std::vector<Finding> found;
    find_two_owners(group_id, history, now, found);
    find_refused_commits(group_id, history, now, found);
    find_unrest(group_id, history, now, found);
    find_flapping(group_id, history, now, found);
    return found;
}

}  // namespace partita::insight
