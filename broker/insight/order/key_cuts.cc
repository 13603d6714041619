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
    key->second.after.push_back(partition);
    const auto was_there = [&](PartitionIndex place) { return home(place, key_hash) == Home::here; };
    has_late_ = has_late_ || (key->second.after.size() > 1 && std::ranges::any_of(key->second.after, was_there));
    for (const Place& place : key->second.places) {
        if (place.partition == partition) {
            continue;
        }
        const bool is_kept =
            table_.add({.key_hash = key_hash, .from = place.partition, .to = partition, .earlier = place.last, .later = offset});
        has_no_room_ = has_no_room_ || !is_kept;
    }
}

KeyCuts::Home KeyCuts::home(PartitionIndex partition, std::uint64_t key_hash) const {
    const auto key = keys_.find(key_hash);
    if (key == keys_.end() || key->second.is_scattered) {
        return Home::unknown;
    }
    const bool is_here = std::ranges::find(key->second.places, partition, &Place::partition) != key->second.places.end();
    return is_here ? Home::here : Home::elsewhere;
}

void KeyCuts::halve() {
    ++halvings_;
    std::erase_if(keys_, [&](const auto& key) { return !is_sampled(key.first); });
}

}  // namespace partita::insight
