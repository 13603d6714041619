#include "broker/insight/readers/order_findings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/keys/key_table.h"
#include "broker/insight/readers/outside_readers.h"

namespace partita::insight {
namespace {

std::string place(const std::string& topic, PartitionIndex partition, Offset offset) {
    return topic + "-" + std::to_string(partition.value) + " offset " + std::to_string(offset.value);
}

std::string at_least(bool is_exact, std::int64_t count, std::string_view singular) {
    return (is_exact ? "" : "at least ") + counted(count, singular);
}

/// Tells what the commits of a group say of its order; `proven` is not empty.
std::string said_by_commits(const std::string& topic, const std::string& group, std::string_view verb,
                            const std::vector<Inversions::Proven>& proven, std::string_view one, bool has_left_out) {
    const Inversions::Proven& first = proven.front();
    return "group " + group + " " + std::string(verb) + " newer records of " +
           counted(static_cast<std::int64_t>(proven.size()), one) + " before older ones: it had committed " + topic + "-" +
           std::to_string(first.to.value) + " beyond offset " + std::to_string(first.later.value) + ", but " + topic + "-" +
           std::to_string(first.from.value) + " not beyond " + std::to_string(first.earlier.value) +
           (has_left_out ? "; further keys were not counted" : "");
}

constexpr std::string_view kPerhapsTitle = "records of a key may have been read out of order";

/// The finding about a group that finished records in wrong order, by its commits alone.
Finding by_commits(const std::string& topic, const std::string& group, const std::vector<Inversions::Proven>& proven,
                   bool has_left_out) {
    std::vector<Inversions::Proven> certain;
    std::vector<Inversions::Proven> open;
    for (const Inversions::Proven& each : proven) {
        (each.is_of_several ? open : certain).push_back(each);
    }
    std::string condition;
    if (!certain.empty()) {
        condition = said_by_commits(topic, group, "finished", certain, "key", has_left_out);
    }
    if (!open.empty()) {
        condition +=
            (certain.empty() ? "" : "; ") +
            said_by_commits(topic, group, "may have finished", open, certain.empty() ? "key" : "further key", has_left_out) +
            "; it has several members, and only these know what they finished first";
    }
    const auto keys = static_cast<std::int64_t>(certain.size());
    const auto perhaps = static_cast<std::int64_t>(open.size());
    Finding finding = make_finding(HazardId::inversion_delivered, {.topic = topic, .group = group}, std::move(condition),
                                   certain.empty() ? perhaps : keys);
    if (certain.empty()) {
        finding.severity = Severity::warn;
        finding.title = kPerhapsTitle;
    }
    finding.numbers = {
        {"keys", keys}, {"processed_keys", keys}, {"overlapping_keys", perhaps}, {"is_exact", has_left_out ? 0 : 1}};
    for (const Inversions::Proven& each : certain.empty() ? open : certain) {
        finding.add_example(each.key, each.from, each.to);
    }
    for (const Inversions::Proven& each : proven) {
        finding.add_evidence(each.from, each.earlier);
    }
    return finding;
}

/// The reader of a finding, and its words.
struct Reader {
    Subject subject;
    std::string name;
    /// Two of them that had both records of a key.
    std::string_view two_holders;
};

/// The numbers of one reader from both sources.
struct Numbers {
    std::int64_t keys = 0;
    std::int64_t processed = 0;
    /// Keys that the reader may have got in wrong order, as two of its members had them.
    std::int64_t overlapping = 0;
    std::int64_t unattributed = 0;
    std::int64_t given_back = 0;
    bool is_exact = true;
};

/// The keys that a reader may have got in wrong order, in words behind those that it surely did.
std::string possibilities(const Reader& reader, const OrderWatch::Told& told, const Numbers& numbers) {
    const auto in_two = static_cast<std::int64_t>(told.in_two_members.size());
    const std::string_view further = numbers.keys == 0 ? "key" : "further key";
    std::string text;
    if (in_two + numbers.overlapping > 0) {
        text += " had both records of " + (in_two > 0 ? std::to_string(in_two) + " of these" : "") +
                (in_two > 0 && numbers.overlapping > 0 ? " and of " : "") +
                (numbers.overlapping > 0 ? at_least(numbers.is_exact, numbers.overlapping, further) : "") + " in " +
                std::string(reader.two_holders) + " at once, and the broker cannot tell which record they handled first";
    }
    if (numbers.given_back > 0) {
        text += std::string(text.empty() ? "" : "; it") + " was handed, or may have been handed, one record of " +
                at_least(numbers.is_exact, numbers.given_back, further) +
                " twice, and the broker cannot tell which of the two times it handled that record";
    }
    if (numbers.unattributed > 0) {
        text += std::string(text.empty() ? "" : "; it") + " may have been handed newer records of " +
                at_least(numbers.is_exact, numbers.unattributed, further) +
                " first: the broker does not know whether the connection that got them was this group's";
    }
    return text;
}

/// The finding about a reader, by what the broker sent. `committed`: what commits alone say of it; empty if they say nothing.
Finding by_answers(const std::string& topic, const Reader& reader, const OrderWatch::Told& told, const Numbers& numbers,
                   const std::string& committed) {
    const auto& [count, finished, overlapping, unattributed, given_back, is_exact] = numbers;
    const auto together = static_cast<std::int64_t>(told.in_one_answer.size());
    const auto in_two = static_cast<std::int64_t>(told.in_two_members.size());
    std::string condition;
    if (told.cuts.empty()) {
        condition = committed.empty() ? reader.name : committed + "; it";
    } else {
        const WrongKey& example = told.cuts.front();
        condition = reader.name + " was handed newer records of " + at_least(is_exact, count, "key") +
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
    if (const std::string more = possibilities(reader, told, numbers); !more.empty()) {
        condition += (told.cuts.empty() ? "" : "; it") + more;
    }
    Finding finding = make_finding(HazardId::inversion_delivered, reader.subject, std::move(condition),
                                   count == 0 ? overlapping + unattributed + given_back : count);
    if (count == 0) {
        finding.severity = Severity::warn;
        finding.title = kPerhapsTitle;
    }
    finding.numbers = {{"keys", count},
                       {"processed_keys", finished},
                       {"one_answer_keys", together},
                       {"given_back_keys", given_back},
                       {"two_member_keys", in_two},
                       {"overlapping_keys", overlapping},
                       {"unattributed_keys", unattributed},
                       {"readers", static_cast<std::int64_t>(told.readers.size())},
                       {"first_ms", told.first.value},
                       {"last_ms", told.last.value},
                       {"is_exact", is_exact ? 1 : 0}};
    for (const auto& [partition, offset] : told.last_earlier) {
        finding.add_evidence(partition, offset);
    }
    return finding;
}

}  // namespace

void OrderFindings::read_examples(Examples& known, const OrderWatch::Told& told, const ReaderFacts& facts) {
    const bool is_enough = known.keys_with_places.size() == Finding::kExamplesMax || known.keys == told.keys.size();
    if (is_enough || facts.records == nullptr) {
        return;
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
}

void OrderFindings::find(const std::string& topic, const ReaderFacts& facts, const OrderWatch& order,
                         const std::map<std::string, std::vector<Inversions::Proven>>& proven, bool has_left_out,
                         std::vector<Finding>& findings) {
    const std::map<std::string, OrderWatch::Told> handed = order.told();
    std::erase_if(of_groups_, [&](const auto& entry) { return !handed.contains(entry.first); });
    for (const auto& [group, keys] : proven) {
        if (!handed.contains(group)) {
            findings.push_back(by_commits(topic, group, keys, has_left_out));
        }
    }
    for (const auto& [group, told] : handed) {
        std::set<std::uint64_t> keys = told.keys;
        std::set<std::uint64_t> processed = told.processed;
        std::set<std::uint64_t> overlapping = told.overlapping;
        std::vector<Inversions::Proven> certain;
        bool is_exact = told.is_exact && order.judges(facts.stale_writers);
        if (const auto found = proven.find(group); found != proven.end()) {
            for (const Inversions::Proven& each : found->second) {
                const std::uint64_t hash = KeyTable::hash_of(as_bytes(each.key));
                if (each.is_of_several) {
                    overlapping.insert(hash);
                    continue;
                }
                keys.insert(hash);
                processed.insert(hash);
                certain.push_back(each);
            }
            is_exact = is_exact && !has_left_out;
        }
        std::erase_if(overlapping, [&](std::uint64_t key) { return keys.contains(key); });
        const auto is_further = [&](std::uint64_t key) { return !keys.contains(key) && !overlapping.contains(key); };
        const std::string committed =
            certain.empty() ? "" : said_by_commits(topic, group, "finished", certain, "key", has_left_out);
        const Numbers numbers{.keys = static_cast<std::int64_t>(keys.size()),
                              .processed = static_cast<std::int64_t>(processed.size()),
                              .overlapping = static_cast<std::int64_t>(overlapping.size()),
                              .unattributed = std::ranges::count_if(told.unattributed, is_further),
                              .given_back = std::ranges::count_if(told.given_back, is_further),
                              .is_exact = is_exact};
        const Reader reader{.subject = {.topic = topic, .group = group}, .name = "group " + group, .two_holders = "two members"};
        findings.push_back(by_answers(topic, reader, told, numbers, committed));
        Examples& examples = of_groups_[group];
        read_examples(examples, told, facts);
        findings.back().examples = examples.keys_with_places;
    }
    find_outside(topic, facts, order.told_outside(), findings);
}

void OrderFindings::find_outside(const std::string& topic, const ReaderFacts& facts,
                                 const std::map<ReadingClient, OrderWatch::Told>& handed, std::vector<Finding>& findings) {
    std::erase_if(of_outsiders_, [&](const auto& entry) { return !handed.contains(entry.first); });
    for (const auto& [client, told] : handed) {
        const Numbers numbers{.keys = static_cast<std::int64_t>(told.keys.size()),
                              .processed = 0,
                              .overlapping = static_cast<std::int64_t>(told.overlapping.size()),
                              .unattributed = 0,
                              .given_back = static_cast<std::int64_t>(told.given_back.size()),
                              // The order of records that were placed by the old count is not judged for them.
                              .is_exact = told.is_exact && facts.stale_writers.empty()};
        const Reader reader{
            .subject = subject_of(topic, client), .name = name_of(client) + ", in no group,", .two_holders = "two connections"};
        Finding finding = by_answers(topic, reader, told, numbers, "");
        // Nobody knows what a client without commits has processed.
        std::erase_if(finding.numbers, [](const FindingNumber& number) { return number.name == "processed_keys"; });
        Examples& examples = of_outsiders_[client];
        read_examples(examples, told, facts);
        finding.examples = examples.keys_with_places;
        findings.push_back(std::move(finding));
    }
}

}  // namespace partita::insight
