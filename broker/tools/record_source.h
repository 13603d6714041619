#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/group_consumer.h"
#include "broker/tools/record_text.h"
#include "broker/tools/tool.h"

/// Sources of records for `partita consume`: partitions read directly, or topics read as a member of a group.
namespace partita::tools {

/// The start in each partition: a time or one of the constants for it, or an offset.
struct Start {
    std::int64_t time = client::kLatest;
    std::optional<std::int64_t> offset;
    /// Starts this many records before the end; 0: the other fields decide.
    std::int64_t tail = 0;
};

/// The records to read, and how.
struct Reading {
    /// The group is empty if the reader is in no group.
    client::GroupConsumerSettings settings;
    std::optional<std::int32_t> partition;
    /// Stops at the partitions' ends of the start of reading.
    bool ends = false;
};

/// Builds a Reading from the consumer's properties, with Kafka's names, defaults and error texts, and from the options that
/// select records. It borrows the surroundings.
[[nodiscard]] Outcome<Reading> reading_of(const Properties& properties, const Options& options, const Surroundings& surroundings);

class RecordSource {
  public:
    virtual ~RecordSource() = default;
    RecordSource() = default;
    RecordSource(const RecordSource&) = delete;
    RecordSource& operator=(const RecordSource&) = delete;

    /// Waits up to `wait_ms` if there is nothing new; it may return sooner.
    [[nodiscard]] virtual client::Result<std::int64_t> poll(const client::Fetcher::Taker& take, std::int64_t wait_ms) = 0;
    /// Whether everything requested has been read. It may ask the cluster.
    [[nodiscard]] virtual Outcome<bool> is_over() = 0;
    [[nodiscard]] virtual client::Result<void> close() = 0;
};

/// The cluster outlives the source.
[[nodiscard]] std::unique_ptr<RecordSource> make_source(client::Cluster& cluster, Reading reading, const Start& start);

}  // namespace partita::tools
