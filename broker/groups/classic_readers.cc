#include "broker/groups/classic_group.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/reader_collector.h"

// Topics that the members of a classic group read and hold, as far as their bytes can be read.

namespace partita::groups {
namespace {

Bytes subscription_of(const ClassicGroup& group, const Member& member) {
    const OwnedBytes* metadata = group.metadata_of(member);
    return metadata == nullptr ? Bytes() : Bytes(*metadata);
}

}  // namespace

void ClassicGroup::list_topics(ReaderListing& listing) const {
    if (!uses_consumer_protocol()) {
        return;
    }
    Holdings holdings;
    for (const auto& [order, member] : members_) {
        if (const auto named = subscribed_topics(subscription_of(*this, *member))) {
            for (const std::string_view name : *named) {
                listing.add_members(name);
            }
        }
        read_holdings(member->assignment(), holdings);
        for (const Holdings::Topic& topic : holdings.topics()) {
            listing.add_members(topic.name);
        }
    }
}

void ClassicGroup::tell_readers(ReaderCollector& collector) const {
    if (!uses_consumer_protocol() || (!collector.is_named() && !collector.wants_others())) {
        return;
    }
    for (const auto& [order, member] : members_) {
        Holdings& holdings = collector.begin_member();
        if (const auto named = subscribed_topics(subscription_of(*this, *member))) {
            collector.subscribe(*named);
        }
        read_holdings(member->assignment(), holdings);
        collector.add_member({.member_id = member->id, .client_id = member->client_id, .client_host = member->client_host},
                             holdings);
    }
}

std::optional<MemberHoldings> ClassicGroup::holdings_of(std::string_view member_id, const ClusterView& cluster) const {
    const Member* member = find(member_id);
    if (member == nullptr) {
        return std::nullopt;
    }
    MemberHoldings told{.client_id = member->client_id, .client_host = member->client_host, .topics = {}};
    if (!uses_consumer_protocol()) {
        return told;
    }
    Holdings holdings;
    read_holdings(member->assignment(), holdings);
    for (const Holdings::Topic& topic : holdings.topics()) {
        const std::span<const PartitionIndex> partitions = holdings.partitions_of(topic);
        if (cluster.find(topic.name)) {
            told.topics.push_back({std::string(topic.name), {partitions.begin(), partitions.end()}});
        }
    }
    if (const auto named = subscribed_topics(subscription_of(*this, *member))) {
        std::set<std::string_view> existing(named->begin(), named->end());
        std::erase_if(existing, [&](std::string_view name) { return !cluster.find(name); });
        told.add_subscribed(std::move(existing));
    }
    return told;
}

}  // namespace partita::groups
