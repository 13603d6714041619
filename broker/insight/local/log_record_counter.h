#pragma once

#include <cstddef>
#include <map>
#include <tuple>

#include "broker/insight/findings/record_count.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita {
class PartitionLog;
}  // namespace partita

namespace partita::insight {

/// Counts the records of a topic by its logs. Where no marker of a transaction lies, no transaction is open and no cleaning was,
/// each offset is a record and nothing is read; elsewhere the headers of the batches tell. One thread, no reactor.
///
/// One such object is made for one look, and has one budget. Once about `bytes_max` bytes were read, offsets count, and the
/// number says that it is a bound. So it does with records of open transactions, which may yet be aborted; with a batch of which
/// a part is asked for, and a cleaning took some records; and with what cannot be read.
class LogRecordCounter final : public RecordCounter {
  public:
    /// It is a part of what a look takes each second while records come, so that it is less than a millisecond.
    static constexpr std::size_t kBytesMax = std::size_t{2} << 20;
    /// What is read at once: the headers of many small batches, or that of a large one.
    static constexpr std::size_t kReadBytes = 4096;

    /// `topic` outlives it.
    explicit LogRecordCounter(const logs::TopicState& topic, std::size_t bytes_max = kBytesMax)
        : topic_(topic), bytes_max_(bytes_max) {}
    [[nodiscard]] RecordCount between(PartitionIndex partition, Offset from, Offset to) override;
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    [[nodiscard]] RecordCount count(PartitionLog& log, Offset from, Offset to);

    const logs::TopicState& topic_;
    const std::size_t bytes_max_;
    std::size_t bytes_read_ = 0;
    /// What was counted, for groups that have committed the same.
    std::map<std::tuple<PartitionIndex, Offset, Offset>, RecordCount> known_;
};

}  // namespace partita::insight
