#include "broker/insight/order/cut_table.h"

#include <algorithm>

namespace partita::insight {

bool CutTable::add(const KeyCut& cut) {
    if (cuts_.size() >= kCutsMax) {
        return false;
    }
    const auto index = static_cast<std::uint32_t>(cuts_.size());
    cuts_.push_back(cut);
    add_to(into_, cut.to, index);
    add_to(from_, cut.from, index);
    return true;
}

void CutTable::add_to(std::vector<Places>& all, PartitionIndex partition, std::uint32_t index) {
    const auto place = static_cast<std::size_t>(partition.value);
    if (all.size() <= place) {
        all.resize(place + 1);
    }
    all[place].cuts.push_back(index);
}

std::span<const std::uint32_t> CutTable::cuts_into(PartitionIndex partition) const {
    return sorted(into_, partition, &KeyCut::later);
}

std::span<const std::uint32_t> CutTable::cuts_from(PartitionIndex partition) const {
    return sorted(from_, partition, &KeyCut::earlier);
}

std::span<const std::uint32_t> CutTable::sorted(std::vector<Places>& all, PartitionIndex partition,
                                                Offset KeyCut::* offset) const {
    const auto index = static_cast<std::size_t>(partition.value);
    if (index >= all.size()) {
        return {};
    }
    Places& places = all[index];
    if (places.sorted < places.cuts.size()) {
        const auto offset_of = [&](std::uint32_t cut) { return cuts_[cut].*offset; };
        const auto news = places.cuts.begin() + static_cast<std::ptrdiff_t>(places.sorted);
        std::ranges::sort(news, places.cuts.end(), {}, offset_of);
        // Cuts are mostly found in the order of their later records.
        if (news != places.cuts.begin() && offset_of(*news) < offset_of(*(news - 1))) {
            std::ranges::inplace_merge(places.cuts.begin(), news, places.cuts.end(), {}, offset_of);
        }
        places.sorted = places.cuts.size();
    }
    return places.cuts;
}

}  // namespace partita::insight
