#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/produce.h"
#include "protocol/record_batch_builder.h"

namespace partita::client {

/// Settings of a pipelined producer, with the defaults of Kafka's.
struct PipelineSettings {
    Codec codec = Codec::none;
    std::optional<int> compression_level;
    /// -1: all replicas, 1: the leader, 0: no answer.
    std::int16_t acks = -1;
    /// With acks=all the broker stores a batch that was resent once.
    bool is_idempotent = true;
    std::size_t batch_bytes = 16 * 1024;
    /// How long a batch waits for more records.
    std::int64_t linger_ms = 5;
    /// Requests under way to one broker.
    std::size_t in_flight_max = 5;
    std::size_t request_bytes_max = 1024 * 1024;
    /// Limit of the batches that wait or are under way; `append` waits for room.
    std::size_t buffer_bytes_max = 32 * 1024 * 1024;
    /// How long the producer waits for an answer.
    std::int64_t request_timeout_ms = 30'000;
    /// How long the producer retries a batch.
    std::int64_t delivery_timeout_ms = 120'000;
    /// Empty: without transactions.
    std::string transactional_id;
    std::int64_t transaction_timeout_ms = 60'000;
};

/// Writes values to one topic as fast as it can: it keeps several requests under way to each leader, and fills a batch of one
/// partition after the other. With a transactional id, records belong to a transaction from the first `append` until `commit`.
/// One thread: it looks for answers whenever it is called.
class PipelinedProducer {
  public:
    struct Record {
        /// When `append` took it, in milliseconds since 1970.
        std::int64_t appended_ms = 0;
        std::size_t bytes = 0;
        /// The caller's number.
        std::int64_t number = 0;
    };
    /// Called once for the records of each batch: they are stored, or lost (the failure is not null).
    using Done = std::function<void(std::span<const Record> records, const Failure* failure)>;

    /// The cluster outlives the producer.
    PipelinedProducer(Cluster& cluster, std::string topic, PipelineSettings settings, Done done);

    /// Looks up the topic, which the cluster may create. Gets a producer id for a transactional producer, and tries to for an
    /// idempotent one. An earlier producer with the transactional id is fenced. Fails if the topic or the coordinator does not
    /// appear in time; it may then be repeated.
    [[nodiscard]] Result<void> open();
    /// Takes a record. Fails if it is larger than a request may be.
    [[nodiscard]] Result<void> append(Bytes value, std::int64_t number);
    /// Sends what waited long enough, and takes answers until this moment.
    void wait_until(Instant until);
    /// Sends everything and waits for all answers.
    void flush();
    /// Flushes, and commits the transaction. If a record of it was lost, this aborts it and fails with the reason.
    [[nodiscard]] Result<void> commit();

  private:
    struct Batch {
        std::int32_t partition = 0;
        std::vector<Record> records;
        std::size_t bytes = 0;
        Instant opened;
        /// Filled when it is closed.
        std::vector<std::byte> encoded;
        /// -1: not sent yet.
        std::int32_t sequence = -1;
    };
    using BatchPtr = std::unique_ptr<Batch>;

    /// A request and its batches.
    struct UnderWay {
        std::int32_t correlation_id = 0;
        Instant deadline;
        std::vector<BatchPtr> batches;
    };
    struct Broker {
        std::unique_ptr<Connection> connection;
        std::int16_t version = 0;
        std::deque<UnderWay> under_way;
    };

    [[nodiscard]] Result<void> init_producer_id();
    [[nodiscard]] Result<void> add_partition(std::int32_t partition);
    [[nodiscard]] Result<void> end_transaction(bool commits);
    [[nodiscard]] Result<Broker*> broker_of(std::int32_t leader);

    void close_batch();
    void stamp(Batch& batch);
    void send_ready();
    [[nodiscard]] bool send_to(std::int32_t leader);
    void transmit(std::int32_t leader, Broker& broker, std::vector<BatchPtr> batches);
    void take_answers();
    void await_answer(Instant deadline);
    bool receive(Broker& broker, Instant deadline);
    void answer(UnderWay request, const RawReply& reply);
    void settle(BatchPtr batch, const Failure* failure);
    void fail_connection(Broker& broker, const Failure& failure);
    void judge(BatchPtr batch, Failure failure);
    void recover();
    [[nodiscard]] bool has_under_way() const;

    [[nodiscard]] Instant now() const { return cluster_.network().clock().now().monotonic; }

    Cluster& cluster_;
    const std::string topic_;
    const PipelineSettings settings_;
    const Done done_;
    Leaders leaders_;
    std::map<std::int32_t, Broker> brokers_;

    BatchBuilder builder_;
    /// The batch that is being filled; null: none.
    BatchPtr current_;
    std::map<std::int32_t, std::deque<BatchPtr>> ready_;
    std::size_t ready_count_ = 0;
    std::size_t buffered_bytes_ = 0;
    /// Batches to repeat, with the reason; while there are some, nothing is sent.
    std::vector<std::pair<BatchPtr, Failure>> to_repeat_;
    /// A batch was lost: the sequence of its partition has a hole, and a new producer id begins without one.
    bool needs_producer_id_ = false;

    ProducerId producer_id_ = kNoProducerId;
    ProducerEpoch producer_epoch_{-1};
    std::map<std::int32_t, std::int32_t> sequences_;
    /// Partitions of the open transaction.
    std::set<std::int32_t> added_;
    /// Why a record of the open transaction was lost.
    std::optional<Failure> lost_;
};

}  // namespace partita::client
