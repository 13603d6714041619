#pragma once

#include <cstdint>

#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/addons/capacity/core/traffic_counts.h"
#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"
#include "protocol/record_batch.h"
#include "storage/partition_log.h"

/// What appends and reads take of the capacity that all clients share: steps that are on while there is a limit.

namespace partita::capacity {

class SharedCapacity;

/// What a batch counts, by its header: nobody has looked whether that is true. Nothing for what is too short to have one.
[[nodiscard]] Load load_of(Bytes records);

/// How a batch or a read has ended, for a managed service's counts.
[[nodiscard]] Outcome counted_outcome(logs::Outcome outcome);

/// Counts the records of the whole batches in the slice, and cuts off what is behind these: a batch that is there in part, and
/// the one with which there would be more than `records_max` records; the first batch stays if it is to. Reads the heads of the
/// batches, from the page cache as a rule.
[[nodiscard]] std::int64_t count_and_cut(FileSlice& slice, std::int64_t records_max, bool keeps_first_batch);

/// Charges what a request sends before it is staged, and gives back what is refused. A request that would have to wait for longer
/// than its client does is refused: `Outcome::over_capacity`.
class AppendCapacity final : public logs::AppendStep {
  public:
    explicit AppendCapacity(SharedCapacity& capacity) : capacity_(capacity) {}

    [[nodiscard]] logs::Outcome admit(logs::AppendRequest& request, logs::Turn& turn) override;
    void settle(logs::AppendRequest& request, logs::Turn& turn) override;
    void tell(const logs::AppendRequest& request, logs::Turn& turn) override;

  private:
    SharedCapacity& capacity_;
};

/// Charges what an answer has: it is cut to what passes at once, and its client waits after it. Who would wait too long gets
/// nothing.
class ReadCapacity final : public logs::ReadStep {
  public:
    explicit ReadCapacity(SharedCapacity& capacity) : capacity_(capacity) {}

    void admit(logs::ReadRequest& request, logs::Turn& turn) override;
    [[nodiscard]] bool settle(logs::ReadRequest& request, logs::Turn& turn) override;

  private:
    void count(const logs::ReadRequest& request, bool is_refused);

    SharedCapacity& capacity_;
};

}  // namespace partita::capacity
