#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "broker/insight/order/keyed_records.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita {
class PartitionLog;
}  // namespace partita

namespace partita::insight {

/// The keyed records of a topic by its logs, read through the page cache. One thread, not a reactor. Where a log is damaged it
/// leaves out the rest of the range that the caller asked for.
class LogKeyedRecords final : public KeyedRecords {
  public:
    /// Counts against the budget for each record, in addition to its bytes: small records cost more than their bytes.
    static constexpr std::size_t kRecordCostBytes = 64;

    /// `topic` must outlive this object. `bytes_max`: the budget, about.
    explicit LogKeyedRecords(const logs::TopicState& topic, std::size_t bytes_max = std::numeric_limits<std::size_t>::max())
        : topic_(topic), bytes_left_(bytes_max) {}

    [[nodiscard]] Offset read(PartitionIndex partition, Offset from, Offset to, Visit visit) override;
    [[nodiscard]] std::optional<Offset> end_of_answer(PartitionIndex partition, Offset from, std::uint32_t bytes) override;
    [[nodiscard]] std::optional<std::string> key_at(PartitionIndex partition, Offset offset) override;
    [[nodiscard]] bool has_budget() const override { return bytes_left_ > 0; }
    [[nodiscard]] bool is_complete() const override { return is_complete_; }

  private:
    [[nodiscard]] const PartitionLog* log_of(PartitionIndex partition) const;
    void spend(std::size_t bytes) { bytes_left_ -= std::min(bytes, bytes_left_); }

    const logs::TopicState& topic_;
    std::size_t bytes_left_;
    bool is_complete_ = true;
};

}  // namespace partita::insight
