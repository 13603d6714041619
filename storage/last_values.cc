#include "storage/last_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>

#include "protocol/assert.h"

namespace partita {
namespace {

constexpr std::size_t kFewestSlots = 64;

void copy_to(std::byte* place, Bytes bytes) {
    if (!bytes.empty()) {
        std::memcpy(place, bytes.data(), bytes.size());
    }
}

}  // namespace

std::size_t LastValues::slot_of(std::size_t hash, Bytes key) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (slots_[slot] == 0) {
            return slot;
        }
        const Entry& entry = entries_[slots_[slot] - 1];
        if (entry.hash == hash && entry.key_bytes == key.size() &&
            (key.empty() || std::memcmp(entry.key, key.data(), key.size()) == 0)) {
            return slot;
        }
    }
}

void LastValues::grow() {
    slots_.assign(std::max(kFewestSlots, 2 * slots_.size()), 0);
    PARTITA_ASSERT(std::has_single_bit(slots_.size()), "a slot is found by a mask");
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        std::size_t slot = entries_[index].hash & mask;
        while (slots_[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots_[slot] = static_cast<std::uint32_t>(index + 1);
    }
}

std::size_t LastValues::assign(Bytes key, std::optional<Bytes> value) {
    std::size_t taken = 0;
    if (2 * (entries_.size() + 1) > slots_.size()) {
        grow();
    }
    const std::size_t hash = std::hash<std::string_view>{}(as_text(key));
    std::uint32_t& index = slots_[slot_of(hash, key)];
    if (index == 0) {
        auto* const place = static_cast<std::byte*>(arena_.allocate_unlimited(key.size(), 1));
        copy_to(place, key);
        entries_.push_back({.hash = hash,
                            .key = place,
                            .value = nullptr,
                            .key_bytes = static_cast<std::uint32_t>(key.size()),
                            .value_bytes = 0,
                            .value_room = 0,
                            .is_tombstone = false});
        index = static_cast<std::uint32_t>(entries_.size());
        taken += key.size() + sizeof(Entry);
    }
    Entry& entry = entries_[index - 1];
    entry.is_tombstone = !value;
    entry.value_bytes = value ? static_cast<std::uint32_t>(value->size()) : 0;
    if (entry.value_bytes > entry.value_room) {
        // The old room stays lost until the end, as the count of bytes taken shows.
        entry.value = static_cast<std::byte*>(arena_.allocate_unlimited(entry.value_bytes, 1));
        entry.value_room = entry.value_bytes;
        taken += entry.value_bytes;
    }
    if (value) {
        copy_to(entry.value, *value);
    }
    return taken;
}

std::vector<KeyedChange> LastValues::ascending() const {
    std::vector<KeyedChange> changes;
    changes.reserve(entries_.size());
    for (const Entry& entry : entries_) {
        changes.push_back({Bytes(entry.key, entry.key_bytes),
                           entry.is_tombstone ? std::nullopt : std::optional(Bytes(entry.value, entry.value_bytes))});
    }
    std::ranges::sort(changes, {}, [](const KeyedChange& change) { return as_text(change.key); });
    return changes;
}

}  // namespace partita
