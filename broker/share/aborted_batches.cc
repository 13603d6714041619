#include "broker/share/aborted_batches.h"

#include <algorithm>
#include <unordered_set>

namespace partita::share {

std::vector<ReadBatch> aborted_batches(std::span<const ReadBatch> batches, std::span<const AbortedTransaction> aborted) {
    std::vector<AbortedTransaction> ahead(aborted.begin(), aborted.end());
    std::ranges::sort(ahead, {}, &AbortedTransaction::first_offset);
    auto next = ahead.begin();
    std::unordered_set<ProducerId> open;
    std::vector<ReadBatch> found;
    for (const ReadBatch& batch : batches) {
        if (batch.producer_id == kNoProducerId) {
            continue;
        }
        for (; next != ahead.end() && next->first_offset <= batch.last; ++next) {
            open.insert(next->producer_id);
        }
        if (batch.is_marker) {
            open.erase(batch.producer_id);
        } else if (batch.is_transactional && open.contains(batch.producer_id)) {
            found.push_back(batch);
        }
    }
    return found;
}

std::vector<AcquiredRange> ranges_without(std::span<const AcquiredRange> ranges, std::span<const ReadBatch> left_out) {
    std::vector<AcquiredRange> kept;
    for (AcquiredRange rest : ranges) {
        bool is_used_up = false;
        for (const ReadBatch& batch : left_out) {
            if (batch.last < rest.first) {
                continue;
            }
            if (batch.base > rest.last) {
                break;
            }
            if (batch.base > rest.first) {
                kept.push_back({rest.first, batch.base - 1, rest.delivery_count});
            }
            if (batch.last >= rest.last) {
                is_used_up = true;
                break;
            }
            rest.first = batch.last + 1;
        }
        if (!is_used_up) {
            kept.push_back(rest);
        }
    }
    return kept;
}

}  // namespace partita::share
