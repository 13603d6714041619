#pragma once

#include "broker/insight/readers/reader_facts.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita::insight {

/// What became of a topic's records, by its logs. Reads the header of the record's batch where aborted or open transactions may
/// be. What cannot be read counts as standing, and what a cleaning took there as aborted.
class LogRecordFates final : public RecordFates {
  public:
    /// `topic` outlives it.
    explicit LogRecordFates(const logs::TopicState& topic) : topic_(topic) {}
    [[nodiscard]] RecordFate of(PartitionIndex partition, Offset offset) const override;

  private:
    const logs::TopicState& topic_;
};

}  // namespace partita::insight
