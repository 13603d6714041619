#include "broker/logs/record_page.h"

#include <algorithm>
#include <string_view>

#include "broker/logs/batch_walk.h"
#include "broker/logs/offsets.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::logs {
namespace {

std::optional<std::string> owned(const std::optional<Bytes>& bytes) {
    return bytes ? std::optional(std::string(as_text(*bytes))) : std::nullopt;
}

class PageBuilder final : public BatchVisitor {
  public:
    PageBuilder(Offset from, const PageLimits& limits, RecordPage& page) : limits_(limits), page_(page) { page_.next = from; }

    bool batch(const Batch& batch) override {
        if (limits_.key && searched_bytes_ >= limits_.search_bytes) {
            is_full_ = true;
            return false;
        }
        searched_bytes_ += batch.bytes.size();
        if (!batch.header.attributes.is_control()) {
            const auto walked = for_each_record(batch, {}, [this](const RecordView& record) { return take(record); });
            if (!walked) {
                damage(batch.header.base_offset, batch_error_text(walked.error()));
            }
        }
        if (!is_full_) {
            page_.next = std::max(page_.next, batch.header.next_offset());
        }
        return !is_full_;
    }
    void damage(Offset offset, std::string_view reason) override { page_.damage.emplace_back(offset, reason); }

    [[nodiscard]] bool is_full() const { return is_full_; }

  private:
    bool take(const RecordView& record) {
        // `read` returns whole batches. The page may begin within the first one and end within the last.
        if (record.offset < page_.next || record.offset >= page_.end) {
            return record.offset < page_.end;
        }
        ++page_.looked_at;
        if (limits_.key && (!record.key || as_text(*record.key) != *limits_.key)) {
            return true;
        }
        is_full_ =
            page_.records.size() == limits_.records || (!page_.records.empty() && bytes_ + record.size_bytes > limits_.bytes);
        if (is_full_) {
            return false;
        }
        bytes_ += record.size_bytes;
        FoundRecord& found = page_.records.emplace_back();
        found.offset = record.offset;
        found.timestamp = record.timestamp;
        found.key = owned(record.key);
        found.value = owned(record.value);
        RecordHeaderRange headers = record.headers();
        for (RecordHeader header; headers.next(header);) {
            found.headers.emplace_back(std::string(header.key), owned(header.value));
        }
        page_.next = record.offset + 1;
        return true;
    }

    const PageLimits& limits_;
    RecordPage& page_;
    std::size_t bytes_ = 0;
    std::size_t searched_bytes_ = 0;
    bool is_full_ = false;
};

std::expected<Offset, Failure> first_offset(const Partition& partition, const PageStart& start) {
    if (const auto* offset = std::get_if<Offset>(&start)) {
        return *offset;
    }
    if (const auto* time = std::get_if<TimestampMs>(&start)) {
        return first_offset_since(partition, *time);
    }
    return partition.log->log_start_offset();
}

}  // namespace

std::expected<RecordPage, Failure> read_page(const Partition& partition, const PageStart& start, const PageLimits& limits) {
    const PartitionLog& log = *partition.log;
    PARTITA_TRY_ASSIGN(const Offset from, first_offset(partition, start));
    const Offset end = log.high_watermark();
    // This read only checks that the partition has the offset.
    if (auto checked = log.read(from, {.upper_bound = end, .max_bytes = 1}); !checked) {
        return std::unexpected(
            Failure{.outcome = outcome_of(checked.error().error), .message = std::move(checked.error().message)});
    }
    RecordPage page{
        .records = {}, .from = from, .next = from, .log_start = log.log_start_offset(), .end = end, .looked_at = 0, .damage = {}};
    PageBuilder builder(from, limits, page);
    const Offset walked = BatchWalk().walk(log, from, end, builder);
    if (!builder.is_full()) {
        page.next = std::max(page.next, walked);
    }
    PARTITA_ASSERT(page.next >= from, "the next page lies behind this one");
    return page;
}

}  // namespace partita::logs
