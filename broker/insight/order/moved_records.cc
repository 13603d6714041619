#include "broker/insight/order/moved_records.h"

#include <algorithm>
#include <bit>

namespace partita::insight {

MovedRecords::MovedRecords(Offset from, Offset to, std::int64_t offsets_max) : from_(from), to_(std::max(from, to)) {
    if (to_ - from_ > offsets_max) {
        from_ = Offset{to_.value - offsets_max};
        has_all_ = false;
    }
    const auto count = static_cast<std::size_t>(to_ - from_);
    bits_.resize((count + 63) / 64);
    blocks_.resize((count + kBlockBits - 1) / kBlockBits);
}

void MovedRecords::add(Offset offset) {
    if (offset < from_ || offset >= to_) {
        return;
    }
    const auto place = static_cast<std::size_t>(offset - from_);
    std::uint64_t& word = bits_[place / 64];
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    blocks_[place / kBlockBits] += (word & bit) == 0 ? 1 : 0;
    word |= bit;
}

std::int64_t MovedRecords::count_from(Offset offset) const {
    if (offset >= to_) {
        return 0;
    }
    const auto place = static_cast<std::size_t>(std::max(offset, from_) - from_);
    const std::size_t block = place / kBlockBits;
    std::int64_t count = 0;
    for (std::size_t index = block + 1; index < blocks_.size(); ++index) {
        count += blocks_[index];
    }
    const std::size_t end = std::min(bits_.size(), (block + 1) * (kBlockBits / 64));
    std::uint64_t mask = ~std::uint64_t{0} << (place % 64);
    for (std::size_t word = place / 64; word < end; ++word) {
        count += std::popcount(bits_[word] & mask);
        mask = ~std::uint64_t{0};
    }
    return count;
}

}  // namespace partita::insight
