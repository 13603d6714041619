#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/types.h"

namespace partita {

/// The last offset of each key in the part of a log that a cleaning has read, in bounded memory.
///
/// The table tells keys apart by 128 bits from two SipHashes. The caller draws their secrets, so an attacker cannot make two keys
/// collide, and chance will not (Kafka trusts an MD5 in the same way). Memory grows with the keys. While the table grows, the old
/// and the new one together stay within the bound. Pure.
class KeyOffsets {
  public:
    static constexpr std::size_t kSlotBytes = 24;
    /// The table has at least this many slots, however small the bound.
    static constexpr std::size_t kFewestSlots = 16;

    struct Secrets {
        std::uint64_t words[4] = {};
    };
    struct Limits {
        /// log.cleaner.dedupe.buffer.size.
        std::size_t memory_bytes = 134217728;
        /// log.cleaner.io.buffer.load.factor: how full the table may become.
        double load_factor = 0.9;
    };

    KeyOffsets(const Limits& limits, const Secrets& secrets);

    /// Notes that `key` stands at `offset`; the caller passes ascending offsets. False when the key is new and the table is full;
    /// then it notes nothing.
    [[nodiscard]] bool put(Bytes key, Offset offset);
    [[nodiscard]] std::optional<Offset> find(Bytes key) const;

    [[nodiscard]] std::size_t size() const { return size_; }
    /// The number of keys that fit.
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t memory_bytes() const { return slots_.size() * kSlotBytes; }

  private:
    struct Slot {
        std::uint64_t hash[2] = {};
        std::int64_t offset = -1;
    };
    static_assert(sizeof(Slot) == kSlotBytes);

    [[nodiscard]] Slot hash_of(Bytes key) const;
    /// The slot that holds a key with this hash, or the free slot for it.
    [[nodiscard]] std::size_t place_of(const Slot& wanted) const;
    void grow();

    const Secrets secrets_;
    const double load_factor_;
    const std::size_t most_slots_;
    const std::size_t capacity_;
    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

}  // namespace partita
