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

namespace partita::insight {

/// A note for the observer of readers, about a reader's request or the growth of a topic. It is a value that knows no broker.
struct ReaderNote {
    struct Grown {
        std::vector<EarlierExpansion> growths;
        /// See GrownTopic.
        std::int64_t sequence = 0;
        std::vector<std::pair<std::string, std::string>> joins;
        std::optional<std::set<std::string>> readers;
    };
    struct OffsetFetched {
        std::string group;
        ConnectionId connection;
        bool is_member = false;
        ClientIdentity client;
        PartitionIndex partition;
        Offset committed;
        TimestampMs time;
    };
    struct OffsetsListed {
        ClientIdentity client;
        PartitionIndex partition;
        std::int64_t timestamp = 0;
        Offset answered;
    };
    struct Fetched {
        ConnectionId connection;
        ClientIdentity client;
        PartitionIndex partition;
        Offset from;
        TimestampMs time;
    };
    struct Committed {
        std::string group;
        ConnectionId connection;
        ClientIdentity client;
        std::vector<ConsumerWatch::Commit> commits;
        std::optional<Inversions::Positions> before;
        TimestampMs time;
        std::uint64_t keys_sent = 0;
    };
    /// Offsets that a group committed within a transaction, when that is committed. They come from a producer, which does not
    /// show who reads.
    struct CommittedInTransaction {
        std::string group;
        std::vector<ConsumerWatch::Commit> commits;
        std::optional<Inversions::Positions> before;
        std::uint64_t keys_sent = 0;
    };
    struct Left {
        std::string group;
        std::string member_id;
        ConnectionId connection;
        TimestampMs born;
        ClientIdentity client;
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

/// A delivery that waits for the observer of readers.
struct DeliveryNote {
    TopicId topic;
    Delivery delivery;
    /// How many other notes were left before it, since the observer's start.
    std::uint64_t notes_before = 0;
};

}  // namespace partita::insight
