#include "broker/groups/reader_collector.h"

#include <algorithm>

#include "broker/groups/group.h"

namespace partita::groups {
namespace {

constexpr std::string_view kSeedMetadata = "seeded by expansion ";
constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15ULL;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * kHashFactor;
    return hash ^ hash >> 32;
}

}  // namespace

std::string seed_metadata(std::int32_t epoch) { return std::string(kSeedMetadata) + std::to_string(epoch); }

void ReaderCollector::add(const Group& group, std::span<const ConcernedGroup> concerned) {
    group_ = &group;
    concerned_ = concerned;
    touched_.clear();
    names_.clear();
    members_ = 0;
    are_names_sorted_ = are_holdings_signed_ = false;
    group.kind().tell_readers(*this);
    for (const ConcernedGroup& one : concerned) {
        if (one.offsets != nullptr) {
            add_commits(one);
        }
    }
    for (const std::size_t index : touched_) {
        TopicReader& reader = *begun_[index];
        if (questions_[index].others != TopicQuestion::Others::none) {
            tell_others(questions_[index], reader);
            if (!std::ranges::is_sorted(reader.other_topics, {}, &TopicReader::OtherTopic::name)) {
                std::ranges::sort(reader.other_topics, {}, &TopicReader::OtherTopic::name);
            }
        }
        answers_[index].push_back(std::move(reader));
        begun_[index].reset();
    }
}

TopicReader& ReaderCollector::reader_of(std::size_t question) {
    std::optional<TopicReader>& reader = begun_[question];
    if (!reader) {
        touched_.push_back(question);
        reader.emplace();
        reader->group_id = group_->id;
        reader->protocol_type = group_->kind().protocol_type_text();
        reader->protocol = group_->kind().assignor();
    }
    return *reader;
}

bool ReaderCollector::is_named() const { return std::ranges::any_of(concerned_, &ConcernedGroup::is_named_by_members); }

std::optional<std::string_view> ReaderCollector::name_of(const TopicId& topic_id) const {
    if (const auto asked = by_id_.find(topic_id); asked != by_id_.end()) {
        return questions_[asked->second].topic;
    }
    const auto other = wants_others_ ? cluster_.find(topic_id) : std::nullopt;
    return other ? std::optional(other->name) : std::nullopt;
}

Holdings& ReaderCollector::begin_member() {
    subscribed_.clear();
    if (members_ == holdings_.size()) {
        holdings_.emplace_back();
    }
    return holdings_[members_++];
}

void ReaderCollector::subscribe(std::span<const std::string_view> topics) {
    for (const std::string_view name : topics) {
        if (const auto asked = by_name_.find(name); asked != by_name_.end()) {
            subscribed_.push_back(asked->second);
        }
    }
    if (wants_others_) {
        names_.insert(names_.end(), topics.begin(), topics.end());
    }
}

void ReaderCollector::set_subscriptions(std::vector<std::string_view> names) {
    names_ = std::move(names);
    are_names_sorted_ = true;
}

void ReaderCollector::add_member(const TopicReader::Member& blank, const Holdings& holdings) {
    const auto own = [&](std::size_t question) -> TopicReader::Member& {
        TopicReader& reader = reader_of(question);
        if (reader.members.empty() || reader.members.back().member_id != blank.member_id) {
            reader.members.push_back(blank);
        }
        return reader.members.back();
    };
    for (const std::size_t question : subscribed_) {
        own(question).subscribed = true;
    }
    for (const Holdings::Topic& topic : holdings.topics()) {
        const auto asked = by_name_.find(topic.name);
        if (asked == by_name_.end() || topic.count == 0) {
            continue;
        }
        std::vector<PartitionIndex>& assigned = own(asked->second).assigned;
        const bool is_first = assigned.empty();
        const std::span<const PartitionIndex> partitions = holdings.partitions_of(topic);
        assigned.insert(assigned.end(), partitions.begin(), partitions.end());
        if (!is_first) {
            std::ranges::sort(assigned);
            const auto repeated = std::ranges::unique(assigned);
            assigned.erase(repeated.begin(), repeated.end());
        }
    }
}

void ReaderCollector::add_commits(const ConcernedGroup& one) {
    for (const auto& [partition, committed] : *one.offsets) {
        if (committed.is_of_other_topic(questions_[one.question].topic_id)) {
            continue;
        }
        TopicReader& reader = reader_of(one.question);
        reader.committed.emplace_hint(reader.committed.end(), partition, committed.offset);
        if (committed.offset == Offset{0} && committed.metadata.starts_with(kSeedMetadata)) {
            reader.seeds.push_back(partition);
        }
    }
}

void ReaderCollector::sign_holdings() {
    if (std::exchange(are_holdings_signed_, true)) {
        return;
    }
    signatures_.clear();
    for (std::size_t member = 0; member < members_; ++member) {
        for (const Holdings::Topic& topic : holdings_[member].topics()) {
            std::uint64_t value = mixed(kHashFactor, member);
            for (const PartitionIndex partition : holdings_[member].partitions_of(topic)) {
                value = mixed(value, static_cast<std::uint64_t>(partition.value));
            }
            if (topic.count > 0) {
                signatures_.push_back({topic.name, value});
            }
        }
    }
    if (!std::ranges::is_sorted(signatures_, {}, &Signature::topic)) {
        std::ranges::stable_sort(signatures_, {}, &Signature::topic);
    }
    // One entry per topic for all members together; entries come in the order of the members.
    std::size_t kept = 0;
    for (const Signature& next : signatures_) {
        if (kept > 0 && signatures_[kept - 1].topic == next.topic) {
            signatures_[kept - 1].value = mixed(signatures_[kept - 1].value, next.value);
        } else {
            signatures_[kept++] = next;
        }
    }
    signatures_.resize(kept);
}

const ReaderCollector::Signature* ReaderCollector::signature_of(std::string_view topic) const {
    const auto found = std::ranges::lower_bound(signatures_, topic, {}, &Signature::topic);
    return found != signatures_.end() && found->topic == topic ? &*found : nullptr;
}

void ReaderCollector::sort_names() {
    if (!are_names_sorted_) {
        std::ranges::sort(names_);
        const auto repeated = std::ranges::unique(names_);
        names_.erase(repeated.begin(), repeated.end());
        are_names_sorted_ = true;
    }
}

void ReaderCollector::tell_others(TopicQuestion& question, TopicReader& reader) {
    reader.reads_others = std::ranges::any_of(names_, [&](std::string_view name) { return name != question.topic; });
    if (!reader.reads_others) {
        return;
    }
    // With a single partition every assignor would be aligned by accident.
    const bool can_be_aligned = question.partition_count > 1;
    if (question.others == TopicQuestion::Others::aligned) {
        if (can_be_aligned && members_ == 1) {
            tell_aligned_of_one(question, reader);
        } else if (can_be_aligned) {
            tell_aligned(question, reader);
        }
        tell_besides(question, reader);
        return;
    }
    sort_names();
    sign_holdings();
    const Signature* own = can_be_aligned ? signature_of(question.topic) : nullptr;
    reader.other_topics.reserve(names_.size());
    // Names and signatures are both ascending.
    auto held = signatures_.begin();
    for (const std::string_view name : names_) {
        const auto other = name == question.topic ? std::nullopt : cluster_.find(name);
        if (!other) {
            continue;
        }
        bool is_aligned = false;
        if (own != nullptr && other->partition_count == question.partition_count) {
            while (held != signatures_.end() && held->topic < name) {
                ++held;
            }
            is_aligned = held != signatures_.end() && held->topic == name && held->value == own->value;
        }
        reader.other_topics.push_back({std::string(name), other->partition_count, is_aligned});
    }
}

void ReaderCollector::tell_aligned(TopicQuestion& question, TopicReader& reader) {
    sign_holdings();
    const Signature* own = signature_of(question.topic);
    for (std::size_t index = 0; own != nullptr && index < signatures_.size(); ++index) {
        const Signature& held = signatures_[index];
        if (held.value == own->value && !tell_one_aligned(question, held.topic, reader)) {
            return;
        }
    }
}

/// Most groups that read hundreds of topics have one member: these need no sorting.
void ReaderCollector::tell_aligned_of_one(TopicQuestion& question, TopicReader& reader) {
    const Holdings& holdings = holdings_.front();
    const auto own = std::ranges::find(holdings.topics(), question.topic, &Holdings::Topic::name);
    if (own == holdings.topics().end()) {
        return;
    }
    for (const Holdings::Topic& topic : holdings.topics()) {
        if (topic.count > 0 && std::ranges::equal(holdings.partitions_of(topic), holdings.partitions_of(*own)) &&
            !tell_one_aligned(question, topic.name, reader)) {
            return;
        }
    }
}

bool ReaderCollector::tell_one_aligned(TopicQuestion& question, std::string_view topic, TopicReader& reader) {
    if (!reader.other_topics.empty() && question.aligned_max == 0) {
        reader.has_more_aligned = true;
        return false;
    }
    if (topic == question.topic || std::ranges::find(names_, topic) == names_.end()) {
        return true;
    }
    if (const auto other = cluster_.find(topic); other && other->partition_count == question.partition_count) {
        reader.other_topics.push_back({std::string(topic), other->partition_count, true});
        question.aligned_max -= std::min<std::size_t>(question.aligned_max, 1);
    }
    return true;
}

void ReaderCollector::tell_besides(const TopicQuestion& question, TopicReader& reader) {
    for (const auto& [group, topic] : std::ranges::equal_range(question.besides, std::string_view(reader.group_id), {},
                                                               &std::pair<std::string_view, std::string_view>::first)) {
        const bool is_told =
            std::ranges::find(reader.other_topics, topic, &TopicReader::OtherTopic::name) != reader.other_topics.end();
        if (is_told || topic == question.topic || std::ranges::find(names_, topic) == names_.end()) {
            continue;
        }
        if (const auto other = cluster_.find(topic)) {
            reader.other_topics.push_back({std::string(topic), other->partition_count, false});
        }
    }
}

}  // namespace partita::groups
