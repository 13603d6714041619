#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The keys with the most bytes in an endless stream, in bounded memory.
namespace partita::insight {

/// Counts up to twice `capacity` keys. When one more comes, the class subtracts the weight of the `capacity`-th heaviest key from
/// all of them, and keys with no weight left make room (Misra and Gries 1982). Many are purged at once as in Anderson et al.
/// 2017, so that an update costs the same on average for any stream. The class keeps every key with more than `total / capacity`
/// of the weight. The weight kept for a key is never too low, and too high by at most its `error`.
class HeavyHitters {
  public:
    struct Item {
        std::string key;
        std::int64_t weight = 0;
        std::int64_t error = 0;
    };

    /// For longer keys only the hash tells them apart, and only their first `kKeyBytesMax` bytes are kept.
    static constexpr std::size_t kKeyBytesMax = 128;

    explicit HeavyHitters(std::size_t capacity);

    /// `hash` tells keys apart: all of its 64 bits must be good.
    void add(std::uint64_t hash, std::string_view key, std::int64_t weight);
    /// The `capacity` heaviest keys, heaviest first.
    [[nodiscard]] std::vector<Item> items() const;

  private:
    struct Counter {
        std::uint64_t hash = 0;
        /// The weight that is left after the purges: `items` reports `left + purged_`.
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
    /// The weight that purges have subtracted from every counter.
    std::int64_t purged_ = 0;
};

}  // namespace partita::insight
