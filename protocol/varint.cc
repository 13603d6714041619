#include "protocol/varint.h"

namespace partita {
namespace {

template <class Unsigned, std::size_t kMaxBytes>
bool decode_groups(const std::byte*& cursor, const std::byte* end, Unsigned& value) {
    Unsigned result = 0;
    const auto available = static_cast<std::size_t>(end - cursor);
    const std::size_t limit = available < kMaxBytes ? available : kMaxBytes;
    for (std::size_t index = 0; index < limit; ++index) {
        const auto group = std::to_integer<Unsigned>(cursor[index]);
        result |= (group & 0x7fu) << (7 * index);
        if (group < 0x80u) {
            cursor += index + 1;
            value = result;
            return true;
        }
    }
    return false;
}

}  // namespace

bool decode_long_unsigned_varint(const std::byte*& cursor, const std::byte* end, std::uint32_t& value) {
    return decode_groups<std::uint32_t, kMaxVarintBytes>(cursor, end, value);
}

bool decode_long_unsigned_varlong(const std::byte*& cursor, const std::byte* end, std::uint64_t& value) {
    return decode_groups<std::uint64_t, kMaxVarlongBytes>(cursor, end, value);
}

}  // namespace partita
