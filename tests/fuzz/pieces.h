#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/types.h"

namespace partita::fuzz {

/// Splits an input into pieces, each after its length in two bytes; the last piece may be cut off.
class Pieces {
  public:
    explicit Pieces(Bytes input) : rest_(input) {}

    [[nodiscard]] bool empty() const { return rest_.empty(); }
    /// Empty when nothing is left.
    [[nodiscard]] Bytes next() {
        if (rest_.size() < kLengthBytes) {
            rest_ = {};
            return {};
        }
        const std::size_t length = load_big_endian<std::uint16_t>(rest_.data());
        rest_ = rest_.subspan(kLengthBytes);
        const Bytes piece = rest_.first(std::min(length, rest_.size()));
        rest_ = rest_.subspan(piece.size());
        return piece;
    }
    [[nodiscard]] std::uint8_t next_byte() {
        if (rest_.empty()) {
            return 0;
        }
        const auto value = std::to_integer<std::uint8_t>(rest_.front());
        rest_ = rest_.subspan(1);
        return value;
    }

    static void append(std::vector<std::byte>& input, Bytes piece) {
        std::byte length[kLengthBytes];
        store_big_endian(length, static_cast<std::uint16_t>(piece.size()));
        input.insert(input.end(), std::begin(length), std::end(length));
        input.insert(input.end(), piece.begin(), piece.end());
    }

  private:
    static constexpr std::size_t kLengthBytes = sizeof(std::uint16_t);

    Bytes rest_;
};

}  // namespace partita::fuzz
