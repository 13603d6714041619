#include "broker/insight/readers/order_findings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/keys/key_table.h"

namespace partita::insight {
namespace {

std::string place(const std::string& topic, PartitionIndex partition, Offset offset) {
    return topic + "-" + std::to_string(partition.value) + " offset " + std::to_string(offset.value);
}

std::string at_least(bool is_exact, std::int64_t count, std::string_view singular) {
    return (is_exact ? "" : "at least ") + counted(count, singular);
}

/// The finding about a group that finished records in wrong order, by its commits alone.
Finding by_commits(const std::string& topic, const std::string& group, const std::vector<Inversions::Proven>& proven,
                   bool has_left_out) {
    const auto keys = static_cast<std::int64_t>(proven.size());
    const Inversions::Proven& first = proven.front();
    Finding finding = make_finding(HazardId::inversion_delivered, {.topic = topic, .group = group},
                                   "group " + group + " finished newer records of " + counted(keys, "key") +
                                       " before older ones: it had committed " + topic + "-" + std::to_string(first.to.value) +
                                       " beyond offset " + std::to_string(first.later.value) + ", but " + topic + "-" +
                                       std::to_string(first.from.value) + " not beyond " + std::to_string(first.earlier.value) +
                                       (has_left_out ? "; further keys were not counted" : ""),
                                   keys);
    finding.numbers = {{"keys", keys}, {"processed_keys", keys}, {"is_exact", has_left_out ? 0 : 1}};
    for (const Inversions::Proven& each : proven) {
        finding.add_example(each.key, each.from, each.to);
        finding.add_evidence(each.from, each.earlier);
    }
    return finding;
}

}  // namespace

const std::vector<ExampleKey>& OrderFindings::examples_of(const std::string& group, const OrderWatch::Told& told,
                                                          const ReaderFacts& facts) {
    Examples& known = examples_[group];
    const bool is_enough = known.keys_with_places.size() == Finding::kExamplesMax || known.keys == told.keys.size();
    if (is_enough || facts.records == nullptr) {
        return known.keys_with_places;
    }
    Finding holder;
    std::set<std::uint64_t> shown;
    int looks = 0;
    for (const WrongKey& wrong : told.cuts) {
        if (holder.examples.size() == Finding::kExamplesMax || ++looks > kLooksMax) {
            break;
        }
        if (!shown.insert(wrong.cut.key_hash).second) {
            continue;
        }
        if (const auto key = facts.records->key_at(wrong.cut.from, wrong.cut.earlier)) {
            holder.add_example(*key, wrong.cut.from, wrong.cut.to);
        }
    }
    known = {.keys = told.keys.size(), .keys_with_places = std::move(holder.examples)};
    return known.keys_with_places;
}

void OrderFindings::find(const std::string& topic, const ReaderFacts& facts,
                         const std::map<std::string, OrderWatch::Told>& handed,
                         const std::map<std::string, std::vector<Inversions::Proven>>& proven, bool has_left_out,
                         std::vector<Finding>& findings) {
    std::erase_if(examples_, [&](const auto& entry) { return !handed.contains(entry.first); });
    for (const auto& [group, keys] : proven) {
        if (!handed.contains(group)) {
            findings.push_back(by_commits(topic, group, keys, has_left_out));
        }
    }
    for (const auto& [group, told] : handed) {
        std::set<std::uint64_t> keys = told.keys;
        std::set<std::uint64_t> processed = told.processed;
        bool is_exact = told.is_exact;
        if (const auto by_commits = proven.find(group); by_commits != proven.end()) {
            for (const Inversions::Proven& each : by_commits->second) {
                const std::uint64_t hash = KeyTable::hash_of(as_bytes(each.key));
                keys.insert(hash);
                processed.insert(hash);
            }
            is_exact = is_exact && !has_left_out;
        }
        const auto count = static_cast<std::int64_t>(keys.size());
        const auto finished = static_cast<std::int64_t>(processed.size());
        const auto together = static_cast<std::int64_t>(told.in_one_answer.size());
        std::string condition;
        if (told.cuts.empty()) {
            // Only commits prove something, or nothing does.
            condition =
                count == 0 ? "group " + group : by_commits(topic, group, proven.at(group), has_left_out).condition + "; it";
        } else {
            const WrongKey& example = told.cuts.front();
            condition = "group " + group + " was handed newer records of " + at_least(is_exact, count, "key") +
                        " before older ones: " + place(topic, example.cut.to, example.cut.later) + " before " +
                        place(topic, example.cut.from, example.cut.earlier);
        }
        if (finished > 0 && !told.cuts.empty()) {
            condition += "; it has committed beyond the newer records of " +
                         (finished == count && is_exact ? std::string("all of them") : at_least(is_exact, finished, "key"));
        }
        if (together > 0) {
            condition += "; " + counted(together, "key has both records in one answer", "keys have both records in one answer");
        }
        const auto in_two_members = static_cast<std::int64_t>(told.in_two_members.size());
        if (in_two_members + told.overlapping > 0) {
            condition += std::string(told.cuts.empty() ? "" : "; it") + " had both records of " +
                         (in_two_members > 0 ? std::to_string(in_two_members) + " of these" : "") +
                         (in_two_members > 0 && told.overlapping > 0 ? " and of " : "") +
                         (told.overlapping > 0 ? at_least(is_exact, told.overlapping, count == 0 ? "key" : "further key") : "") +
                         " in two members at once, and only these know which came first";
        }
        Finding finding = make_finding(HazardId::inversion_delivered, {.topic = topic, .group = group}, std::move(condition),
                                       count == 0 ? told.overlapping : count);
        if (count == 0) {
            finding.severity = Severity::warn;
            finding.title = "records of a key may have been read out of order";
        }
        finding.numbers = {{"keys", count},
                           {"processed_keys", finished},
                           {"one_answer_keys", together},
                           {"given_back_keys", told.given_back},
                           {"two_member_keys", in_two_members},
                           {"overlapping_keys", told.overlapping},
                           {"readers", static_cast<std::int64_t>(told.readers.size())},
                           {"first_ms", told.first.value},
                           {"last_ms", told.last.value},
                           {"is_exact", is_exact ? 1 : 0}};
        for (const auto& [partition, offset] : told.last_earlier) {
            finding.add_evidence(partition, offset);
        }
        finding.examples = examples_of(group, told, facts);
        findings.push_back(std::move(finding));
    }
}

}  // namespace partita::insight
