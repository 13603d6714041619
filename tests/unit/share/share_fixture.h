#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "broker/share/share_partition.h"

namespace partita::share {

inline void PrintTo(const AcquiredRange& range, std::ostream* out) {
    *out << range.first.value << "-" << range.last.value << " x" << range.delivery_count;
}
inline void PrintTo(const StateBatch& batch, std::ostream* out) {
    *out << batch.first.value << "-" << batch.last.value << " state " << static_cast<int>(batch.state) << " x"
         << batch.delivery_count;
}

/// A share partition and the log that it delivers, as batches.
class SharePartitionTest : public ::testing::Test {
  protected:
    static AcquiredRange range(std::int64_t first, std::int64_t last, std::int16_t count = 1) { return {{first}, {last}, count}; }
    static StateBatch state(std::int64_t first, std::int64_t last, RecordState state, std::int16_t count = 1) {
        return {{first}, {last}, state, count};
    }
    static ReadBatch batch(std::int64_t base, std::int64_t last) { return {.base = {base}, .last = {last}}; }

    void begin(std::int64_t start, std::vector<StateBatch> persisted = {}) {
        partition_ = std::make_unique<SharePartition>(Offset{start}, persisted);
    }
    /// The member fetches, and the log has these batches from the offset on that the partition wants.
    std::vector<AcquiredRange> fetch(std::string_view member, std::vector<ReadBatch> batches, std::int64_t max_records = 500,
                                     std::int64_t batch_size = 500) {
        return partition_->acquire({.member = std::make_shared<const std::string>(member),
                                    .mode = mode_,
                                    .batch_size = batch_size,
                                    .max_records = max_records,
                                    .fetch_offset = partition_->next_fetch_offset(),
                                    .batches = batches,
                                    .aborted = aborted_},
                                   limits_, now_);
    }
    std::expected<std::vector<StateBatch>, ShareRefusal> acknowledge(std::string_view member, std::int64_t first,
                                                                     std::int64_t last, std::vector<AcknowledgeType> types) {
        const Acknowledgement given{{first}, {last}, types};
        auto result = partition_->acknowledge(member, {&given, 1}, limits_, now_);
        partition_->advance();
        return result;
    }
    /// The text of the refusal; the error is checked.
    std::string refusal(std::string_view member, std::int64_t first, std::int64_t last, std::vector<AcknowledgeType> types,
                        ErrorCode error = ErrorCode::invalid_record_state) {
        const auto result = acknowledge(member, first, last, std::move(types));
        if (result) {
            return "accepted";
        }
        EXPECT_EQ(result.error().error, error);
        return result.error().message;
    }
    /// Lets the locks of all records end.
    std::vector<StateBatch> let_locks_end() {
        now_ = now_ + limits_.lock_duration_ms;
        auto changes = partition_->end_locks(now_, limits_);
        partition_->advance();
        return changes;
    }

    std::unique_ptr<SharePartition> partition_ = std::make_unique<SharePartition>(Offset{0}, std::span<const StateBatch>());
    ShareLimits limits_;
    AcquireMode mode_ = AcquireMode::batch_optimized;
    std::vector<AbortedTransaction> aborted_;
    Instant now_{1000};
};

}  // namespace partita::share
