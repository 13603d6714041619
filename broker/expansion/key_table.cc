#include "broker/expansion/key_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "protocol/assert.h"

namespace partita::expansion {
namespace {

constexpr std::size_t kFirstSlots = 1024;
/// 2^63 keys do not exist; the bound keeps the shifts defined.
constexpr int kHalvingsMax = 40;

}  // namespace

KeyTable::KeyTable(const Limits& limits) : limits_(limits), slots_(kFirstSlots, 0) {
    PARTITA_ASSERT(limits.keys_max >= 1 && limits.keys_max < (std::size_t{1} << 31), "slots hold 32-bit indexes");
    PARTITA_ASSERT(limits.key_size_max <= limits.key_bytes_max, "each key that is kept fits");
}

std::uint64_t KeyTable::hash_of(Bytes key) { return XXH3_64bits(key.data(), key.size()); }

double KeyTable::relative_error() const {
    if (is_exact() || entries_.empty()) return 0;
    return 1.0 / std::sqrt(static_cast<double>(entries_.size()));
}

std::size_t KeyTable::memory_bytes() const {
    return slots_.capacity() * sizeof(slots_[0]) + entries_.capacity() * sizeof(KeyEntry) +
           more_.capacity() * sizeof(Placement) + chunks_.size() * kChunkBytes + key_bytes_;
}

KeyEntry* KeyTable::find(Bytes key, std::uint64_t hash, std::size_t& slot) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t tag = hash >> 32;
    for (slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        if (slots_[slot] >> 32 != tag) continue;
        KeyEntry& entry = entries_[(slots_[slot] & 0xffffffffu) - 1];
        if (entry.hash == hash && entry.key == as_text(key)) return &entry;
    }
    return nullptr;
}

bool KeyTable::add(Bytes key, std::uint64_t hash, PartitionIndex partition, std::int32_t epoch, std::size_t bytes,
                   bool is_tombstone) {
    if (!is_sampled(hash)) return false;
    std::size_t slot = 0;
    KeyEntry* entry = find(key, hash, slot);
    if (entry == nullptr) {
        if (key.size() > limits_.key_size_max) {
            ++oversized_keys_;
            return false;
        }
        while (entries_.size() >= limits_.keys_max || key_bytes_ + key.size() > limits_.key_bytes_max) {
            halve();
            if (!is_sampled(hash)) return false;
            (void)find(key, hash, slot);
        }
        entry = &insert(key, hash, slot);
        entry->first = {.partition = partition, .epoch = epoch};
    }
    ++entry->records;
    entry->bytes += static_cast<std::int64_t>(bytes);
    if (entry->first.partition == partition && entry->first.epoch == epoch) {
        ++entry->first.records;
        entry->first.is_deleted = is_tombstone;
    } else {
        place(*entry, partition, epoch, is_tombstone);
    }
    return true;
}

void KeyTable::place(KeyEntry& entry, PartitionIndex partition, std::int32_t epoch, bool is_tombstone) {
    std::uint32_t next = entry.first.next;
    while (next != 0) {
        Placement& placement = more_[next - 1];
        if (placement.partition == partition && placement.epoch == epoch) {
            ++placement.records;
            placement.is_deleted = is_tombstone;
            return;
        }
        next = placement.next;
    }
    if (more_.size() >= limits_.more_placements_max) {
        ++lost_placements_;
        return;
    }
    more_.push_back({partition, epoch, 1, is_tombstone, entry.first.next});
    entry.first.next = static_cast<std::uint32_t>(more_.size());
}

KeyEntry& KeyTable::insert(Bytes key, std::uint64_t hash, std::size_t slot) {
    if ((entries_.size() + 1) * 2 > slots_.size()) {
        resize_slots(slots_.size() * 2);
        (void)find(key, hash, slot);
    }
    entries_.push_back({.hash = hash, .key = keep(as_text(key))});
    slots_[slot] = (hash >> 32) << 32 | entries_.size();
    return entries_.back();
}

std::string_view KeyTable::keep(std::string_view key) {
    if (chunk_used_ + key.size() > chunk_size_ || chunks_.empty()) {
        chunk_size_ = std::max(kChunkBytes, key.size());
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_size_));
        chunk_used_ = 0;
    }
    char* place = chunks_.back().get() + chunk_used_;
    // An empty key may come without an address.
    if (!key.empty()) std::memcpy(place, key.data(), key.size());
    chunk_used_ += key.size();
    key_bytes_ += key.size();
    return {place, key.size()};
}

void KeyTable::halve() {
    if (halvings_ == 0 && before_sampling_) before_sampling_();
    ++halvings_;
    PARTITA_ASSERT(halvings_ <= kHalvingsMax, "one key always fits");
    const std::vector<KeyEntry> entries = std::exchange(entries_, {});
    const std::vector<Placement> more = std::exchange(more_, {});
    const std::vector<std::unique_ptr<char[]>> chunks = std::exchange(chunks_, {});
    chunk_used_ = chunk_size_ = key_bytes_ = 0;
    std::ranges::fill(slots_, 0);
    for (const KeyEntry& entry : entries) {
        if (!is_sampled(entry.hash)) continue;
        std::size_t slot = 0;
        (void)find(as_bytes(entry.key), entry.hash, slot);
        KeyEntry& kept = insert(as_bytes(entry.key), entry.hash, slot);
        const std::string_view key = kept.key;
        kept = entry;
        kept.key = key;
        kept.first.next = 0;
        for (std::uint32_t next = entry.first.next; next != 0; next = more[next - 1].next) {
            more_.push_back(more[next - 1]);
            more_.back().next = kept.first.next;
            kept.first.next = static_cast<std::uint32_t>(more_.size());
        }
    }
}

void KeyTable::resize_slots(std::size_t count) {
    slots_.assign(count, 0);
    const std::size_t mask = count - 1;
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        std::size_t slot = entries_[index].hash & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = (entries_[index].hash >> 32) << 32 | (index + 1);
    }
}

}  // namespace partita::expansion
