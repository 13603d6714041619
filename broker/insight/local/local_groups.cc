#include "broker/insight/local/local_groups.h"

#include <algorithm>

#include "broker/insight/facts/topics.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/ownership_record.h"

namespace partita::insight {
namespace {

groups::TopicQuestion::Others others_of(ReaderQuestion::Others others) {
    switch (others) {
        case ReaderQuestion::Others::aligned:
            return groups::TopicQuestion::Others::aligned;
        case ReaderQuestion::Others::all:
            return groups::TopicQuestion::Others::all;
    }
    return groups::TopicQuestion::Others::none;
}

}  // namespace

GroupFacts group_facts(std::size_t partition_count, groups::TopicReader reader) {
    GroupFacts group;
    group.committed.assign(partition_count, kNoOffset);
    for (const auto& [partition, offset] : reader.committed) {
        const auto index = static_cast<std::size_t>(partition.value);
        if (index < partition_count) {
            group.committed[index] = offset;
        }
    }
    for (groups::TopicReader::OtherTopic& other : reader.other_topics) {
        group.other_topics.push_back({std::move(other.name), other.partition_count, other.is_aligned});
    }
    group.reads_others = reader.reads_others;
    group.has_more_aligned = reader.has_more_aligned;
    group.state = reader.members.empty() ? "Empty" : "Active";
    for (groups::TopicReader::Member& member : reader.members) {
        group.members.push_back({std::move(member.client_id), std::move(member.client_host), std::move(member.assigned),
                                 std::move(member.member_id)});
    }
    group.seeded_partitions = static_cast<std::int64_t>(reader.seeds.size());
    group.group_id = std::move(reader.group_id);
    group.protocol_type = std::move(reader.protocol_type);
    group.protocol = std::move(reader.protocol);
    return group;
}

std::vector<GroupFacts> group_facts(std::size_t partition_count, std::vector<groups::TopicReader> readers) {
    std::vector<GroupFacts> groups;
    groups.reserve(readers.size());
    for (groups::TopicReader& reader : readers) {
        groups.push_back(group_facts(partition_count, std::move(reader)));
    }
    std::ranges::sort(groups, {}, &GroupFacts::group_id);
    return groups;
}

std::uint64_t LocalGroups::membership_version() const { return shards_.membership_version(); }

bool LocalGroups::is_complete() const { return shards_.is_complete(); }

std::vector<GroupFacts> LocalGroups::readers_of(const ObservedTopic& topic, const ReaderQuestion& question) const {
    groups::TopicQuestion asked{.topic = topic.name(),
                                .topic_id = topic.ref().id,
                                .others = others_of(question.others),
                                .partition_count = question.partition_count,
                                .aligned_max = question.aligned_max,
                                .besides = question.besides};
    return group_facts(static_cast<std::size_t>(topic.partition_count()), std::move(shards_.readers_of({&asked, 1}).front()));
}

std::optional<std::string> LocalGroups::protocol_of(std::string_view group) const { return shards_.protocol_of(group); }

std::optional<MemberFacts> LocalGroups::member(std::string_view group, std::string_view member_id) const {
    std::optional<groups::MemberHoldings> holdings = shards_.holdings_of(group, member_id);
    if (!holdings) {
        return std::nullopt;
    }
    MemberFacts member{
        .client_id = std::move(holdings->client_id), .client_host = std::move(holdings->client_host), .topics = {}};
    for (groups::MemberHoldings::Topic& topic : holdings->topics) {
        member.topics.push_back({std::move(topic.name), std::move(topic.partitions)});
    }
    return member;
}

void LocalHistories::visit_groups(const Visit& visit) { shards_.visit_histories(visit); }

void LocalHistories::visit_others(const Visit& visit) {
    for (runtime::OwnershipSource* source : others_) {
        source->visit_histories(visit);
    }
}

void LocalHistories::note_late_reading(std::string_view group, std::string_view member_id, std::string_view owner_id,
                                       LateReading seen) {
    shards_.note_late_reading(group, member_id, owner_id, std::move(seen));
}

}  // namespace partita::insight
