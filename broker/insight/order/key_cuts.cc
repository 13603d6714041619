#include "broker/insight/order/key_cuts.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::insight {

KeyCuts::KeyCuts(std::size_t keys_max) : keys_max_(keys_max) {
    PARTITA_ASSERT(keys_max >= 2, "half of the keys is at least one key");
}

void KeyCuts::add_before(PartitionIndex partition, Offset offset, std::uint64_t key_hash, std::int32_t epoch) {
    PARTITA_ASSERT(!is_after_, "records from before the growth come first");
    if (!is_sampled(key_hash)) {
        return;
    }
    Key& key = keys_[key_hash];
    std::vector<Place>& places = key.places;
    for (const Place& place : places) {
        const bool is_explained = place.epoch != epoch && place.epoch != kUnexplained && epoch != kUnexplained;
        key.is_scattered = key.is_scattered || (place.partition != partition && !is_explained);
    }
    const auto known = std::ranges::find(places, partition, &Place::partition);
    if (known != places.end()) {
        known->last = std::max(known->last, offset);
        known->epoch = epoch;
        std::rotate(known, known + 1, places.end());
        return;
    }
    if (places.size() == kPlacesMax) {
        places.erase(places.begin());
    }
    places.push_back({partition, offset, epoch});
    while (keys_.size() > keys_max_) {
        halve();
    }
}

void KeyCuts::add_after(PartitionIndex partition, Offset offset, std::uint64_t key_hash) {
    is_after_ = true;
    const auto key = keys_.find(key_hash);
    if (key == keys_.end() || key->second.is_scattered ||
        std::ranges::find(key->second.after, partition) != key->second.after.end()) {
        return;
    }
    if (cuts_.size() >= kCutsMax) {
        has_no_room_ = true;
        return;
    }
    key->second.after.push_back(partition);
    const auto index = static_cast<std::size_t>(partition.value);
    if (into_.size() <= index) {
        into_.resize(index + 1);
    }
    for (const Place& place : key->second.places) {
        if (place.partition == partition) {
            continue;
        }
        PARTITA_ASSERT(into_[index].empty() || cuts_[into_[index].back()].later <= offset, "records of a partition ascend");
        into_[index].push_back(static_cast<std::uint32_t>(cuts_.size()));
        const auto from = static_cast<std::size_t>(place.partition.value);
        if (from_.size() <= from) {
            from_.resize(from + 1);
        }
        from_[from].cuts.push_back(static_cast<std::uint32_t>(cuts_.size()));
        cuts_.push_back({.key_hash = key_hash, .from = place.partition, .to = partition, .earlier = place.last, .later = offset});
    }
}

std::span<const std::uint32_t> KeyCuts::cuts_into(PartitionIndex partition) const {
    const auto index = static_cast<std::size_t>(partition.value);
    return index < into_.size() ? std::span<const std::uint32_t>(into_[index]) : std::span<const std::uint32_t>();
}

std::span<const std::uint32_t> KeyCuts::cuts_from(PartitionIndex partition) const {
    const auto index = static_cast<std::size_t>(partition.value);
    if (index >= from_.size()) {
        return {};
    }
    From& from = from_[index];
    const auto earlier_of = [&](std::uint32_t cut) { return cuts_[cut].earlier; };
    const auto news = from.cuts.begin() + static_cast<std::ptrdiff_t>(from.sorted);
    std::ranges::sort(news, from.cuts.end(), {}, earlier_of);
    std::ranges::inplace_merge(from.cuts.begin(), news, from.cuts.end(), {}, earlier_of);
    from.sorted = from.cuts.size();
    return from.cuts;
}

void KeyCuts::halve() {
    ++halvings_;
    std::erase_if(keys_, [&](const auto& key) { return !is_sampled(key.first); });
}

}  // namespace partita::insight
