#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/finding_json.h"
#include "broker/insight/keys/key_census.h"
#include "broker/insight/plan/plan.h"
#include "broker/partitioners/clients.h"
#include "protocol/function_ref.h"

/// Makes a plan from a log, local or remote. It looks at the newest records, finds the partitioner, counts everything and judges.
/// Pure: records come in through `ScanSource`.
namespace partita::insight {

/// Offsets [from, end) of one partition.
struct ScanRange {
    PartitionIndex partition;
    Offset from{0};
    Offset end{0};
    friend bool operator==(const ScanRange&, const ScanRange&) = default;
};

/// One record as a source gives it. The key is valid during the call.
struct ScannedRecord {
    Offset offset;
    std::optional<Bytes> key;
    /// Size of key and value together.
    std::size_t size_bytes = 0;
    bool has_value = true;
};

class ScanSink {
  public:
    virtual ~ScanSink() = default;
    /// Takes a record. False: the source must stop reading.
    [[nodiscard]] virtual bool record(const ScannedRecord& record) = 0;
    /// Notes that something near this offset could not be read and was left out.
    virtual void damage(Offset offset, std::string_view reason) = 0;
};

class ScanSource {
  public:
    virtual ~ScanSource() = default;
    /// Gives the data records of the range to the sink, in the order of their offsets, without transaction markers. An error is a
    /// sentence, and ends the plan.
    [[nodiscard]] virtual std::expected<void, std::string> read(const ScanRange& range, ScanSink& sink) = 0;
};

struct PlanOptions {
    /// The partitioner to assume; overrides the evidence in the data.
    std::optional<partitioners::ClientPartitioner> partitioner;
    /// Read at most this many records over all partitions, the newest ones.
    std::optional<std::int64_t> records_max;
    /// The first offset to read in each partition, for a caller that wants only a part of the time; empty means the log starts.
    std::vector<Offset> since;
    KeyTable::Limits limits;
};

/// `run_plan` calls it often, on its own thread, with the offsets read so far and the total; false cancels.
using PlanProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

struct PlanOutcome {
    Plan plan;
    /// The counts, for callers that list the keys.
    std::unique_ptr<KeyCensus> census;
};

enum class PlanFailure : std::uint8_t { cancelled, source_failed };
struct [[nodiscard]] PlanError {
    PlanFailure failure = PlanFailure::source_failed;
    std::string message;
};

/// `topic` is a valid target (see `target_problem`).
[[nodiscard]] std::expected<PlanOutcome, PlanError> run_plan(const PlannedTopic& topic, ScanSource& source,
                                                             const PlanOptions& options, const PlanProgress& progress);

/// Cuts the ranges to their newest offsets so that at most `records` remain; long ranges are cut before short ones.
void limit_ranges(std::vector<ScanRange>& ranges, std::int64_t records);

/// Number of records that `run_plan` looks at to find a partitioner, before it counts everything.
inline constexpr std::int64_t kSampleRecords = 20'000;

/// Writes one line for each key: key, old and new partition, separated by tabs. An unknown partition is "?". Bytes below 0x20,
/// 0x7f, '\' and bytes that are not valid UTF-8 are written as \xNN, so that a key never breaks its line.
void write_key_lines(const KeyCensus& census, KeyStyle style, FunctionRef<bool(std::string_view)> write);

}  // namespace partita::insight
