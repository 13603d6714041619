#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"
#include "protocol/compression.h"

namespace partita::client {

/// A record with its own bytes. An empty optional is null.
struct OwnedRecord {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    /// Empty: by the key, as Kafka's Java client places it, or with the others of its batch.
    std::optional<std::int32_t> partition;
    /// Milliseconds since 1970; empty: now.
    std::optional<std::int64_t> timestamp_ms;
};

struct ProducerSettings {
    Codec codec = Codec::none;
    /// -1 all, 1 the leader, 0 nobody.
    std::int16_t acks = -1;
    /// A batch of a partition is sent when it is so large.
    std::size_t batch_bytes = 16 * 1024;
    /// For how long a send is repeated.
    std::int64_t delivery_timeout_ms = 120'000;
};

/// Writes records to one topic. With acks=all it is idempotent where the cluster lets it: a batch whose answer was lost is sent
/// again and stored once. One thread.
class Producer {
  public:
    /// The cluster outlives the producer.
    Producer(Cluster& cluster, std::string topic, ProducerSettings settings);

    /// Asks for the topic, which the cluster may create. Fails when it is not there in time.
    [[nodiscard]] Result<void> open();
    /// Takes a record; sends the batches of its partition when they are large enough. Records that were refused are in the
    /// failure, which is of the whole batch; the producer goes on.
    [[nodiscard]] Result<void> append(OwnedRecord record);
    /// Sends what waits.
    [[nodiscard]] Result<void> flush();
    [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

  private:
    struct Waiting {
        std::vector<OwnedRecord> records;
        std::size_t bytes = 0;
    };

    [[nodiscard]] Result<void> find_leaders(bool may_create);
    [[nodiscard]] Result<void> send(std::int32_t partition);
    [[nodiscard]] Result<void> send_batch(std::int32_t partition, const std::vector<std::byte>& batch, std::int32_t records);
    [[nodiscard]] Result<void> send_once(std::int32_t partition, const std::vector<std::byte>& batch);
    [[nodiscard]] std::int32_t place(const OwnedRecord& record);
    [[nodiscard]] std::vector<std::byte> encode(const Waiting& waiting, std::int32_t partition) const;

    Cluster& cluster_;
    const std::string topic_;
    const ProducerSettings settings_;
    std::map<std::int32_t, std::int32_t> leaders_;
    std::map<std::int32_t, Waiting> waiting_;
    /// The partition of records without a key, until its batch is sent.
    std::optional<std::int32_t> sticky_;
    ProducerId producer_id_ = kNoProducerId;
    ProducerEpoch producer_epoch_{-1};
    std::map<std::int32_t, std::int32_t> sequences_;
};

}  // namespace partita::client
