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
    /// Empty: chosen by the key, as in Kafka's Java client; without a key, the partition of the current batch.
    std::optional<std::int32_t> partition;
    /// Milliseconds since 1970; empty: now.
    std::optional<std::int64_t> timestamp_ms;
};

/// The leader of each partition of a topic; -1: it has none.
using Leaders = std::map<std::int32_t, std::int32_t>;

// Shared by the producers

/// Looks up a topic, which the cluster may create if `may_create`.
[[nodiscard]] Result<Leaders> find_leaders(Cluster& cluster, const std::string& topic, bool may_create);
/// Looks up a topic, which the cluster may create, until it appears. Fails when default.api.timeout.ms is over.
[[nodiscard]] Result<Leaders> await_topic(Cluster& cluster, const std::string& topic);
/// Whether the same batch may succeed later, or at another leader.
[[nodiscard]] bool is_worth_repeating(const Failure& failure);

/// Produce versions with names of topics and without transactions that begin by themselves; newer ones have ids.
inline constexpr Versions kProduceVersions{3, 12};

struct ProducerSettings {
    Codec codec = Codec::none;
    /// -1: all replicas, 1: the leader, 0: no answer.
    std::int16_t acks = -1;
    /// The producer sends a partition's batch when it reaches this size.
    std::size_t batch_bytes = 16 * 1024;
    /// How long the producer retries a batch.
    std::int64_t delivery_timeout_ms = 120'000;
};

/// Writes records to one topic. With acks=all it is idempotent if the cluster allows it: it resends a batch whose answer was
/// lost, and the broker stores it once. One thread.
class Producer {
  public:
    /// The cluster outlives the producer.
    Producer(Cluster& cluster, std::string topic, ProducerSettings settings);

    /// Looks up the topic, which the cluster may create. Fails if the topic does not appear in time.
    [[nodiscard]] Result<void> open();
    /// Takes a record; sends its partition's batch when that is large enough. A failure is that of a whole batch and contains its
    /// records; the producer stays usable.
    [[nodiscard]] Result<void> append(OwnedRecord record);
    /// Sends all waiting batches.
    [[nodiscard]] Result<void> flush();
    [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

  private:
    struct Waiting {
        std::vector<OwnedRecord> records;
        std::size_t bytes = 0;
    };

    [[nodiscard]] Result<void> send(std::int32_t partition);
    [[nodiscard]] Result<void> send_batch(std::int32_t partition, const std::vector<std::byte>& batch, std::int32_t records);
    [[nodiscard]] Result<void> send_once(std::int32_t partition, const std::vector<std::byte>& batch);
    [[nodiscard]] std::int32_t place(const OwnedRecord& record);
    [[nodiscard]] std::vector<std::byte> encode(const Waiting& waiting, std::int32_t partition) const;

    Cluster& cluster_;
    const std::string topic_;
    const ProducerSettings settings_;
    Leaders leaders_;
    std::map<std::int32_t, Waiting> waiting_;
    /// The partition for records without a key, until its batch is sent.
    std::optional<std::int32_t> sticky_;
    ProducerId producer_id_ = kNoProducerId;
    ProducerEpoch producer_epoch_{-1};
    std::map<std::int32_t, std::int32_t> sequences_;
};

}  // namespace partita::client
