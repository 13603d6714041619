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

/// What cores of coordinators have in common: the values that go in and come out. `coordinator_core.h` says what a core is.

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

/// Names a write to another partition. The core makes it and gets it back with what became of the write.
struct WriteToken : StrongInt<struct WriteTokenTag, std::uint64_t> {
    friend constexpr auto operator<=>(WriteToken, WriteToken) = default;
};

/// What a marker ends.
struct TransactionEnd {
    ProducerId producer_id;
    bool is_commit = false;
    /// The producer's epoch rises with every end of a transaction (KIP-890): a marker with the epoch of what is open comes too
    /// late.
    bool bumps_epoch = false;
};

/// A batch for a partition that is not the core's own.
struct OutwardWrite {
    WriteToken token;
    std::string_view topic;
    PartitionIndex partition;
    /// One whole batch. The log writes its base offset and leader epoch into it.
    MutableBytes batch;
    /// Set: the batch is the marker of a transaction. Nothing else is written into the topics of coordinators.
    std::optional<TransactionEnd> ends = std::nullopt;
};

/// What became of an OutwardWrite. UNKNOWN_TOPIC_OR_PARTITION: there is no such partition (any more), and never will be
/// under that name and for that purpose. KAFKA_STORAGE_ERROR: it could not be written; NOT_LEADER_OR_FOLLOWER: the partition is
/// of a coordinator that is being rebuilt. A later try of these two may succeed. Other errors are the log's refusals of the
/// batch.
struct OutwardWriteOutcome {
    WriteToken token;
    ErrorCode error = ErrorCode::none;
};

/// Whose transaction a batch belongs to.
struct Transaction {
    ProducerId producer_id;
    ProducerEpoch producer_epoch;
};

/// Outward writes that one call may ask for. A core that owes more asks for the rest when a timer is due.
inline constexpr std::size_t kOutwardWritesMax = 10'000;

/// What a call of a core wants to happen, in this order: first `records` become durable, in their order and together (all or
/// none); then `writes` are tried, those of one partition in their order and by one write; then `replies` leave; then the core is
/// told what became of its writes (`written`), whose own effects go the same way. When the records cannot be persisted nothing
/// else of these effects may happen, and the core must be thrown away and rebuilt by replay.
///
/// The effects own all that they speak of: texts and bytes of records and writes live in `arena`. Calls append, so that one
/// `Effects` may collect several calls and be persisted once.
template <class AnyRecord, class AnyResult>
struct Effects {
    std::vector<AnyRecord> records;
    /// Set: the records stand in a transaction of this producer, all of them.
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

/// A topic was deleted, and its core has been told nothing of a later one of its name: all that it keeps under the name goes.
/// Another id than this one is of an earlier topic, whose end a power failure took.
struct TopicDeleted {
    /// Empty when nobody knows it any more, after a start: then all that is kept under the id goes.
    std::string_view name;
    TopicId topic_id;
};

}  // namespace partita::coordination
