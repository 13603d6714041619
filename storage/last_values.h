#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/arena.h"
#include "protocol/types.h"
#include "storage/metadata_store.h"

namespace partita {

/// The last value of each key of a log: a fold keeps these until it writes them to the store.
///
/// A busy log repeats the same keys, hundreds of thousands of records a second. Keys and values lie in one arena, and a new value
/// overwrites the old one where it fits. So a known key costs a lookup and a copy, and memory follows the number of keys, not of
/// records.
class LastValues {
  public:
    /// Sets the key's value; no value is a tombstone, which is a change like any other. Returns the bytes of memory that this
    /// took: 0 when the key was known and the value fitted. Key and value must be smaller than 4 GiB.
    std::size_t assign(Bytes key, std::optional<Bytes> value);

    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    /// All changes in ascending order of their keys' bytes, so that neighbours share pages of the store. Borrowed until
    /// the next `assign`.
    [[nodiscard]] std::vector<KeyedChange> ascending() const;

  private:
    struct Entry {
        std::size_t hash;
        std::byte* key;
        std::byte* value;
        std::uint32_t key_bytes;
        std::uint32_t value_bytes;
        std::uint32_t value_room;
        bool is_tombstone;
    };

    /// The slot of the key, or the empty slot where it belongs.
    [[nodiscard]] std::size_t slot_of(std::size_t hash, Bytes key) const;
    void grow();

    Arena arena_;
    std::vector<Entry> entries_;
    /// Open addressing; a power of two of slots. Each holds an index into `entries_` plus one; 0 is empty. At most half
    /// are used.
    std::vector<std::uint32_t> slots_;
};

}  // namespace partita
