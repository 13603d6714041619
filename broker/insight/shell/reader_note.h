#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "broker/insight/plan/plan.h"
#include "broker/insight/readers/consumer_watch.h"
#include "protocol/types.h"

namespace partita::runtime {

/// What a request of a reader, or the growth of a topic, leaves for the observer of readers: a value that knows no broker.
struct ReaderNote {
    struct Grown {
        std::vector<insight::EarlierExpansion> growths;
        /// `ExpansionEpoch::catalog_sequence` of the newest: older catalogs do not know it.
        std::int64_t catalog_sequence = 0;
        std::vector<std::pair<std::string, std::string>> joins;
        /// The groups that read the topic at its newest growth, when all of them are known.
        std::optional<std::set<std::string>> readers;
    };
    struct OffsetFetched {
        std::string group;
        insight::ConnectionId connection;
        bool is_member = false;
        insight::ClientIdentity client;
        PartitionIndex partition;
        Offset committed;
        TimestampMs time;
    };
    struct OffsetsListed {
        insight::ClientIdentity client;
        PartitionIndex partition;
        std::int64_t timestamp = 0;
        Offset answered;
    };
    struct Fetched {
        insight::ConnectionId connection;
        insight::ClientIdentity client;
        PartitionIndex partition;
        Offset from;
        TimestampMs time;
    };
    struct Committed {
        std::string group;
        insight::ConnectionId connection;
        insight::ClientIdentity client;
        std::vector<insight::ConsumerWatch::Commit> commits;
        std::optional<insight::Inversions::Positions> before;
        TimestampMs time;
        std::uint64_t keys_sent = 0;
    };
    /// What a group committed within a transaction, when that is committed. It comes from a producer, which says nothing of who
    /// reads.
    struct CommittedInTransaction {
        std::string group;
        std::vector<insight::ConsumerWatch::Commit> commits;
        std::optional<insight::Inversions::Positions> before;
        std::uint64_t keys_sent = 0;
    };
    struct Left {
        std::string group;
        std::string member_id;
        insight::ConnectionId connection;
        TimestampMs born;
        insight::ClientIdentity client;
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
