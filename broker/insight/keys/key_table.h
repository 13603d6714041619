#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/huge_page_allocator.h"
#include "protocol/types.h"

/// The distinct keys of a topic and the places of their records, in bounded memory.
namespace partita::insight {

/// The number of a key's records in one partition. `epoch` is the topic's epoch in which they were written (0 before the first
/// expansion), because a key may rightly lie elsewhere in every epoch.
struct Placement {
    PartitionIndex partition;
    std::int32_t epoch = 0;
    std::int64_t records = 0;
    /// The newest of these records is a tombstone.
    bool is_deleted = false;
    /// The key's next placement: index + 1 into the table's list, 0 for none.
    std::uint32_t next = 0;
};

/// Fills exactly one cache line, because a topic has more keys than any cache holds.
struct alignas(64) KeyEntry {
    std::uint64_t hash = 0;
    std::string_view key;
    std::int64_t bytes = 0;
    std::int64_t records = 0;
    Placement first;
};
static_assert(sizeof(KeyEntry) == 64);

/// The table is exact while there are at most `keys_max` distinct keys that fit into `key_bytes_max`. Beyond, it keeps a sample
/// of the keys: those whose hash lies below a threshold. The table halves the threshold each time it is full. A key is in the
/// sample with all of its records or not at all, so facts about a kept key stay exact. The sample is uniform over distinct keys,
/// however often each occurs (adaptive sampling, Wegman).
///
/// The table compares all bytes of keys. One thread at a time.
class KeyTable {
  public:
    struct Limits {
        std::size_t keys_max = 1'000'000;
        std::size_t key_bytes_max = std::size_t{128} << 20;
        /// A longer key is not kept; `oversized_keys` counts its records.
        std::size_t key_size_max = std::size_t{4} << 20;
        /// Most placements of keys besides the first of each. Further ones are not kept; `lost_placements` counts their records.
        std::size_t more_placements_max = 1'000'000;
    };

    explicit KeyTable(const Limits& limits);

    [[nodiscard]] static std::uint64_t hash_of(Bytes key);

    /// The table calls `notice` once: while it is still exact, right before it becomes a sample.
    void before_sampling(std::function<void()> notice) { before_sampling_ = std::move(notice); }

    /// Adds a record; `hash` is `hash_of(key)`. False if the key is not kept: it is not in the sample, or too long.
    bool add(Bytes key, std::uint64_t hash, PartitionIndex partition, std::int32_t epoch, std::size_t bytes, bool is_tombstone);

    // Prefetching, for a caller that knows several records ahead. Each step requests the memory that the next step reads, so that
    // the waits of many keys overlap. These calls change nothing.
    void prefetch_slot(std::uint64_t hash) const {
        if (is_sampled(hash)) {
            __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
        }
    }
    /// The entry that is most likely the key's; null if there is none. Valid until the next `add`.
    [[nodiscard]] const KeyEntry* prefetch_entry(std::uint64_t hash) const;
    static void prefetch_key(const KeyEntry& entry) { __builtin_prefetch(entry.key.data()); }

    /// True while every key that was seen is in the table.
    [[nodiscard]] bool is_exact() const { return halvings_ == 0 && oversized_keys_ == 0; }
    /// One of 2^halvings keys is in the sample.
    [[nodiscard]] int halvings() const { return halvings_; }
    /// Distinct keys seen: exact, or an estimate with `relative_error` as standard deviation.
    [[nodiscard]] std::int64_t distinct_keys() const { return static_cast<std::int64_t>(entries_.size()) << halvings_; }
    [[nodiscard]] double relative_error() const;

    /// The keys that are kept, in no particular order.
    [[nodiscard]] std::span<const KeyEntry> entries() const { return entries_; }
    template <class Visit>
    void for_each_placement(const KeyEntry& entry, Visit&& visit) const {
        visit(entry.first);
        for (std::uint32_t next = entry.first.next; next != 0;) {
            const Placement& placement = more_[next - 1];
            visit(placement);
            next = placement.next;
        }
    }

    [[nodiscard]] std::int64_t oversized_keys() const { return oversized_keys_; }
    [[nodiscard]] std::int64_t lost_placements() const { return lost_placements_; }
    /// Approximate heap memory in use.
    [[nodiscard]] std::size_t memory_bytes() const;

  private:
    template <class Value>
    using Table = std::vector<Value, HugePageAllocator<Value>>;
    /// Keys lie in chunks that do not move. The first chunks are small, so that few keys take little memory.
    static constexpr std::size_t kChunkBytesMin = std::size_t{64} << 10;
    static constexpr std::size_t kChunkBytesMax = std::size_t{8} << 20;
    /// With more entries than this, the table reserves room for all at once, so that it is not copied again and again
    /// while it grows.
    static constexpr std::size_t kGrowingEntriesMax = std::size_t{64} << 10;

    [[nodiscard]] bool is_sampled(std::uint64_t hash) const { return halvings_ == 0 || hash >> (64 - halvings_) == 0; }
    [[nodiscard]] KeyEntry* find(Bytes key, std::uint64_t hash, std::size_t& slot);
    KeyEntry& insert(Bytes key, std::uint64_t hash, std::size_t slot);
    void place(KeyEntry& entry, PartitionIndex partition, std::int32_t epoch, bool is_tombstone);
    [[nodiscard]] std::string_view keep(std::string_view key);
    void halve();
    void resize_slots(std::size_t count);

    Limits limits_;
    std::function<void()> before_sampling_;
    /// High half: high half of the hash; low half: index + 1 into entries_; 0 is free. At most half of the slots are
    /// used.
    Table<std::uint64_t> slots_;
    Table<KeyEntry> entries_;
    std::vector<Placement> more_;
    std::vector<Table<char>> chunks_;
    std::size_t chunk_bytes_ = 0;
    std::size_t key_bytes_ = 0;
    int halvings_ = 0;
    std::int64_t oversized_keys_ = 0;
    std::int64_t lost_placements_ = 0;
};

}  // namespace partita::insight
