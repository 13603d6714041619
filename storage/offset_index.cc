#include "storage/offset_index.h"

#include <limits>
#include <utility>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"

namespace partita {

OffsetIndex::OffsetIndex(OpenFiles& open_files, std::string path, Offset base_offset)
    : file_(open_files, std::move(path), kEntryBytes), base_offset_(base_offset) {}

OffsetPosition OffsetIndex::decode(const std::byte* entry) const {
    return {.offset = base_offset_ + load_big_endian<std::int32_t>(entry), .position = load_big_endian<std::uint32_t>(entry + 4)};
}

void OffsetIndex::append(Offset offset, std::uint32_t position) {
    const std::int64_t relative = offset - base_offset_;
    PARTITA_ASSERT(relative >= 0 && relative <= std::numeric_limits<std::int32_t>::max(),
                   "the log rolls before relative offsets overflow");
    std::byte entry[kEntryBytes];
    store_big_endian(entry, static_cast<std::int32_t>(relative));
    store_big_endian(entry + 4, position);
    file_.append(entry);
}

StorageResult<OffsetPosition> OffsetIndex::lookup(Offset target) const {
    std::byte entry[kEntryBytes];
    const std::int64_t relative = target - base_offset_;
    PARTITA_TRY_ASSIGN(
        auto found,
        file_.find_last([relative](const std::byte* candidate) { return load_big_endian<std::int32_t>(candidate) <= relative; },
                        entry));
    if (!found) {
        return OffsetPosition{base_offset_, 0};
    }
    return decode(entry);
}

StorageResult<std::size_t> OffsetIndex::count_up_to(Offset target) const {
    std::byte entry[kEntryBytes];
    const std::int64_t relative = target - base_offset_;
    const auto is_covered = [relative](const std::byte* candidate) {
        return load_big_endian<std::int32_t>(candidate) <= relative;
    };
    PARTITA_TRY_ASSIGN(const auto found, file_.find_last(is_covered, entry));
    return found ? *found + 1 : 0;
}

StorageResult<std::optional<OffsetPosition>> OffsetIndex::last_entry() const {
    const std::size_t count = file_.count();
    if (count == 0) {
        return std::nullopt;
    }
    return entry(count - 1);
}

StorageResult<OffsetPosition> OffsetIndex::entry(std::size_t index) const {
    std::byte bytes[kEntryBytes];
    PARTITA_TRY(file_.read(index, bytes));
    return decode(bytes);
}

StorageResult<std::size_t> OffsetIndex::plausible_entries(std::uint64_t segment_bytes) const {
    const std::size_t count = file_.count();
    PARTITA_TRY_ASSIGN(auto bytes, file_.read_range(0, count));
    OffsetPosition previous{base_offset_ - 1, 0};
    for (std::size_t i = 0; i < count; ++i) {
        const OffsetPosition current = decode(bytes.data() + i * kEntryBytes);
        if (current.offset <= previous.offset || current.position <= previous.position || current.position >= segment_bytes) {
            return i;
        }
        previous = current;
    }
    return count;
}

}  // namespace partita
