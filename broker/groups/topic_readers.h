#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

/// What groups have to do with one topic: who reads it, how far, and offsets that an expansion gives them.
///
/// A group reads a topic when one of its members subscribes to it or holds a partition of it, or when the group
/// has a committed offset for it. Every kind of group that gets members answers here, so that those who ask need
/// not know the kinds.

namespace partita::groups {

/// One group that reads the topic asked for.
struct TopicReader {
    struct Member {
        bool operator==(const Member&) const = default;

        std::string member_id;
        std::string client_id;
        /// As the broker names it in group descriptions: "/127.0.0.1".
        std::string client_host;
        bool subscribed = false;
        /// Partitions of the topic in the member's current assignment, ascending.
        std::vector<PartitionIndex> assigned;
    };

    /// A topic besides the one asked for that a member subscribes to, as far as that can be read, and that exists.
    struct OtherTopic {
        bool operator==(const OtherTopic&) const = default;

        std::string name;
        std::int32_t partition_count = 0;
        /// It has the count that the question names, more than one, and each member of the group holds the same partitions of
        /// both; at least one is held.
        bool is_aligned = false;
    };

    std::string group_id;
    /// Empty for a group that only stores offsets.
    std::string protocol_type;
    /// Name of the assignor that the group chose ("range", "stream"); empty when it has none yet.
    std::string protocol;
    /// Members that subscribe to the topic or hold a partition of it, in the group's order.
    std::vector<Member> members;
    /// Committed under the topic's id (or without any id).
    std::map<PartitionIndex, Offset> committed;
    /// Those of `committed` that an expansion gave and nobody committed over, ascending.
    std::vector<PartitionIndex> seeds;
    /// What `TopicQuestion::others` asked for, ascending by name.
    std::vector<OtherTopic> other_topics;

    /// Its members run Kafka Streams, whose tasks are bound to partition counts.
    [[nodiscard]] bool is_streams() const { return protocol == "stream"; }

    bool operator==(const TopicReader&) const = default;

    [[nodiscard]] bool is_subscribed() const {
        for (const Member& member : members) {
            if (member.subscribed) return true;
        }
        return false;
    }
};

/// One member of a group, with what it has now.
struct MemberHoldings {
    struct Topic {
        std::string name;
        /// Ascending.
        std::vector<PartitionIndex> partitions;
    };
    std::string client_id;
    /// As the broker names it in group descriptions: "/127.0.0.1".
    std::string client_host;
    /// Those that exist.
    std::vector<Topic> topics;
};

/// Who reads this topic? Several questions are answered by one pass over the groups that read the topics, which takes what members said apart once.
struct TopicQuestion {
    enum class Others : std::uint8_t {
        none,
        /// Those that are aligned, up to `aligned_max` of all groups together, and of each group the first one all the same:
        /// enough to tell whether there are any.
        aligned,
        all,
    };
    std::string_view topic;
    TopicId topic_id;
    Others others = Others::none;
    /// Other topics of this count can be aligned.
    std::int32_t partition_count = 0;
    /// Every shard that answers takes what it told off it.
    std::size_t aligned_max = 0;
};

/// Gives a group the committed offset 0 for partitions that it has none for.
struct SeedOffsets {
    std::string_view group_id;
    std::string_view topic;
    TopicId topic_id;
    /// The partitions [first, end).
    PartitionIndex first;
    PartitionIndex end;
    /// Stored with each offset; says where it comes from. See `seed_metadata`.
    std::string_view metadata;
};

/// What the offsets that expansion `epoch` of a topic gave away are marked with.
[[nodiscard]] std::string seed_metadata(std::int32_t epoch);

}  // namespace partita::groups
