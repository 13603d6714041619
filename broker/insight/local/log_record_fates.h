#pragma once

#include "broker/insight/readers/reader_facts.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita::insight {

/// The fates of a topic's records, by its logs. Reads the header of the record's batch if aborted or open transactions may be
/// there. A record that cannot be read counts as standing; a record that cleaning removed there counts as aborted.
class LogRecordFates final : public RecordFates {
  public:
    /// `topic` must outlive this object.
    explicit LogRecordFates(const logs::TopicState& topic) : topic_(topic) {}
    [[nodiscard]] RecordFate of(PartitionIndex partition, Offset offset) const override;

  private:
    const logs::TopicState& topic_;
};

}  // namespace partita::insight
