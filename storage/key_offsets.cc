#include "storage/key_offsets.h"

#include <algorithm>

#include "protocol/assert.h"
#include "storage/sip_hash.h"

namespace partita {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr double kFullest = 0.95;

std::size_t slots_within(std::size_t memory_bytes) {
    // Room for a table and for the one of half its size that it grew out of.
    return std::max(memory_bytes / KeyOffsets::kSlotBytes * 2 / 3, KeyOffsets::kFewestSlots);
}

double usable(double load_factor) { return std::clamp(load_factor, 0.1, kFullest); }

}  // namespace

KeyOffsets::KeyOffsets(const Limits& limits, const Secrets& secrets)
    : secrets_(secrets),
      load_factor_(usable(limits.load_factor)),
      most_slots_(slots_within(limits.memory_bytes)),
      capacity_(static_cast<std::size_t>(static_cast<double>(most_slots_) * load_factor_)),
      slots_(std::min(kFirstSlots, most_slots_)) {}

KeyOffsets::Slot KeyOffsets::hash_of(Bytes key) const {
    return {.hash = {sip_hash(secrets_.words[0], secrets_.words[1], key), sip_hash(secrets_.words[2], secrets_.words[3], key)}};
}

std::size_t KeyOffsets::place_of(const Slot& wanted) const {
    std::size_t place = wanted.hash[0] % slots_.size();
    while (slots_[place].offset >= 0 && (slots_[place].hash[0] != wanted.hash[0] || slots_[place].hash[1] != wanted.hash[1])) {
        if (++place == slots_.size()) {
            place = 0;
        }
    }
    return place;
}

void KeyOffsets::grow() {
    std::vector<Slot> old(std::min(slots_.size() * 2, most_slots_));
    PARTITA_ASSERT(old.size() > slots_.size(), "the table grows while it may");
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.offset >= 0) {
            slots_[place_of(slot)] = slot;
        }
    }
}

bool KeyOffsets::put(Bytes key, Offset offset) {
    PARTITA_ASSERT(offset.value >= 0, "offsets of records are not negative");
    Slot wanted = hash_of(key);
    wanted.offset = offset.value;
    std::size_t place = place_of(wanted);
    if (slots_[place].offset < 0) {
        if (size_ >= capacity_) {
            return false;
        }
        if (static_cast<double>(size_ + 1) > static_cast<double>(slots_.size()) * load_factor_) {
            grow();
            place = place_of(wanted);
        }
        ++size_;
    }
    slots_[place] = wanted;
    return true;
}

std::optional<Offset> KeyOffsets::find(Bytes key) const {
    const Slot& slot = slots_[place_of(hash_of(key))];
    if (slot.offset < 0) {
        return std::nullopt;
    }
    return Offset{slot.offset};
}

}  // namespace partita
