#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/arena.h"
#include "protocol/types.h"
#include "storage/metadata_store.h"

namespace partita {

/// The last value of every key of a log: what is left of its news on their way into the store.
///
/// A busy log says the same keys over and over, hundreds of thousands of times a second. Keys and values lie in one arena,
/// and a value takes the place of the last one where it fits, so that a key that is already known costs a lookup and a copy,
/// and memory follows the number of keys and not that of records.
class LastValues {
  public:
    /// No value: a tombstone, which is a change like any other. Returns the bytes of memory that it took; 0 when the key
    /// was known and the value found room. Neither may reach 4 GiB.
    std::size_t assign(Bytes key, std::optional<Bytes> value);

    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    /// All of them by their keys' bytes, ascending: neighbours share pages of the store. Borrowed until the next
    /// `assign`.
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
    /// Open addressing: a power of two of places of entries, plus one; 0 is empty. At most half are used.
    std::vector<std::uint32_t> slots_;
};

}  // namespace partita
