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

/// Counts the records of a topic by its logs. In a range without transaction markers, open transactions and cleaning, each offset
/// is a record and nothing is read. Elsewhere the counter reads the headers of the batches. One thread, not a reactor.
///
/// A caller makes one object for one look, with one budget. After about `bytes_max` bytes it counts offsets instead, and marks
/// the number as a bound. It also gives a bound for records of open transactions, which may still be aborted; for a batch that is
/// partly in the range and has lost records to cleaning; for compressed entries of message format 0 and 1, whose headers do not
/// count; and for parts of a log that it cannot read.
class LogRecordCounter final : public RecordCounter {
  public:
    /// The default budget. Counting is a part of each look, which comes once a second while records come. So it must take less
    /// than a millisecond.
    static constexpr std::size_t kBytesMax = std::size_t{2} << 20;
    /// Bytes that one read takes: the headers of many small batches, or the header of a large one.
    static constexpr std::size_t kReadBytes = 4096;

    /// `topic` must outlive this object.
    explicit LogRecordCounter(const logs::TopicState& topic, std::size_t bytes_max = kBytesMax)
        : topic_(topic), bytes_max_(bytes_max) {}
    [[nodiscard]] RecordCount between(PartitionIndex partition, Offset from, Offset to) override;
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    [[nodiscard]] RecordCount count(PartitionLog& log, Offset from, Offset to);

    const logs::TopicState& topic_;
    const std::size_t bytes_max_;
    std::size_t bytes_read_ = 0;
    /// Known counts, for groups that have committed the same offsets.
    std::map<std::tuple<PartitionIndex, Offset, Offset>, RecordCount> known_;
};

}  // namespace partita::insight
