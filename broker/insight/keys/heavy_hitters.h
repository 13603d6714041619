#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The keys with the most bytes of an endless stream, in bounded memory.
namespace partita::insight {

/// Counts up to twice `capacity` keys; when there is one more, the weight of the `capacity`-th heaviest is taken from all
/// of them, and those with nothing left make room (Misra and Gries 1982, purged many at once as by Anderson et al. 2017,
/// so that an update costs the same on average whatever the stream looks like). Every key with more than
/// `total / capacity` of the weight is among those kept; the weight kept for a key is never too low, and too high by at
/// most its `error`.
class HeavyHitters {
  public:
    struct Item {
        std::string key;
        std::int64_t weight = 0;
        std::int64_t error = 0;
    };

    /// Longer keys are told apart by their hash alone, and only their first `kKeyBytesMax` bytes are kept.
    static constexpr std::size_t kKeyBytesMax = 128;

    explicit HeavyHitters(std::size_t capacity);

    /// `hash` tells keys apart: all of its 64 bits have to be good.
    void add(std::uint64_t hash, std::string_view key, std::int64_t weight);
    /// The `capacity` heaviest keys, heaviest first.
    [[nodiscard]] std::vector<Item> items() const;

  private:
    struct Counter {
        std::uint64_t hash = 0;
        /// What the purges have left of the weight: `items` reports `left + purged_`.
        std::int64_t left = 0;
        std::int64_t error = 0;
        std::string key;
    };
    /// The slot of the hash, or the free slot where it belongs.
    [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const;
    void purge();
    void resize_slots(std::size_t count);

    std::size_t capacity_;
    /// The first `used_` are in use; the others keep the memory of their keys.
    std::vector<Counter> counters_;
    std::size_t used_ = 0;
    /// Index + 1 into counters_; 0 is free. At most half full.
    std::vector<std::uint32_t> slots_;
    /// What purges have taken from every counter.
    std::int64_t purged_ = 0;
};

}  // namespace partita::insight
