#include <algorithm>

#include "broker/groups/consumer_group.h"
#include "broker/groups/reader_collector.h"

// Topics that the members of a consumer group read and hold: the coordinator itself knows their assignments and expressions.

namespace partita::groups {

void ConsumerGroup::list_topics(ReaderListing& listing) const {
    for (const std::string_view name : subscribed_topics()) {
        listing.add_members(name);
    }
    for (const auto& [id, member] : members_) {
        for (const OwnedTopic& owned : member.progress.assigned) {
            listing.add_members(owned.topic_id);
        }
    }
}

namespace {

void read_owned(const OwnedAssignment& assigned, const ReaderCollector& collector, Holdings& holdings) {
    holdings.clear();
    for (const OwnedTopic& owned : assigned) {
        const auto name = collector.name_of(owned.topic_id);
        if (!name) {
            continue;
        }
        holdings.begin_topic(*name);
        for (const OwnedPartition& partition : owned.partitions) {
            holdings.add(PartitionIndex{partition.partition});
        }
        holdings.end_topic();
    }
}

}  // namespace

void ConsumerGroup::tell_readers(ReaderCollector& collector) const {
    if (!collector.is_named()) {
        return;
    }
    for (const auto& [id, member] : members_) {
        const MemberSubscription& said = member.subscription;
        const ResolvedRegex* regex = said.topic_regex.empty() ? nullptr : resolved(said.topic_regex);
        Holdings& holdings = collector.begin_member();
        for (const ConcernedGroup& one : collector.concerned()) {
            const std::string_view topic = collector.topic_of(one);
            if (std::ranges::binary_search(said.topic_names, topic) ||
                (regex != nullptr && regex->topics.contains(std::string(topic)))) {
                collector.subscribe(one);
            }
        }
        read_owned(member.progress.assigned, collector, holdings);
        collector.add_member({.member_id = id, .client_id = said.client_id, .client_host = said.client_host}, holdings);
    }
    if (collector.wants_others() && collector.has_readers()) {
        collector.set_subscriptions(subscribed_topics());
    }
}

std::optional<MemberHoldings> ConsumerGroup::holdings_of(std::string_view member_id, const ClusterView& cluster) const {
    const ConsumerMember* member = find(member_id);
    if (member == nullptr) {
        return std::nullopt;
    }
    MemberHoldings told{
        .client_id = member->subscription.client_id, .client_host = member->subscription.client_host, .topics = {}};
    for (const OwnedTopic& owned : member->progress.assigned) {
        const auto topic = cluster.find(owned.topic_id);
        if (!topic) {
            continue;
        }
        MemberHoldings::Topic& held = told.topics.emplace_back(std::string(topic->name));
        for (const OwnedPartition& partition : owned.partitions) {
            held.partitions.push_back(PartitionIndex{partition.partition});
        }
    }
    const MemberSubscription& said = member->subscription;
    std::set<std::string_view> existing(said.topic_names.begin(), said.topic_names.end());
    if (const ResolvedRegex* regex = said.topic_regex.empty() ? nullptr : resolved(said.topic_regex)) {
        existing.insert(regex->topics.begin(), regex->topics.end());
    }
    std::erase_if(existing, [&](std::string_view name) { return !cluster.find(name); });
    told.add_subscribed(std::move(existing));
    return told;
}

}  // namespace partita::groups
