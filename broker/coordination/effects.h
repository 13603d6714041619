#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

/// The values that go into and come out of all coordinator cores. `coordinator_core.h` describes a core.

namespace partita::coordination {

/// Names the request that a reply answers. Opaque to the core: the shell makes it and takes it back.
struct ReplyToken : StrongInt<struct ReplyTokenTag, std::uint64_t> {
    friend constexpr auto operator<=>(ReplyToken, ReplyToken) = default;
};

/// The answer to one request.
template <class AnyResult>
struct Reply {
    ReplyToken token;
    AnyResult result;
};

/// Names a write to another partition. The core makes it and gets it back with the outcome of the write.
struct WriteToken : StrongInt<struct WriteTokenTag, std::uint64_t> {
    friend constexpr auto operator<=>(WriteToken, WriteToken) = default;
};

/// The end of a transaction that a marker carries.
struct TransactionEnd {
    ProducerId producer_id;
    bool is_commit = false;
    /// The producer's epoch rises with every end of a transaction (KIP-890): a marker with the epoch of the open transaction
    /// comes too late.
    bool bumps_epoch = false;
};

/// A batch for a partition that is not the core's own.
struct OutwardWrite {
    WriteToken token;
    std::string_view topic;
    PartitionIndex partition;
    /// One whole batch. The log writes its base offset and leader epoch into it.
    MutableBytes batch;
    /// Set if the batch is the marker of a transaction. Only markers are written into the topics of coordinators.
    std::optional<TransactionEnd> ends = std::nullopt;
};

/// The outcome of an OutwardWrite:
/// - UNKNOWN_TOPIC_OR_PARTITION: the partition does not exist, and no later try will find it.
/// - KAFKA_STORAGE_ERROR: the log could not write the batch. A later try may succeed.
/// - NOT_LEADER_OR_FOLLOWER: the partition belongs to a coordinator that is being rebuilt. A later try may succeed.
/// - Other errors: the log refused the batch.
struct OutwardWriteOutcome {
    WriteToken token;
    ErrorCode error = ErrorCode::none;
};

/// The producer in whose transaction a batch stands.
struct Transaction {
    ProducerId producer_id;
    ProducerEpoch producer_epoch;
};

/// Most outward writes that one call may ask for. A core that owes more asks for the rest when a timer is due.
inline constexpr std::size_t kOutwardWritesMax = 10'000;

/// The effects that a call of a core asks for, in this order. First `records` become durable, in their order and together (all or
/// none). Then `writes` are tried, those of one partition in their order and by one write. Then `replies` leave. Then the core
/// learns the outcomes of its writes (`written`), whose own effects go the same way. If the records cannot be persisted, nothing
/// else of these effects may happen, and the core must be thrown away and rebuilt by replay.
///
/// The effects own everything that they mention: texts and bytes of records and writes live in `arena`. Calls append, so that one
/// `Effects` may collect several calls and be persisted once.
template <class AnyRecord, class AnyResult>
struct Effects {
    std::vector<AnyRecord> records;
    /// Set if all the records stand in a transaction of this producer.
    std::optional<Transaction> transaction;
    std::vector<OutwardWrite> writes;
    std::vector<Reply<AnyResult>> replies;
    Arena arena;

    /// Ready for the next call; keeps the memory.
    void clear() {
        records.clear();
        transaction.reset();
        writes.clear();
        replies.clear();
        arena.reset();
    }
    [[nodiscard]] bool empty() const { return records.empty() && writes.empty() && replies.empty(); }
};

/// A topic was deleted, and its core has not heard of a later one of its name: the core drops everything that it keeps under the
/// name. Another id belongs to an earlier topic, whose deletion a power failure lost.
struct TopicDeleted {
    /// Empty after a start, if the name is not known any more: then the core drops everything that it keeps under the id.
    std::string_view name;
    TopicId topic_id;
};

}  // namespace partita::coordination
