#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/group_consumer.h"
#include "broker/tools/record_text.h"
#include "broker/tools/tool.h"

/// Where `partita consume` has its records from: partitions, read by themselves, or topics, read as a member of a group.
namespace partita::tools {

/// Where reading partitions begins: a time or one of the constants for it, or an offset.
struct Start {
    std::int64_t time = client::kLatest;
    std::optional<std::int64_t> offset;
    /// So many records before the end; 0: by the others.
    std::int64_t tail = 0;
};

/// What is read, and how.
struct Reading {
    /// Its group is empty for a reader in none.
    client::GroupConsumerSettings settings;
    std::optional<std::int32_t> partition;
    /// Ends where the partitions ended when reading began.
    bool ends = false;
};

/// From the consumer's properties, with Kafka's names, defaults and texts for what cannot be used, and the options that say what
/// is read. It borrows the surroundings.
[[nodiscard]] Outcome<Reading> reading_of(const Properties& properties, const Options& options, const Surroundings& surroundings);

class RecordSource {
  public:
    virtual ~RecordSource() = default;
    RecordSource() = default;
    RecordSource(const RecordSource&) = delete;
    RecordSource& operator=(const RecordSource&) = delete;

    /// Waits up to `wait_ms` where nothing is new; it may come back sooner.
    [[nodiscard]] virtual client::Result<std::int64_t> poll(const client::Fetcher::Taker& take, std::int64_t wait_ms) = 0;
    /// Whether all that was wanted is read. It may ask the cluster.
    [[nodiscard]] virtual Outcome<bool> is_over() = 0;
    [[nodiscard]] virtual client::Result<void> close() = 0;
};

/// The cluster outlives the source.
[[nodiscard]] std::unique_ptr<RecordSource> make_source(client::Cluster& cluster, Reading reading, const Start& start);

}  // namespace partita::tools
