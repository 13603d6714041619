#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/types.h"

/// What groups have to do with one topic: who reads it, how far, and offsets that an expansion gives them.
///
/// A group reads a topic when one of its members subscribes to it or holds a partition of it, or when the group has a
/// committed offset for it. These types serve groups of every kind, so that whoever asks need not know the kinds.

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

    /// A topic besides the one asked for that exists and that a member subscribes to, as far as its metadata can be
    /// read.
    struct OtherTopic {
        bool operator==(const OtherTopic&) const = default;

        std::string name;
        std::int32_t partition_count = 0;
        /// The topic has the count that the question names, which is more than one, and each member of the group holds
        /// the same partitions of both topics; at least one partition is held.
        bool is_aligned = false;
    };

    std::string group_id;
    /// Empty for a group that only stores offsets.
    std::string protocol_type;
    /// Name of the assignor that the group chose ("range", "stream"); empty when it has none yet.
    std::string protocol;
    /// Members that subscribe to the topic or hold a partition of it, in the group's order.
    std::vector<Member> members;
    /// Offsets that the group committed under the topic's id (or without any id).
    std::map<PartitionIndex, Offset> committed;
    /// The partitions of `committed` whose offset an expansion gave and nobody has committed over, ascending.
    std::vector<PartitionIndex> seeds;
    /// What `TopicQuestion::others` asked for, ascending by name.
    std::vector<OtherTopic> other_topics;
    /// When that asked for any: members subscribe to other topics too, told or not.
    bool reads_others = false;
    /// Other topics may be aligned that found no room in the answer.
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

/// One member of a group, with the partitions that it has now.
struct MemberHoldings {
    struct Topic {
        std::string name;
        /// Ascending.
        std::vector<PartitionIndex> partitions;
    };
    std::string client_id;
    /// As the broker names it in group descriptions: "/127.0.0.1".
    std::string client_host;
    /// Only topics that exist.
    std::vector<Topic> topics;
};

/// The question who reads a topic. The coordinator answers several questions in one pass over the groups that read the
/// topics, and parses what members said only once.
struct TopicQuestion {
    enum class Others : std::uint8_t {
        none,
        /// The aligned ones: at most `aligned_max` over all groups together, but for each group at least the first one,
        /// which is enough to tell whether there are any.
        /// Besides these, the topics that `besides` names; they are not told as aligned.
        aligned,
        all,
    };
    std::string_view topic;
    TopicId topic_id;
    Others others = Others::none;
    /// Other topics are aligned only if they have this count.
    std::int32_t partition_count = 0;
    /// Every shard that answers subtracts what it told.
    std::size_t aligned_max = 0;
    /// Groups and other topics of theirs, ascending: told as far as members of the group subscribe to them.
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
    /// Stored with each offset; says where it comes from. See `seed_metadata`.
    std::string_view metadata;
};

/// The metadata that marks offsets which expansion `epoch` of a topic gave away.
[[nodiscard]] std::string seed_metadata(std::int32_t epoch);

}  // namespace partita::groups
