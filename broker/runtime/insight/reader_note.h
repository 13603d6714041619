#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "broker/expansion/consumer_watch.h"
#include "broker/expansion/identity.h"
#include "broker/expansion/plan.h"
#include "protocol/types.h"

namespace partita::runtime {

/// What a request of a reader, or the growth of a topic, leaves for the observer of readers: a value that knows no broker.
struct ReaderNote {
    struct Grown {
        std::vector<expansion::EarlierExpansion> growths;
        /// `ExpansionEpoch::catalog_sequence` of the newest: older catalogs do not know it.
        std::int64_t catalog_sequence = 0;
        std::vector<std::pair<std::string, std::string>> joins;
        /// The groups that read the topic at its newest growth, when all of them are known.
        std::optional<std::set<std::string>> readers;
    };
    struct OffsetFetched {
        std::string group;
        expansion::ConnectionId connection;
        bool is_member = false;
        expansion::ClientIdentity client;
        PartitionIndex partition;
        Offset committed;
        TimestampMs time;
    };
    struct OffsetsListed {
        expansion::ClientIdentity client;
        PartitionIndex partition;
        std::int64_t timestamp = 0;
        Offset answered;
    };
    struct Fetched {
        expansion::ConnectionId connection;
        expansion::ClientIdentity client;
        PartitionIndex partition;
        Offset from;
        TimestampMs time;
    };
    struct Committed {
        std::string group;
        expansion::ConnectionId connection;
        expansion::ClientIdentity client;
        std::vector<expansion::ConsumerWatch::Commit> commits;
        std::optional<expansion::Inversions::Positions> before;
        TimestampMs time;
        std::uint64_t keys_sent = 0;
    };
    /// What a group committed within a transaction, when that is committed. It comes from a producer, which says nothing of who
    /// reads.
    struct CommittedInTransaction {
        std::string group;
        std::vector<expansion::ConsumerWatch::Commit> commits;
        std::optional<expansion::Inversions::Positions> before;
        std::uint64_t keys_sent = 0;
    };
    struct Left {
        std::string group;
        std::string member_id;
        expansion::ConnectionId connection;
        TimestampMs born;
        expansion::ClientIdentity client;
        std::vector<PartitionIndex> partitions;
        TimestampMs time;
    };
    struct GroupDeleted {
        std::string group;
    };

    [[nodiscard]] bool is_growth() const { return std::holds_alternative<Grown>(what); }

    /// Unused in the note of a deleted group, which is about every topic.
    TopicId topic;
    std::variant<OffsetFetched, OffsetsListed, Fetched, Committed, CommittedInTransaction, Left, GroupDeleted, Grown> what;
    /// The name of a topic that grew; empty in other notes.
    std::string name;
};

}  // namespace partita::runtime
