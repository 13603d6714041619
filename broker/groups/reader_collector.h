#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/groups/cluster_view.h"
#include "broker/groups/committed_offset.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/topic_readers.h"
#include "protocol/types.h"

namespace partita::groups {

struct Group;

/// One group that may belong to the answer of one question. A group may have two entries; then only one of them has the offsets.
struct ConcernedGroup {
    const Group* group = nullptr;
    std::size_t question = 0;
    /// The group's offsets of the topic; null if it has none.
    const PartitionOffsets* offsets = nullptr;
    /// True if a member subscribes to the topic or holds a partition of it.
    bool is_named_by_members = false;
};

/// Answers questions about one group after the other. It parses the members' data of a group once for all questions, into memory
/// that the next group reuses.
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

    /// `concerned`: entries of this group, ascending by question. Other questions get no answer from the group.
    void add(const Group& group, std::span<const ConcernedGroup> concerned);
    [[nodiscard]] std::vector<std::vector<TopicReader>> take() { return std::move(answers_); }

    // For `GroupKind::tell_readers`, which reports one member after the other: `begin_member`, its subscriptions, then
    // `add_member`.

    /// The questions that may concern the group, with the facts known so far.
    [[nodiscard]] std::span<const ConcernedGroup> concerned() const { return concerned_; }
    [[nodiscard]] std::string_view topic_of(const ConcernedGroup& one) const { return questions_[one.question].topic; }
    /// Members name one of the topics.
    [[nodiscard]] bool is_named() const;
    /// A question asks for other topics of the members, too.
    [[nodiscard]] bool wants_others() const { return wants_others_; }
    /// The group has at least one reader so far.
    [[nodiscard]] bool has_readers() const { return !touched_.empty(); }
    /// Null if no question asks for a topic of that id.
    [[nodiscard]] std::optional<std::string_view> name_of(const TopicId& topic_id) const;

    /// Returns memory for the member's partitions.
    [[nodiscard]] Holdings& begin_member();
    void subscribe(const ConcernedGroup& one) { subscribed_.push_back(one.question); }
    /// The member's subscribed topics, requested or not.
    void subscribe(std::span<const std::string_view> topics);
    void add_member(const TopicReader::Member& blank, const Holdings& holdings);
    /// All topics that members subscribe to, ascending and each once; replaces those passed to `subscribe`.
    void set_subscriptions(std::vector<std::string_view> names);

  private:
    /// Every member's partitions of a topic, as one number.
    struct Signature {
        std::string_view topic;
        std::uint64_t value = 0;
    };

    TopicReader& reader_of(std::size_t question);
    void add_commits(const ConcernedGroup& one);
    void sign_holdings();
    [[nodiscard]] const Signature* signature_of(std::string_view topic) const;
    void sort_names();
    void tell_others(TopicQuestion& question, TopicReader& reader);
    void tell_aligned(TopicQuestion& question, TopicReader& reader);
    void tell_aligned_of_one(TopicQuestion& question, TopicReader& reader);
    void tell_besides(const TopicQuestion& question, TopicReader& reader);
    /// Returns false if the answer is full.
    [[nodiscard]] bool tell_one_aligned(TopicQuestion& question, std::string_view topic, TopicReader& reader);

    std::span<TopicQuestion> questions_;
    const ClusterView& cluster_;
    bool wants_others_ = false;
    std::unordered_map<std::string_view, std::size_t> by_name_;
    std::unordered_map<TopicId, std::size_t> by_id_;

    // The present group.
    const Group* group_ = nullptr;
    std::span<const ConcernedGroup> concerned_;
    std::vector<std::optional<TopicReader>> begun_;
    std::vector<std::size_t> touched_;
    /// Questions whose topic the present member subscribes to.
    std::vector<std::size_t> subscribed_;
    std::vector<Holdings> holdings_;
    std::size_t members_ = 0;
    /// The members' subscriptions: as reported, or each name once, ascending, if `are_names_sorted_`.
    std::vector<std::string_view> names_;
    bool are_names_sorted_ = false;
    /// Ascending by topic.
    std::vector<Signature> signatures_;
    bool are_holdings_signed_ = false;

    std::vector<std::vector<TopicReader>> answers_;
};

}  // namespace partita::groups
