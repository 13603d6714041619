#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/big_endian.h"
#include "protocol/types.h"
#include "protocol/varint.h"

namespace partita {

/// Length of `value` as an unsigned varint: 1 to 5.
[[nodiscard]] constexpr std::size_t unsigned_varint_size(std::uint32_t value) { return unsigned_varlong_size(value); }

/// Writes `value` as an unsigned varint and returns the address after it.
inline std::byte* store_unsigned_varint(std::byte* to, std::uint32_t value) { return encode_unsigned_varlong(to, value); }

/// Reads foreign bytes from front to back; code has no other access to them. A read past the end returns false, moves nothing and
/// leaves its result unchanged.
class Cursor {
  public:
    Cursor() = default;
    explicit Cursor(Bytes bytes) : start_(bytes.data()), at_(start_), end_(start_ + bytes.size()) {}

    [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(at_ - start_); }

    template <class Integer>
    [[nodiscard]] bool read(Integer& out) {
        if (remaining() < sizeof(Integer)) {
            return false;
        }
        out = load_big_endian<Integer>(at_);
        at_ += sizeof(Integer);
        return true;
    }

    /// Reads at most five bytes and 32 bits. Accepts encodings that are longer than necessary, as Kafka's readers do. Refuses
    /// bits above the 32nd, which Kafka's readers drop: no client writes such lengths.
    [[nodiscard]] bool read_unsigned_varint(std::uint32_t& out) {
        std::uint32_t value = 0;
        const std::size_t most = remaining() < kMaxVarintBytes ? remaining() : kMaxVarintBytes;
        for (std::size_t i = 0; i < most; ++i) {
            const auto byte = static_cast<std::uint32_t>(at_[i]);
            if (i == kMaxVarintBytes - 1 && byte > 0x0f) {
                return false;
            }
            value |= (byte & 0x7f) << (7 * i);
            if ((byte & 0x80) == 0) {
                at_ += i + 1;
                out = value;
                return true;
            }
        }
        return false;
    }

    /// A view of the next `size` bytes.
    [[nodiscard]] bool read_bytes(std::size_t size, Bytes& out) {
        if (size > remaining()) {
            return false;
        }
        out = {at_, size};
        at_ += size;
        return true;
    }

    [[nodiscard]] bool skip(std::size_t size) {
        if (size > remaining()) {
            return false;
        }
        at_ += size;
        return true;
    }

  private:
    const std::byte* start_ = nullptr;
    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;
};

}  // namespace partita
