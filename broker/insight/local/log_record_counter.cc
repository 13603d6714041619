#include "broker/insight/local/log_record_counter.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "broker/logs/aborted_follower.h"
#include "broker/logs/topic_table.h"
#include "protocol/legacy_records.h"
#include "protocol/record_batch.h"
#include "storage/log_markers.h"
#include "storage/partition_log.h"

namespace partita::insight {
namespace {

/// Most bytes of a log that one query may cover. A walk makes no more queries than there are such slices and ends of segments.
constexpr std::uint32_t kSliceBytes = 1 << 20;

/// True if every offset of `[from, to)` is a record that is not aborted.
bool is_dense(PartitionLog& log, Offset from, Offset to) {
    const Offset cleaned_to = log.first_dirty_offset();
    const bool was_cleaned = cleaned_to != kNoOffset && from < cleaned_to;
    // Check the markers last: a marker that was written since has ended a transaction that was open.
    return !was_cleaned && to <= log.last_stable_offset() && from >= markers_end(log);
}

/// Walks over headers of batches, and counts their records.
class Walk {
  public:
    Walk(const PartitionLog& log, Offset from, Offset to, std::size_t bytes_max)
        : log_(log), at_(from), to_(to), bytes_max_(bytes_max), stable_end_(log.last_stable_offset()) {}

    RecordCount count() {
        while (at_ < to_ && pass_slice()) {
        }
        if (at_ < to_) {
            count_ += {.records = to_ - at_, .is_exact = false};
        }
        return count_;
    }
    [[nodiscard]] std::size_t bytes_read() const { return bytes_read_; }

  private:
    /// False if the walk cannot go on.
    bool pass_slice() {
        const auto slice =
            log_.read(at_, {.upper_bound = log_.high_watermark(), .max_bytes = kSliceBytes, .minimum_one_batch = true});
        if (!slice || !slice->file) {
            return false;
        }
        const Offset before = at_;
        for (std::uint64_t position = 0; at_ < to_ && slice->size - position >= kLegacyEntryBytesMin;) {
            if (bytes_read_ >= bytes_max_) {
                return false;
            }
            bytes_.resize(std::min<std::size_t>(slice->size - position, LogRecordCounter::kReadBytes));
            const auto read = slice->file->read_at(slice->position + position, bytes_);
            if (!read || *read != bytes_.size()) {
                return false;
            }
            bytes_read_ += bytes_.size();
            const std::uint64_t passed = pass_headers();
            if (passed == 0) {
                return false;
            }
            position += passed;
            if (position >= slice->size) {
                break;
            }
        }
        return at_ > before;
    }

    /// Passes the batches whose headers were read, and returns where the next one begins, counted from the first of them.
    std::uint64_t pass_headers() {
        std::vector<BatchHeader> headers;
        std::uint64_t position = 0;
        while (position < bytes_.size()) {
            const auto header = parse_log_header(Bytes(bytes_).subspan(position));
            if (!header) {
                break;
            }
            headers.push_back(*header);
            position += header->size_bytes();
        }
        const bool are_known = !headers.empty() && aborted_.look_up(log_, at_, std::max(at_ + 1, headers.back().next_offset()));
        if (!are_known) {
            return 0;
        }
        for (const BatchHeader& header : headers) {
            pass(header);
        }
        return position;
    }

    void pass(const BatchHeader& header) {
        const bool is_aborted = aborted_.covers(header);
        const Offset begin = header.knows_first_offset() ? std::max(header.base_offset, at_) : at_;
        const Offset end = std::min(header.next_offset(), to_);
        at_ = std::max(at_, header.next_offset());
        if (begin >= end || header.attributes.is_control() || is_aborted) {
            return;
        }
        const std::int64_t offsets = end - begin;
        if (!header.knows_first_offset()) {
            count_ += {.records = offsets, .is_exact = false};
            return;
        }
        const std::int64_t in_batch = header.record_count;
        const bool is_whole = begin == header.base_offset && end == header.next_offset();
        const bool has_all = in_batch == header.next_offset() - header.base_offset;
        const bool is_decided = !header.attributes.is_transactional() || header.base_offset < stable_end_;
        count_ += {.records = is_whole ? in_batch : std::min(in_batch, offsets), .is_exact = (is_whole || has_all) && is_decided};
    }

    const PartitionLog& log_;
    Offset at_;
    const Offset to_;
    const std::size_t bytes_max_;
    /// Read before the walk: a transaction that is decided meanwhile may have been aborted.
    const Offset stable_end_;
    logs::AbortedFollower aborted_;
    std::vector<std::byte> bytes_;
    std::size_t bytes_read_ = 0;
    RecordCount count_;
};

}  // namespace

RecordCount LogRecordCounter::between(PartitionIndex partition, Offset from, Offset to) {
    const logs::Partition* state = topic_.partition(partition.value);
    if (state == nullptr) {
        return {.records = std::max<std::int64_t>(0, to - from)};
    }
    PartitionLog& log = *state->log;
    from = std::max(from, log.log_start_offset());
    if (from >= to) {
        return {};
    }
    if (is_dense(log, from, to)) {
        return {.records = to - from};
    }
    const auto [known, is_new] = known_.try_emplace({partition, from, to});
    if (is_new) {
        known->second = count(log, from, to);
    }
    return known->second;
}

RecordCount LogRecordCounter::count(PartitionLog& log, Offset from, Offset to) {
    Walk walk(log, from, to, bytes_max_ - std::min(bytes_max_, bytes_read_));
    const RecordCount counted = walk.count();
    bytes_read_ += walk.bytes_read();
    return counted;
}

}  // namespace partita::insight
