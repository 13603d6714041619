#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_queries.h"
#include "broker/groups/topic_readers.h"

namespace partita::groups {
namespace {

constexpr std::string_view kSeedMetadata = "seeded by expansion ";

Bytes subscription_of(const ClassicGroup& group, const Member& member) {
    const OwnedBytes* metadata = group.metadata_of(member);
    return metadata == nullptr ? Bytes() : Bytes(*metadata);
}

constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15ULL;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * kHashFactor;
    return hash ^ hash >> 32;
}

/// One group that may have something to say to one question. It may be here twice, with the offsets in one of them.
struct Concerned {
    const Group* group = nullptr;
    std::size_t question = 0;
    /// What it committed of the topic; null when nothing.
    const PartitionOffsets* offsets = nullptr;
    /// False when no member has to do with the topic.
    bool is_named_by_members = false;
};

void list_topics_of(const ConsumerGroup& group, ReaderListing& listing) {
    for (const std::string_view name : group.subscribed_topics()) {
        listing.add_members(name);
    }
    for (const auto& [id, member] : group.members()) {
        for (const OwnedTopic& owned : member.progress.assigned) {
            listing.add_members(owned.topic_id);
        }
    }
}

void list_topics_of(const ClassicGroup& group, ReaderListing& listing) {
    if (!group.uses_consumer_protocol()) {
        return;
    }
    Holdings holdings;
    for (const auto& [order, member] : group.members()) {
        if (const auto topics = subscribed_topics(subscription_of(group, *member))) {
            for (const std::string_view name : *topics) {
                listing.add_members(name);
            }
        }
        read_holdings(member->assignment(), holdings);
        for (const Holdings::Topic& topic : holdings.topics()) {
            listing.add_members(topic.name);
        }
    }
}

/// Every topic that `ReaderCollector` could find the group to read.
void list_topics(ReaderListing& listing) {
    const Group& group = listing.group();
    for (const NamedOffsets& offsets : group.offsets) {
        listing.add_offsets(offsets);
    }
    std::visit([&listing](const auto& kind) { list_topics_of(kind, listing); }, group.kind());
}

/// Answers questions about one group after the other. What a group's members said is taken apart once for all questions, into
/// memory that the next group uses again.
class ReaderCollector {
  public:
    ReaderCollector(std::span<TopicQuestion> questions, const ClusterView& cluster)
        : questions_(questions), cluster_(cluster), begun_(questions.size()), answers_(questions.size()) {
        for (std::size_t index = 0; index < questions.size(); ++index) {
            by_name_.emplace(questions[index].topic, index);
            by_id_.emplace(questions[index].topic_id, index);
            wants_others_ = wants_others_ || questions[index].others != TopicQuestion::Others::none;
        }
    }

    /// `concerned`: of this group, ascending by question. Questions that are not here have no answer from it.
    void add(const Group& group, std::span<const Concerned> concerned);
    [[nodiscard]] std::vector<std::vector<TopicReader>> take() { return std::move(answers_); }

  private:
    /// What every member holds of a topic, as one number.
    struct Signature {
        std::string_view topic;
        std::uint64_t value = 0;
    };

    TopicReader& reader_of(const Group& group, std::size_t question);
    void add_members(const Group& group, const ClassicGroup& classic);
    void add_members(const Group& group, const ConsumerGroup& consumer, std::span<const Concerned> concerned);
    void add_member(const Group& group, const TopicReader::Member& blank, const Holdings& holdings);
    void add_commits(const Group& group, const Concerned& concerned);
    void read_owned(const OwnedAssignment& assigned, Holdings& holdings);
    [[nodiscard]] Holdings& next_holdings();
    void sign_holdings();
    [[nodiscard]] const Signature* signature_of(std::string_view topic) const;
    void sort_names();
    void tell_others(TopicQuestion& question, TopicReader& reader);
    void tell_aligned(TopicQuestion& question, TopicReader& reader);
    void tell_aligned_of_one(TopicQuestion& question, TopicReader& reader);
    void tell_besides(const TopicQuestion& question, TopicReader& reader);
    /// False when enough was told.
    [[nodiscard]] bool tell_one_aligned(TopicQuestion& question, std::string_view topic, TopicReader& reader);

    std::span<TopicQuestion> questions_;
    const ClusterView& cluster_;
    bool wants_others_ = false;
    std::unordered_map<std::string_view, std::size_t> by_name_;
    std::unordered_map<TopicId, std::size_t> by_id_;

    // Of the present group.
    std::vector<std::optional<TopicReader>> begun_;
    std::vector<std::size_t> touched_;
    /// Questions whose topic the present member subscribes to.
    std::vector<std::size_t> subscribed_;
    std::vector<Holdings> holdings_;
    std::size_t members_ = 0;
    /// What members subscribe to: as they said it, and each name once, ascending, when `are_names_sorted_`.
    std::vector<std::string_view> names_;
    bool are_names_sorted_ = false;
    /// Ascending by topic.
    std::vector<Signature> signatures_;
    bool are_holdings_signed_ = false;

    std::vector<std::vector<TopicReader>> answers_;
};

void ReaderCollector::add(const Group& group, std::span<const Concerned> concerned) {
    touched_.clear();
    names_.clear();
    members_ = 0;
    are_names_sorted_ = are_holdings_signed_ = false;
    const bool is_named = std::ranges::any_of(concerned, &Concerned::is_named_by_members);
    if (const ConsumerGroup* consumer = group.consumer()) {
        if (is_named) {
            add_members(group, *consumer, concerned);
        }
    } else if (group.classic()->uses_consumer_protocol() && (is_named || wants_others_)) {
        add_members(group, *group.classic());
    }
    for (const Concerned& one : concerned) {
        if (one.offsets != nullptr) {
            add_commits(group, one);
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

TopicReader& ReaderCollector::reader_of(const Group& group, std::size_t question) {
    std::optional<TopicReader>& reader = begun_[question];
    if (!reader) {
        touched_.push_back(question);
        reader.emplace();
        reader->group_id = group.id;
        if (const ClassicGroup* classic = group.classic()) {
            reader->protocol_type = classic->protocol_type.value_or("");
            reader->protocol = classic->protocol.value_or("");
        } else {
            reader->protocol_type = kConsumerProtocolType;
        }
    }
    return *reader;
}

Holdings& ReaderCollector::next_holdings() {
    if (members_ == holdings_.size()) {
        holdings_.emplace_back();
    }
    return holdings_[members_++];
}

void ReaderCollector::add_members(const Group& group, const ClassicGroup& classic) {
    for (const auto& [order, member] : classic.members()) {
        subscribed_.clear();
        if (const auto topics = subscribed_topics(subscription_of(classic, *member))) {
            for (const std::string_view name : *topics) {
                if (const auto asked = by_name_.find(name); asked != by_name_.end()) {
                    subscribed_.push_back(asked->second);
                }
            }
            if (wants_others_) {
                names_.insert(names_.end(), topics->begin(), topics->end());
            }
        }
        Holdings& holdings = next_holdings();
        read_holdings(member->assignment(), holdings);
        add_member(group, {.member_id = member->id, .client_id = member->client_id, .client_host = member->client_host},
                   holdings);
    }
}

/// Members of a group of KIP-848, whose assignments and expressions the coordinator knows itself.
void ReaderCollector::add_members(const Group& group, const ConsumerGroup& consumer, std::span<const Concerned> concerned) {
    for (const auto& [id, member] : consumer.members()) {
        const MemberSubscription& wanted = member.subscription;
        const ResolvedRegex* resolved = wanted.topic_regex.empty() ? nullptr : consumer.resolved(wanted.topic_regex);
        subscribed_.clear();
        for (const Concerned& one : concerned) {
            const std::string_view topic = questions_[one.question].topic;
            if (std::ranges::binary_search(wanted.topic_names, topic) ||
                (resolved != nullptr && resolved->topics.contains(std::string(topic)))) {
                subscribed_.push_back(one.question);
            }
        }
        Holdings& holdings = next_holdings();
        read_owned(member.progress.assigned, holdings);
        add_member(group, {.member_id = id, .client_id = wanted.client_id, .client_host = wanted.client_host}, holdings);
    }
    if (wants_others_ && !touched_.empty()) {
        names_ = consumer.subscribed_topics();
        are_names_sorted_ = true;
    }
}

void ReaderCollector::read_owned(const OwnedAssignment& assigned, Holdings& holdings) {
    holdings.clear();
    for (const OwnedTopic& owned : assigned) {
        std::string_view name;
        if (const auto asked = by_id_.find(owned.topic_id); asked != by_id_.end()) {
            name = questions_[asked->second].topic;
        } else if (const auto other = wants_others_ ? cluster_.find(owned.topic_id) : std::nullopt) {
            name = other->name;
        } else {
            continue;
        }
        holdings.begin_topic(name);
        for (const OwnedPartition& partition : owned.partitions) {
            holdings.add(PartitionIndex{partition.partition});
        }
        holdings.end_topic();
    }
}

void ReaderCollector::add_member(const Group& group, const TopicReader::Member& blank, const Holdings& holdings) {
    const auto own = [&](std::size_t question) -> TopicReader::Member& {
        TopicReader& reader = reader_of(group, question);
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

void ReaderCollector::add_commits(const Group& group, const Concerned& concerned) {
    for (const auto& [partition, committed] : *concerned.offsets) {
        if (committed.is_of_other_topic(questions_[concerned.question].topic_id)) {
            continue;
        }
        TopicReader& reader = reader_of(group, concerned.question);
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
    // One for each topic, of all members together; they come in the order of the members.
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
    // With one partition every assignor is aligned by accident.
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

/// Most groups that read hundreds of topics have one member: nothing needs to be put in order for these.
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

}  // namespace

std::string seed_metadata(std::int32_t epoch) { return std::string(kSeedMetadata) + std::to_string(epoch); }

std::optional<std::string> GroupQueries::protocol_of(std::string_view group_id) const {
    const Group* group = table_.find(group_id);
    if (group == nullptr) {
        return std::nullopt;
    }
    const ClassicGroup* classic = group->classic();
    return classic == nullptr ? std::string() : classic->protocol.value_or("");
}

std::optional<MemberHoldings> GroupQueries::holdings_of(std::string_view group_id, std::string_view member_id) const {
    const Group* group = table_.find(group_id);
    if (group == nullptr) {
        return std::nullopt;
    }
    MemberHoldings told;
    if (const ConsumerGroup* consumer = group->consumer()) {
        const ConsumerMember* member = consumer->find(member_id);
        if (member == nullptr) {
            return std::nullopt;
        }
        told.client_id = member->subscription.client_id;
        told.client_host = member->subscription.client_host;
        for (const OwnedTopic& owned : member->progress.assigned) {
            const auto topic = environment_.cluster->find(owned.topic_id);
            if (!topic) {
                continue;
            }
            MemberHoldings::Topic& held = told.topics.emplace_back(std::string(topic->name));
            for (const OwnedPartition& partition : owned.partitions) {
                held.partitions.push_back(PartitionIndex{partition.partition});
            }
        }
        return told;
    }
    const ClassicGroup& classic = *group->classic();
    const Member* member = classic.find(member_id);
    if (member == nullptr) {
        return std::nullopt;
    }
    told.client_id = member->client_id;
    told.client_host = member->client_host;
    if (!classic.uses_consumer_protocol()) {
        return told;
    }
    Holdings holdings;
    read_holdings(member->assignment(), holdings);
    for (const Holdings::Topic& topic : holdings.topics()) {
        const std::span<const PartitionIndex> partitions = holdings.partitions_of(topic);
        if (environment_.cluster->find(topic.name)) {
            told.topics.push_back({std::string(topic.name), {partitions.begin(), partitions.end()}});
        }
    }
    return told;
}

std::map<PartitionIndex, Offset> GroupQueries::committed_in(std::string_view group_id, std::string_view topic,
                                                            const TopicId& topic_id) const {
    std::map<PartitionIndex, Offset> told;
    const Group* group = table_.find(group_id);
    if (group == nullptr) {
        return told;
    }
    const auto known = group->offsets.find(topic);
    if (known == group->offsets.end()) {
        return told;
    }
    for (const auto& [partition, committed] : known->second) {
        if (!committed.is_of_other_topic(topic_id)) {
            told.emplace_hint(told.end(), partition, committed.offset);
        }
    }
    return told;
}

Checkpoints GroupQueries::checkpoints_of(std::string_view group_id) const {
    Checkpoints told;
    const Group* group = table_.find(group_id);
    if (group == nullptr) {
        return told;
    }
    for (const auto& [topic, partitions] : group->offsets) {
        auto& known = told.emplace_hint(told.end(), topic, std::map<PartitionIndex, Checkpoint>())->second;
        for (const auto& [partition, committed] : partitions) {
            known.emplace_hint(known.end(), partition,
                               Checkpoint{committed.offset, committed.commit_timestamp, committed.topic_id});
        }
    }
    return told;
}

std::vector<std::vector<TopicReader>> GroupQueries::readers_of(std::span<TopicQuestion> questions) {
    table_.reader_index().update([&](ReaderListing& listing) {
        list_topics(listing);
        ++groups_visited_;
    });
    std::vector<Concerned> concerned;
    for (std::size_t index = 0; index < questions.size(); ++index) {
        table_.reader_index().for_each(questions[index].topic, questions[index].topic_id, [&](const ListedReader& listed) {
            concerned.push_back({listed.group, index, listed.offsets, listed.is_named_by_members});
        });
    }
    std::ranges::stable_sort(concerned, [](const Concerned& left, const Concerned& right) {
        return left.group != right.group && left.group->id < right.group->id;
    });
    ReaderCollector collector(questions, *environment_.cluster);
    for (auto first = concerned.begin(); first != concerned.end();) {
        const auto last = std::find_if(first, concerned.end(), [&](const Concerned& one) { return one.group != first->group; });
        collector.add(*first->group, {first, last});
        ++groups_visited_;
        first = last;
    }
    return collector.take();
}

std::vector<std::vector<TopicReader>> GroupQueries::readers_by_asking_all(std::span<TopicQuestion> questions) const {
    ReaderCollector collector(questions, *environment_.cluster);
    std::vector<Concerned> concerned(questions.size());
    for (const Group* group : table_.in_order()) {
        for (std::size_t index = 0; index < questions.size(); ++index) {
            const auto known = group->offsets.find(questions[index].topic);
            concerned[index] = {group, index, known == group->offsets.end() ? nullptr : &known->second, true};
        }
        collector.add(*group, concerned);
    }
    return collector.take();
}

}  // namespace partita::groups
