#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/types.h"

/// The groups' relations to one topic: its readers, their progress, and offsets that an expansion gives them.
///
/// A group reads a topic if one of its members subscribes to it or holds a partition of it, or if the group has a committed
/// offset for it. These types serve groups of every kind, so that callers need not know the kinds.

namespace partita::groups {

/// One group that reads the topic of the question.
struct TopicReader {
    struct Member {
        bool operator==(const Member&) const = default;

        std::string member_id;
        std::string client_id;
        /// In the form of group descriptions: "/127.0.0.1".
        std::string client_host;
        bool subscribed = false;
        /// Partitions of the topic in the member's current assignment, ascending.
        std::vector<PartitionIndex> assigned;
    };

    /// Another existing topic to which a member subscribes, as far as its metadata can be read.
    struct OtherTopic {
        bool operator==(const OtherTopic&) const = default;

        std::string name;
        std::int32_t partition_count = 0;
        /// The topic has the question's partition count, which is more than one, and each member of the group holds the same
        /// partitions of both topics. At least one partition is held.
        bool is_aligned = false;
    };

    std::string group_id;
    /// Empty for a group that only stores offsets.
    std::string protocol_type;
    /// Name of the group's assignor ("range", "stream"); empty before the first choice.
    std::string protocol;
    /// Members that subscribe to the topic or hold a partition of it, in the group's order.
    std::vector<Member> members;
    /// Offsets that the group committed under the topic's id (or without any id).
    std::map<PartitionIndex, Offset> committed;
    /// The partitions of `committed` whose offset an expansion gave and no client has overwritten, ascending.
    std::vector<PartitionIndex> seeds;
    /// The topics that `TopicQuestion::others` asked for, ascending by name.
    std::vector<OtherTopic> other_topics;
    /// If the question asked for any: members subscribe to other topics, whether listed here or not.
    bool reads_others = false;
    /// The answer had no room for all topics, so further ones may be aligned.
    bool has_more_aligned = false;

    /// The group's members run Kafka Streams, whose tasks are bound to partition counts.
    [[nodiscard]] bool is_streams() const { return protocol == "stream"; }

    bool operator==(const TopicReader&) const = default;

    [[nodiscard]] bool is_subscribed() const {
        for (const Member& member : members) {
            if (member.subscribed) {
                return true;
            }
        }
        return false;
    }
};

/// One member of a group and its present partitions.
struct MemberHoldings {
    struct Topic {
        std::string name;
        /// Ascending.
        std::vector<PartitionIndex> partitions;
    };
    std::string client_id;
    /// In the form of group descriptions: "/127.0.0.1".
    std::string client_host;
    /// Only existing topics. Those to which the member subscribes without holding any of their partitions are here too, with no
    /// partitions: during a rebalance, a member of a classic group holds nothing.
    std::vector<Topic> topics;

    /// Adds those of these topics that the member does not hold. A member may hold and name thousands.
    void add_subscribed(std::set<std::string_view> names) {
        for (const Topic& held : topics) {
            names.erase(held.name);
        }
        for (const std::string_view name : names) {
            topics.push_back({.name = std::string(name), .partitions = {}});
        }
    }
};

/// Asks for the readers of a topic. The coordinator answers several questions in one pass over the groups that read the topics,
/// and parses members' data only once.
struct TopicQuestion {
    enum class Others : std::uint8_t {
        none,
        /// Aligned topics (OtherTopic::is_aligned): at most `aligned_max` over all groups together, but at least one for each
        /// group that has any. In addition the topics in `besides`, which are not marked as aligned.
        aligned,
        all,
    };
    std::string_view topic;
    TopicId topic_id;
    Others others = Others::none;
    /// Other topics are aligned only if they have this count.
    std::int32_t partition_count = 0;
    /// Every answering shard subtracts the topics that it listed.
    std::size_t aligned_max = 0;
    /// Pairs of a group and another topic of it, ascending: listed if members of the group subscribe to the topic.
    std::span<const std::pair<std::string_view, std::string_view>> besides;
};

/// Gives a group the committed offset 0 for the partitions for which it has no offset.
struct SeedOffsets {
    std::string_view group_id;
    std::string_view topic;
    TopicId topic_id;
    /// The partitions [first, end).
    PartitionIndex first;
    PartitionIndex end;
    /// Stored with each offset; names its origin. See `seed_metadata`.
    std::string_view metadata;
};

/// The metadata of offsets that the topic's expansion `epoch` gave.
[[nodiscard]] std::string seed_metadata(std::int32_t epoch);

}  // namespace partita::groups
