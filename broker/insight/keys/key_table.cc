#include "broker/insight/keys/key_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "protocol/assert.h"

namespace partita::insight {
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
    if (is_exact() || entries_.empty()) {
        return 0;
    }
    return 1.0 / std::sqrt(static_cast<double>(entries_.size()));
}

std::size_t KeyTable::memory_bytes() const {
    // Reserved but unwritten room uses no memory.
    return slots_.size() * sizeof(slots_[0]) + entries_.size() * sizeof(KeyEntry) + more_.capacity() * sizeof(Placement) +
           chunk_bytes_;
}

const KeyEntry* KeyTable::prefetch_entry(std::uint64_t hash) const {
    if (!is_sampled(hash)) {
        return nullptr;
    }
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t tag = hash >> 32;
    for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        if (slots_[slot] >> 32 != tag) {
            continue;
        }
        const KeyEntry* entry = &entries_[(slots_[slot] & 0xffffffffu) - 1];
        __builtin_prefetch(entry);
        return entry;
    }
    return nullptr;
}

KeyEntry* KeyTable::find(Bytes key, std::uint64_t hash, std::size_t& slot) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t tag = hash >> 32;
    for (slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        if (slots_[slot] >> 32 != tag) {
            continue;
        }
        KeyEntry& entry = entries_[(slots_[slot] & 0xffffffffu) - 1];
        if (entry.hash == hash && entry.key == as_text(key)) {
            return &entry;
        }
    }
    return nullptr;
}

bool KeyTable::add(Bytes key, std::uint64_t hash, PartitionIndex partition, std::int32_t epoch, std::size_t bytes,
                   bool is_tombstone) {
    if (!is_sampled(hash)) {
        return false;
    }
    std::size_t slot = 0;
    KeyEntry* entry = find(key, hash, slot);
    if (entry == nullptr) {
        if (key.size() > limits_.key_size_max) {
            ++oversized_keys_;
            return false;
        }
        while (entries_.size() >= limits_.keys_max || key_bytes_ + key.size() > limits_.key_bytes_max) {
            halve();
            if (!is_sampled(hash)) {
                return false;
            }
            // The key is not there, but it now belongs to another slot.
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
        // For the slot, as above.
        (void)find(key, hash, slot);
    }
    if (entries_.size() == kGrowingEntriesMax) {
        entries_.reserve(limits_.keys_max);
    }
    entries_.push_back({.hash = hash, .key = keep(as_text(key))});
    slots_[slot] = (hash >> 32) << 32 | entries_.size();
    return entries_.back();
}

std::string_view KeyTable::keep(std::string_view key) {
    if (chunks_.empty() || chunks_.back().size() + key.size() > chunks_.back().capacity()) {
        const std::size_t size = std::max(key.size(), std::clamp(chunk_bytes_, kChunkBytesMin, kChunkBytesMax));
        chunks_.emplace_back().reserve(size);
        chunk_bytes_ += size;
    }
    Table<char>& chunk = chunks_.back();
    const char* const place = chunk.data() + chunk.size();
    chunk.insert(chunk.end(), key.begin(), key.end());
    key_bytes_ += key.size();
    return {place, key.size()};
}

void KeyTable::halve() {
    if (halvings_ == 0 && before_sampling_) {
        before_sampling_();
    }
    ++halvings_;
    PARTITA_ASSERT(halvings_ <= kHalvingsMax, "one key always fits");
    const std::vector<Placement> more = std::exchange(more_, {});
    const std::vector<Table<char>> chunks = std::exchange(chunks_, {});
    chunk_bytes_ = key_bytes_ = 0;
    std::size_t kept = 0;
    for (const KeyEntry& entry : entries_) {
        if (!is_sampled(entry.hash)) {
            continue;
        }
        KeyEntry& target = entries_[kept++];
        target = entry;
        target.key = keep(target.key);
        std::uint32_t next = std::exchange(target.first.next, 0);
        for (; next != 0; next = more[next - 1].next) {
            more_.push_back(more[next - 1]);
            more_.back().next = target.first.next;
            target.first.next = static_cast<std::uint32_t>(more_.size());
        }
    }
    entries_.resize(kept);
    resize_slots(slots_.size());
}

void KeyTable::resize_slots(std::size_t count) {
    slots_.assign(count, 0);
    const std::size_t mask = count - 1;
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        std::size_t slot = entries_[index].hash & mask;
        while (slots_[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots_[slot] = (entries_[index].hash >> 32) << 32 | (index + 1);
    }
}

}  // namespace partita::insight
