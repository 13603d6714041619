#include "broker/groups/group_queries.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <utility>

#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/reader_collector.h"
#include "broker/groups/replies.h"

namespace partita::groups {
namespace {

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& letter : small) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return small;
}

/// A set of accepted values, compared without regard to case. A request can list very many, so it must not compare a group with
/// each one.
class Filter {
  public:
    explicit Filter(std::span<const std::string_view> wanted) {
        for (const std::string_view each : wanted) {
            wanted_.insert(in_small_letters(each));
        }
    }
    [[nodiscard]] bool passes(std::string_view value) const {
        return wanted_.empty() || wanted_.contains(in_small_letters(value));
    }

  private:
    std::unordered_set<std::string> wanted_;
};

/// Lists every topic that `ReaderCollector` could find among the group's topics.
void list_topics(ReaderListing& listing) {
    const Group& group = listing.group();
    for (const NamedOffsets& offsets : group.offsets) {
        listing.add_offsets(offsets);
    }
    group.kind().list_topics(listing);
}

}  // namespace

void GroupQueries::decide(const ListGroups& command, Now, Effects& effects) const {
    ListGroupsResult result;
    const Filter types(command.types);
    const Filter states(command.states);
    for (const Group* group : std::as_const(table_).in_order()) {
        const GroupKind& kind = group->kind();
        if (types.passes(to_string(kind.type())) && states.passes(kind.state_text())) {
            result.groups.push_back(
                {group->id, std::string(kind.protocol_type_text()), std::string(kind.state_text()), kind.type()});
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

std::optional<GroupHistory> GroupQueries::history_of(std::string_view group_id) const {
    const Group* group = table_.find(group_id);
    return group == nullptr ? std::nullopt : std::optional(table_.notes().history(*group, *environment_.cluster));
}

void GroupQueries::visit_histories(FunctionRef<void(std::string_view group_id, const GroupHistory& history)> visit) const {
    table_.notes().histories().for_each(visit);
}

std::vector<TopicReader> GroupQueries::readers_of(std::string_view topic, const TopicId& topic_id) {
    TopicQuestion question{.topic = topic, .topic_id = topic_id};
    return std::move(readers_of({&question, 1}).front());
}

std::optional<std::string> GroupQueries::protocol_of(std::string_view group_id) const {
    const Group* group = table_.find(group_id);
    if (group == nullptr) {
        return std::nullopt;
    }
    return std::string(group->kind().assignor());
}

std::optional<MemberHoldings> GroupQueries::holdings_of(std::string_view group_id, std::string_view member_id) const {
    const Group* group = table_.find(group_id);
    return group == nullptr ? std::nullopt : group->kind().holdings_of(member_id, *environment_.cluster);
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
    std::vector<ConcernedGroup> concerned;
    for (std::size_t index = 0; index < questions.size(); ++index) {
        table_.reader_index().for_each(questions[index].topic, questions[index].topic_id, [&](const ListedReader& listed) {
            concerned.push_back({listed.group, index, listed.offsets, listed.is_named_by_members});
        });
    }
    std::ranges::stable_sort(concerned, [](const ConcernedGroup& left, const ConcernedGroup& right) {
        return left.group != right.group && left.group->id < right.group->id;
    });
    ReaderCollector collector(questions, *environment_.cluster);
    for (auto first = concerned.begin(); first != concerned.end();) {
        const auto last =
            std::find_if(first, concerned.end(), [&](const ConcernedGroup& one) { return one.group != first->group; });
        collector.add(*first->group, {first, last});
        ++groups_visited_;
        first = last;
    }
    return collector.take();
}

std::vector<std::vector<TopicReader>> GroupQueries::readers_by_asking_all(std::span<TopicQuestion> questions) const {
    ReaderCollector collector(questions, *environment_.cluster);
    std::vector<ConcernedGroup> concerned(questions.size());
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
