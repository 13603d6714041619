#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// The keys with the most bytes of an endless stream, in bounded memory.
namespace partita::expansion {

/// Space-Saving (Metwally, Agrawal, El Abbadi 2005): every key with more than `total / capacity` of the weight is
/// among those kept; the weight kept for a key is never too low, and too high by at most its `error`.
class HeavyHitters {
  public:
    struct Item {
        std::string key;
        std::int64_t weight = 0;
        std::int64_t error = 0;
    };

    /// Longer keys are told apart by their hash alone and kept up to `kKeyBytesMax`.
    static constexpr std::size_t kKeyBytesMax = 128;

    explicit HeavyHitters(std::size_t capacity);

    /// `hash` tells keys apart (64 good bits).
    void add(std::uint64_t hash, std::string_view key, std::int64_t weight);
    /// All kept, heaviest first.
    [[nodiscard]] std::vector<Item> items() const;
    [[nodiscard]] bool is_full() const { return heap_.size() == capacity_; }

  private:
    struct Node {
        std::uint64_t hash;
        Item item;
    };
    void sift_down(std::size_t position);
    void put(std::size_t position, Node node);

    const std::size_t capacity_;
    /// Lightest on top; `places_` follows.
    std::vector<Node> heap_;
    std::unordered_map<std::uint64_t, std::size_t> places_;
};

}  // namespace partita::expansion
