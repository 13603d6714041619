#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/access/session.h"
#include "broker/logs/outcome.h"
#include "broker/logs/partition.h"
#include "protocol/error_code.h"
#include "protocol/produce_validation.h"
#include "protocol/record_batch.h"
#include "storage/partition_log.h"

namespace partita::runtime {
struct ClientConnection;
}

namespace partita::logs {

class Appender;
class Turn;
struct TopicState;

/// The client of a request. The log service ignores these fields; its steps use them.
struct Client {
    /// Null once `Appender::append` has returned: a connection may end before its appends are written.
    runtime::ClientConnection* connection = nullptr;
    /// The number of the connection, which no other connection has; 0 without one.
    std::uint64_t connection_id = 0;
    std::string_view client_id;
    /// The usage record of the client's principal; null if the broker does not count it. A usage record lives as long as the
    /// broker.
    access::Usage* usage = nullptr;
};

/// Why a batch is invalid, with the rules that it breaks.
struct InvalidBatch {
    ProduceFailure failure;
    ProduceRules rules;
};

/// One batch on its way into a partition. The front fills in the members up to `outcome`, the service and its steps the others.
struct Append {
    /// Null if the look-up found no such topic, or may not reveal it.
    const TopicState* topic = nullptr;
    Partition* partition = nullptr;
    PartitionIndex index;
    /// The index of the topic within the request, counted from 0, for steps that count by topic.
    std::uint32_t topic_place = 0;
    /// Before staging: the records as the client sent them, one batch. The service may change this memory until the end of the
    /// turn. After staging: the bytes that the log stores.
    MutableBytes batch;
    /// First the result of the look-up. Then the refusal by a step, by the format's rules or by the log, in this order. After the
    /// write, its result.
    Outcome outcome = Outcome::ok;

    bool is_staged = false;
    /// The topic wants the batch synced before it is acknowledged (flush.messages).
    bool needs_sync = false;
    std::int32_t record_count = 0;
    /// Set with the outcome transaction_refused: the coordinator's error.
    ErrorCode coordinator_error = ErrorCode::none;
    /// See AppendContext. The step that asks the transaction's coordinator sets it.
    std::optional<TransactionVerification> verification;
    StagedAppend staged;
    /// The log start offset; kNoOffset if the batch did not reach the log.
    Offset log_start = kNoOffset;
    /// The timestamp that the log gave the batch; kNoTimestamp if the log keeps the producer's timestamps.
    TimestampMs append_time = kNoTimestamp;
    /// Set with the outcome invalid_batch.
    std::unique_ptr<InvalidBatch> invalid;
};

/// How a transactional client works, as far as the service knows it (KIP-890).
struct AppendTransaction {
    std::string_view transactional_id;
    /// The client relies on the broker to add the partitions to its transaction.
    bool adds_partitions = false;
};

class AppendRequest;

/// Receives the news that a front's appends are written. The request owns it.
class AppendListener {
  public:
    virtual ~AppendListener() = default;
    /// Every batch has its outcome. The turn calls this at its end, once for each request for which `Appender::append` returned
    /// true, even if no batch was staged. A front that sees `needs_sync` answers through `Appender::when_synced`.
    virtual void on_written(AppendRequest& request, Turn& turn) = 0;
};

/// A request that appends: batches for any number of partitions, in staging order. The turn owns it (Turn::append_request) and
/// reuses it, to keep its memory. The memory behind its views must live until the end of the turn.
class AppendRequest {
  public:
    // The request --------------------------------------------------------------------------------

    Client client;
    std::vector<Append> appends;
    /// Set if any batch is transactional.
    std::optional<AppendTransaction> transaction;
    /// False for a client whose version of Produce predates zstd: such clients cannot read zstd.
    bool knows_zstd = true;
    /// The client claims to be an administrator's tool. Such a client may write to some of the broker's own topics.
    bool is_administrators = false;
    /// This is the first appending request of its connection.
    bool is_first = false;
    /// The outcome of batches that would otherwise be staged; `ok` stages them.
    Outcome dismissal = Outcome::ok;
    /// The client wants an answer when all replicas that are in sync have the batches.
    bool waits_for_replicas = false;
    /// How long the client waits for an answer.
    std::int64_t timeout_ms = 0;
    /// The size of the request as received.
    std::size_t request_bytes = 0;
    std::unique_ptr<AppendListener> listener;

    // The result ---------------------------------------------------------------------------------

    /// Why the whole request was refused.
    Outcome refusal = Outcome::ok;
    /// How long the client must wait before its next request. The front tells the client.
    std::int64_t wait_ms = 0;
    void wait(std::int64_t ms) { wait_ms = std::max(wait_ms, ms); }
    [[nodiscard]] bool has_staged() const { return staged_count > 0; }
    [[nodiscard]] bool has_failed() const { return failed_count > 0; }
    [[nodiscard]] bool needs_sync() const { return sync_count > 0; }

    // For the service and its steps --------------------------------------------------------------

    /// The steps that this request passes, from its admission to its end.
    std::uint32_t steps = 0;
    /// How long the client must wait if any batch is staged.
    std::int64_t wait_if_staged_ms = 0;
    std::size_t staged_count = 0;
    std::size_t failed_count = 0;
    std::size_t sync_count = 0;
    /// The size of the batches that this request added to logs.
    std::uint64_t written_bytes = 0;
    Appender* appender = nullptr;

    /// Resets the request and keeps its memory.
    void clear() {
        std::vector<Append> kept = std::move(appends);
        kept.clear();
        *this = AppendRequest();
        appends = std::move(kept);
    }
};

/// True if the first batch of `records` claims to belong to a transaction. Looks only at the header bytes, because every request
/// asks this for each partition.
[[nodiscard]] inline bool is_transactional(Bytes records) {
    constexpr std::size_t kMagicAt = 16;
    constexpr std::size_t kAttributesAt = 21;
    return records.size() >= kBatchHeaderBytes && records[kMagicAt] == std::byte{2} &&
           (records[kAttributesAt + 1] & std::byte{BatchAttributes::kTransactionalBit}) != std::byte{0};
}

}  // namespace partita::logs
