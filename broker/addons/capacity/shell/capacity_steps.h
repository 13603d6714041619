#pragma once

#include <cstdint>

#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/addons/capacity/core/traffic_counts.h"
#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"
#include "protocol/record_batch.h"
#include "storage/partition_log.h"

/// Steps that charge appends and reads to the capacity that all clients share. They are on while there is a limit.

namespace partita::capacity {

class SharedCapacity;

/// The load of a batch according to its header, which nothing has checked. Zero if the bytes are too short for a header.
[[nodiscard]] Load load_of(Bytes records);

/// The outcome of a batch or a read, for a managed service's counts.
[[nodiscard]] Outcome counted_outcome(logs::Outcome outcome);

/// Counts the records of the whole batches in the slice, and cuts off the rest. The rest is an incomplete batch, or begins with
/// the batch that would exceed `records_max` records. The first batch stays if `keeps_first_batch` is set. Reads the heads of the
/// batches, usually from the page cache.
[[nodiscard]] std::int64_t count_and_cut(FileSlice& slice, std::int64_t records_max, bool keeps_first_batch);

/// Charges the data of a request before it is staged, and gives back refused parts. Refuses a request that would have to wait for
/// longer than its client does: `Outcome::over_capacity`.
class AppendCapacity final : public logs::AppendStep {
  public:
    explicit AppendCapacity(SharedCapacity& capacity) : capacity_(capacity) {}

    [[nodiscard]] logs::Outcome admit(logs::AppendRequest& request, logs::Turn& turn) override;
    void settle(logs::AppendRequest& request, logs::Turn& turn) override;
    void tell(const logs::AppendRequest& request, logs::Turn& turn) override;

  private:
    SharedCapacity& capacity_;
};

/// Charges the data of an answer. Cuts the answer to the burst that passes at once, and makes the client wait after it. A client
/// that would wait too long gets nothing.
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
