#include "storage/aborted_transactions.h"

#include <algorithm>

#include "protocol/big_endian.h"

namespace partita {

void AbortedTransaction::encode(std::byte* to) const {
    store_big_endian(to, std::int16_t{0});
    store_big_endian(to + 2, producer_id.value);
    store_big_endian(to + 10, first_offset.value);
    store_big_endian(to + 18, last_offset.value);
    store_big_endian(to + 26, last_stable_offset.value);
}

std::optional<AbortedTransaction> AbortedTransaction::decode(Bytes bytes) {
    if (bytes.size() < kEncodedBytes || load_big_endian<std::int16_t>(bytes.data()) != 0) return std::nullopt;
    return AbortedTransaction{.producer_id = {load_big_endian<std::int64_t>(bytes.data() + 2)},
                              .first_offset = {load_big_endian<std::int64_t>(bytes.data() + 10)},
                              .last_offset = {load_big_endian<std::int64_t>(bytes.data() + 18)},
                              .last_stable_offset = {load_big_endian<std::int64_t>(bytes.data() + 26)}};
}

void AbortedTransactions::add(const AbortedTransaction& transaction) {
    if (!entries_.empty() && entries_.back().last_offset >= transaction.last_offset) return;
    entries_.push_back(transaction);
}

std::vector<AbortedTransactionSummary> AbortedTransactions::overlapping(Offset from, Offset to) const {
    std::vector<AbortedTransactionSummary> found;
    // Ascending by last offset, so everything before the first that ends at or after `from` is over.
    auto entry = std::ranges::lower_bound(entries_, from, {}, &AbortedTransaction::last_offset);
    for (; entry != entries_.end(); ++entry) {
        if (entry->first_offset < to) found.push_back({entry->producer_id, entry->first_offset});
    }
    return found;
}

void AbortedTransactions::truncate_from_start(Offset start) {
    const auto keep = std::ranges::lower_bound(entries_, start, {}, &AbortedTransaction::last_offset);
    const auto removed = static_cast<std::size_t>(keep - entries_.begin());
    entries_.erase(entries_.begin(), keep);
    written_ -= std::min(written_, removed);
}

void AbortedTransactions::truncate_from_end(Offset end) {
    const auto first = std::ranges::lower_bound(entries_, end, {}, &AbortedTransaction::last_offset);
    entries_.erase(first, entries_.end());
    written_ = std::min(written_, entries_.size());
}

void AbortedTransactions::remove(Offset last_offset) {
    const auto entry = std::ranges::lower_bound(entries_, last_offset, {}, &AbortedTransaction::last_offset);
    if (entry == entries_.end() || entry->last_offset != last_offset) return;
    if (static_cast<std::size_t>(entry - entries_.begin()) < written_) --written_;
    entries_.erase(entry);
}

std::vector<AbortedTransaction> AbortedTransactions::unwritten() const {
    return {entries_.begin() + static_cast<std::ptrdiff_t>(written_), entries_.end()};
}

}  // namespace partita
