#include "broker/insight/readers/outside_readers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/identity/applications.h"
#include "broker/insight/identity/client_registry.h"
#include "broker/insight/readers/position_findings.h"

namespace partita::insight {
namespace {

TimestampMs last_fetch(const OutsideReader& reader) {
    TimestampMs last = kNoTimestamp;
    for (const Reading* reading : reader.readings) {
        last = std::max(last, reading->last);
    }
    return last;
}

std::set<PartitionIndex> partitions_of(const OutsideReader& reader) {
    std::set<PartitionIndex> partitions;
    for (const Reading* reading : reader.readings) {
        for (const auto& [partition, read] : reading->partitions) {
            partitions.insert(partition);
        }
    }
    return partitions;
}

/// Records from before a growth that were read after it. Each counts once, however many growths it was before.
RecordCount replayed(const OutsideReader& reader, PartitionIndex partition, const ReaderFacts& facts) {
    // Pairs of the first offset and the cut behind it.
    std::vector<std::pair<Offset, Offset>> spans;
    const Offset cut = offset_at(facts.last_growth().log_end_offsets, partition);
    for (const Reading* reading : reader.readings) {
        const auto read = reading->partitions.find(partition);
        if (read == reading->partitions.end()) {
            continue;
        }
        spans.insert(spans.end(), read->second.before_growths.begin(), read->second.before_growths.end());
        spans.emplace_back(read->second.earliest, cut);
    }
    std::ranges::sort(spans);
    Offset counted_to = offset_at(facts.log_starts, partition);
    RecordCount records;
    for (const auto& [from, to] : spans) {
        const Offset begin = std::max(from, counted_to);
        if (begin >= to) {
            continue;
        }
        records += records_between(facts, partition, begin, to);
        counted_to = to;
    }
    return records;
}

// H07, live: a reader that no group explains has begun before the cut. So it gets a moved key's records from before and after the
// growth in any order. For groups, H03 reports this. Ends when the reader stops, or when the records are gone.
void find_replay(const std::string& topic, const ReaderFacts& facts, const OutsideReader& reader,
                 std::vector<Finding>& findings) {
    RecordCount records;
    const EarlierExpansion* growth = nullptr;
    for (const PartitionIndex partition : partitions_of(reader)) {
        const RecordCount in_partition = replayed(reader, partition, facts);
        if (in_partition.records > 0 && growth == nullptr) {
            const EarlierExpansion* own = growth_of(facts.growths, partition);
            growth = own == nullptr ? &facts.growths.front() : own == &facts.last_growth() ? own : own + 1;
        }
        records += in_partition;
    }
    if (records.records == 0) {
        return;
    }
    Finding finding = make_finding(HazardId::replay_inversion, subject_of(topic, reader.client),
                                   name_of(reader.client) + " reads in no group and began " + counted(records, "record") +
                                       " before the growth from " + std::to_string(growth->old_count) + " to " +
                                       std::to_string(facts.last_growth().new_count) +
                                       ": it reads a key's records from before and after the growth in any order",
                                   records.records);
    finding.numbers = {{"records_of_earlier_epochs", records.records}, {"is_exact", records.is_exact ? 1 : 0}};
    findings.push_back(std::move(finding));
}

// H23: a client fetches partitions from before a growth, no group explains it, and it has never fetched a new one. Ends when it
// does, or when it stops reading.
void find_half_reader(const std::string& topic, const ReaderFacts& facts, const OutsideReader& reader, LookTime& time,
                      std::vector<Finding>& findings) {
    const std::set<PartitionIndex> partitions = partitions_of(reader);
    const auto missed = std::ranges::upper_bound(facts.growths, partitions.rbegin()->value, {}, &EarlierExpansion::old_count);
    const bool had_time = missed != facts.growths.end() && last_fetch(reader) >= missed->time &&
                          time.has_passed(missed->time, BlindGroups::kBlindMs);
    if (!had_time) {
        return;
    }
    const auto count = static_cast<std::int64_t>(partitions.size());
    Finding finding = make_finding(HazardId::manual_readers, subject_of(topic, reader.client),
                                   name_of(reader.client) + " reads " + counted(count, "old partition") +
                                       " by itself, in no group, and none of the " +
                                       std::to_string(facts.last_growth().new_count - missed->old_count) + " new ones",
                                   count);
    finding.numbers = {{"partitions", count}};
    findings.push_back(std::move(finding));
}

bool reads_new(const OutsideReader& reader, const ReaderFacts& facts) {
    return partitions_of(reader).rbegin()->value >= facts.growths.front().old_count;
}

// H29: a client reads in no group, new partitions too. It finds them by itself, and only the client knows its progress. H23
// covers clients that do not find them. Ends when it stops reading.
void find_external_offsets(const std::string& topic, const ReaderFacts& facts, const OutsideReader& reader,
                           std::vector<Finding>& findings) {
    if (!reads_new(reader, facts)) {
        return;
    }
    const std::string_view engine = engine_with_own_offsets(reader.client.identity.client_id);
    findings.push_back(
        make_finding(HazardId::external_offsets, subject_of(topic, reader.client),
                     name_of(reader.client) + (engine.empty() ? "" : ", by its name " + std::string(engine) + ",") +
                         " reads new partitions in no group: its progress and its start in them are unknown here"));
}

// H48: a client reads in no group and has a name that programs use that copy topics. Ends when it stops reading.
void find_mirror(const std::string& topic, const ReaderFacts& facts, const OutsideReader& reader,
                 std::vector<Finding>& findings) {
    const std::string_view program = mirroring_program(reader.client.identity.client_id);
    if (program.empty()) {
        return;
    }
    findings.push_back(
        make_finding(HazardId::mirrors, subject_of(topic, reader.client),
                     name_of(reader.client) + " is by its name of " + std::string(program) +
                         (reads_new(reader, facts) ? ", and reads the new partitions"
                                                   : ", and reads none of the new partitions: the copy keeps " +
                                                         std::to_string(facts.growths.front().old_count) + " until it does")));
}

}  // namespace

std::string name_of(const ReadingClient& client) {
    return client.identity.client_id + " (" + (client.principal.empty() ? "" : client.principal + ", ") +
           client.identity.address + (client.process ? ", " + to_string(*client.process) : "") + ")";
}

Subject subject_of(const std::string& topic, const ReadingClient& client) {
    return {.topic = topic,
            .client_id = client.identity.client_id,
            .client_address = client.identity.address,
            .principal = client.principal};
}

std::vector<OutsideReader> outside_readers(const ReadingConnections& readings, ReaderOwners& owners, LookTime& time) {
    std::map<ReadingClient, OutsideReader> found;
    for (const auto& [id, reading] : readings.all()) {
        if (owners.of(id).kind != Attribution::Kind::no_group) {
            continue;
        }
        ReadingClient client = *readings.client_of(id);
        OutsideReader& reader = found[client];
        reader.client = std::move(client);
        reader.readings.push_back(&reading);
    }
    std::vector<OutsideReader> there;
    for (auto& [client, reader] : found) {
        if (!time.has_passed(last_fetch(reader), kReaderSilentMs + 1)) {
            there.push_back(std::move(reader));
        }
    }
    return there;
}

namespace {

/// Processes that only the process tells apart are one subject, since a finding names none: their findings become one. Replayed
/// records are added up. Readers may share partitions, so the largest number of these stands for all.
void unite(std::vector<Finding> found, std::vector<Finding>& findings) {
    struct United {
        Finding finding;
        std::int64_t others = 0;
    };
    std::vector<United> united;
    for (Finding& finding : found) {
        const auto same = std::ranges::find_if(
            united, [&](const United& each) { return each.finding.id == finding.id && each.finding.subject == finding.subject; });
        if (same == united.end()) {
            united.push_back({std::move(finding)});
            continue;
        }
        ++same->others;
        const bool is_sum = finding.id == HazardId::replay_inversion;
        const auto unite = [&](std::int64_t& value, std::int64_t other) {
            value = is_sum ? value + other : std::max(value, other);
        };
        unite(same->finding.count, finding.count);
        for (std::size_t index = 0; index < finding.numbers.size(); ++index) {
            auto& [name, value] = same->finding.numbers[index];
            const std::int64_t other = finding.numbers[index].value;
            if (name == "is_exact") {
                value = std::min(value, other);
            } else {
                unite(value, other);
            }
        }
    }
    for (auto& [finding, others] : united) {
        if (others > 0) {
            finding.condition += "; " + counted(others, "other reader") + " of this name and address likewise";
            if (finding.id == HazardId::replay_inversion) {
                finding.condition += ", " + std::to_string(finding.count) + " records in all";
            }
        }
        findings.push_back(std::move(finding));
    }
}

}  // namespace

void find_outside_readers(const std::string& topic, const ReaderFacts& facts, const std::vector<OutsideReader>& readers,
                          LookTime& time, std::vector<Finding>& findings) {
    std::vector<Finding> found;
    for (const OutsideReader& reader : readers) {
        find_replay(topic, facts, reader, found);
        find_half_reader(topic, facts, reader, time, found);
        find_external_offsets(topic, facts, reader, found);
        find_mirror(topic, facts, reader, found);
    }
    unite(std::move(found), findings);
}

}  // namespace partita::insight
