#include "broker/insight/keys/heavy_hitters.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"

namespace partita::insight {
namespace {

constexpr std::size_t kFirstHeavySlots = 16;

}  // namespace

HeavyHitters::HeavyHitters(std::size_t capacity) : capacity_(capacity), slots_(kFirstHeavySlots, 0) {
    PARTITA_ASSERT(capacity >= 1 && capacity < (std::size_t{1} << 28), "room for one at least, and slots of 32 bits");
}

std::size_t HeavyHitters::slot_of(std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0 && counters_[slots_[slot] - 1].hash != hash) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

void HeavyHitters::add(std::uint64_t hash, std::string_view key, std::int64_t weight) {
    std::size_t slot = slot_of(hash);
    if (slots_[slot] != 0) {
        counters_[slots_[slot] - 1].left += weight;
        return;
    }
    if (used_ == 2 * capacity_) {
        purge();
        slot = slot_of(hash);
    } else if ((used_ + 1) * 2 > slots_.size()) {
        resize_slots(slots_.size() * 2);
        slot = slot_of(hash);
    }
    if (used_ == counters_.size()) {
        counters_.emplace_back();
    }
    Counter& counter = counters_[used_++];
    counter.hash = hash;
    counter.left = weight;
    counter.error = purged_;
    counter.key.assign(key.substr(0, kKeyBytesMax));
    slots_[slot] = static_cast<std::uint32_t>(used_);
}

void HeavyHitters::purge() {
    std::vector<std::int64_t> weights(used_);
    for (std::size_t index = 0; index < used_; ++index) {
        weights[index] = counters_[index].left;
    }
    const auto place = weights.begin() + static_cast<std::ptrdiff_t>(capacity_);
    std::ranges::nth_element(weights, place, std::ranges::greater{});
    const std::int64_t taken = *place;
    purged_ += taken;
    std::size_t kept = 0;
    for (std::size_t index = 0; index < used_; ++index) {
        counters_[index].left -= taken;
        if (counters_[index].left <= 0) {
            continue;
        }
        if (kept != index) {
            std::swap(counters_[kept], counters_[index]);
        }
        ++kept;
    }
    used_ = kept;
    resize_slots(slots_.size());
}

void HeavyHitters::resize_slots(std::size_t count) {
    slots_.assign(count, 0);
    for (std::size_t index = 0; index < used_; ++index) {
        slots_[slot_of(counters_[index].hash)] = static_cast<std::uint32_t>(index + 1);
    }
}

std::vector<HeavyHitters::Item> HeavyHitters::items() const {
    std::vector<Item> items;
    items.reserve(used_);
    for (std::size_t index = 0; index < used_; ++index) {
        const Counter& counter = counters_[index];
        items.push_back({counter.key, counter.left + purged_, counter.error});
    }
    std::ranges::sort(items, std::ranges::greater{}, &Item::weight);
    if (items.size() > capacity_) {
        items.resize(capacity_);
    }
    return items;
}

}  // namespace partita::insight
