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

/// Who asks. The log service looks at none of it; its steps do.
struct Client {
    /// Null once `Appender::append` has returned: a connection may end before its appends are written.
    runtime::ClientConnection* connection = nullptr;
    std::string_view client_id;
    /// Of the client's principal, if that is counted. What is counted stays as long as the broker.
    access::Usage* usage = nullptr;
};

/// Why a batch is no good, with the rules that it breaks.
struct InvalidBatch {
    ProduceFailure failure;
    ProduceRules rules;
};

/// One batch on its way into a partition. The front fills in the first part, the service the second one.
struct Append {
    /// Null when the look-up found no such topic, or may not tell of it.
    const TopicState* topic = nullptr;
    Partition* partition = nullptr;
    PartitionIndex index;
    /// Which of the request's topics it belongs to, counted from 0: for steps that count by topic.
    std::uint32_t topic_place = 0;
    /// The records as the client sent them: one batch, in memory that the service may change until the end of the turn. Once the
    /// batch is staged: what the log stores.
    MutableBytes batch;
    /// What the look-up said. Then, in this order: what a step, the format's rules or the log refused; after the write how it
    /// ended.
    Outcome outcome = Outcome::ok;

    bool is_staged = false;
    /// The topic wants the batch synced before it is acknowledged (flush.messages).
    bool needs_sync = false;
    std::int32_t record_count = 0;
    /// With the outcome transaction_refused: what the coordinator said.
    ErrorCode coordinator_error = ErrorCode::none;
    /// See AppendContext. Set by the step that asks the transaction's coordinator.
    std::optional<TransactionVerification> verification;
    StagedAppend staged;
    /// Where the log begins; kNoOffset when the batch did not get as far as the log.
    Offset log_start = kNoOffset;
    /// The time that the log gave the batch; kNoTimestamp when it keeps the producer's.
    TimestampMs append_time = kNoTimestamp;
    /// With the outcome invalid_batch.
    std::unique_ptr<InvalidBatch> invalid;
};

/// How a transactional client works: what the service knows of KIP-890.
struct AppendTransaction {
    std::string_view transactional_id;
    /// The client leaves it to the broker to add the partitions to its transaction.
    bool adds_partitions = false;
};

class AppendRequest;

/// What a front has told when its appends are written. The request owns it.
class AppendListener {
  public:
    virtual ~AppendListener() = default;
    /// Every batch has its outcome. The turn calls this at its end, once for each request that was staged. A front that sees
    /// `needs_sync` answers by `Appender::when_synced`.
    virtual void on_written(AppendRequest& request, Turn& turn) = 0;
};

/// A request that appends: batches for any number of partitions, in the order in which they are staged. It is the turn's
/// (Turn::append_request), which uses it again, so that its memory is kept. What its views point to lives until the end of the
/// turn.
class AppendRequest {
  public:
    // What is asked ------------------------------------------------------------------------------

    Client client;
    std::vector<Append> appends;
    /// Set when some batch is transactional.
    std::optional<AppendTransaction> transaction;
    /// False for clients that could not read zstd themselves when they learned to produce.
    bool knows_zstd = true;
    /// The client says that it is an administrator's, which may write to some topics that are the broker's own.
    bool is_administrators = false;
    /// The first request that appends over its connection.
    bool is_first = false;
    /// What batches are refused with that could be staged otherwise.
    Outcome dismissal = Outcome::ok;
    /// For how long the client waits for an answer.
    std::int64_t timeout_ms = 0;
    /// Of the request as it came.
    std::size_t request_bytes = 0;
    std::unique_ptr<AppendListener> listener;

    // What became of it --------------------------------------------------------------------------

    /// Why the request was refused whole.
    Outcome refusal = Outcome::ok;
    /// For how long the client has to wait before its next request, which its front tells it.
    std::int64_t wait_ms = 0;
    void wait(std::int64_t ms) { wait_ms = std::max(wait_ms, ms); }
    [[nodiscard]] bool has_staged() const { return staged_count > 0; }
    [[nodiscard]] bool has_failed() const { return failed_count > 0; }
    [[nodiscard]] bool needs_sync() const { return sync_count > 0; }

    // For the service and its steps --------------------------------------------------------------

    /// The steps that this request passes, from its admission to its end.
    std::uint32_t steps = 0;
    /// What the client has to wait if any batch is staged.
    std::int64_t wait_if_staged_ms = 0;
    std::size_t staged_count = 0;
    std::size_t failed_count = 0;
    std::size_t sync_count = 0;
    /// Of the batches that this request added to logs.
    std::uint64_t written_bytes = 0;
    Appender* appender = nullptr;

    /// Makes it as new; its memory stays.
    void clear() {
        std::vector<Append> kept = std::move(appends);
        kept.clear();
        *this = AppendRequest();
        appends = std::move(kept);
    }
};

/// Whether the first batch of `records` is one of a transaction, as far as its bytes can tell. Cheap: every request asks for each
/// partition.
[[nodiscard]] inline bool is_transactional(Bytes records) {
    constexpr std::size_t kMagicAt = 16;
    constexpr std::size_t kAttributesAt = 21;
    return records.size() >= kBatchHeaderBytes && records[kMagicAt] == std::byte{2} &&
           (records[kAttributesAt + 1] & std::byte{BatchAttributes::kTransactionalBit}) != std::byte{0};
}

}  // namespace partita::logs
