#include "storage/time_index.h"

#include <limits>
#include <utility>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"

namespace partita {

TimeIndex::TimeIndex(OpenFiles& open_files, std::string path, Offset base_offset)
    : file_(open_files, std::move(path), kEntryBytes), base_offset_(base_offset) {}

TimestampOffset TimeIndex::decode(const std::byte* entry) const {
    return {.timestamp = {load_big_endian<std::int64_t>(entry)},
            .offset = base_offset_ + load_big_endian<std::int32_t>(entry + 8)};
}

StorageResult<void> TimeIndex::reload_last() {
    const std::size_t count = file_.count();
    last_ = {};
    if (count == 0) {
        return {};
    }
    PARTITA_TRY_ASSIGN(last_, entry(count - 1));
    return {};
}

void TimeIndex::maybe_append(TimestampOffset entry) {
    if (entry.timestamp <= last_.timestamp) {
        return;
    }
    // Only a damaged file can make offsets go back. The entry is then left out, and lookups start earlier.
    if (entry.offset < last_.offset) {
        return;
    }
    const std::int64_t relative = entry.offset - base_offset_;
    PARTITA_ASSERT(relative >= 0 && relative <= std::numeric_limits<std::int32_t>::max(),
                   "the log rolls before relative offsets overflow");
    std::byte bytes[kEntryBytes];
    store_big_endian(bytes, entry.timestamp.value);
    store_big_endian(bytes + 8, static_cast<std::int32_t>(relative));
    file_.append(bytes);
    last_ = entry;
}

StorageResult<std::optional<TimestampOffset>> TimeIndex::lookup(TimestampMs target) const {
    std::byte entry[kEntryBytes];
    PARTITA_TRY_ASSIGN(
        auto found,
        file_.find_last([target](const std::byte* candidate) { return load_big_endian<std::int64_t>(candidate) <= target.value; },
                        entry));
    if (!found) {
        return std::nullopt;
    }
    return decode(entry);
}

StorageResult<TimestampOffset> TimeIndex::entry(std::size_t index) const {
    std::byte bytes[kEntryBytes];
    PARTITA_TRY(file_.read(index, bytes));
    return decode(bytes);
}

StorageResult<std::size_t> TimeIndex::plausible_entries(Offset end) const {
    const std::size_t count = file_.count();
    PARTITA_TRY_ASSIGN(auto bytes, file_.read_range(0, count));
    TimestampOffset previous{};
    for (std::size_t i = 0; i < count; ++i) {
        const TimestampOffset current = decode(bytes.data() + i * kEntryBytes);
        const bool unused = current.timestamp.value == 0 && current.offset == base_offset_ && i > 0;
        if (unused || current.timestamp <= previous.timestamp || current.offset < base_offset_ ||
            (i > 0 && current.offset < previous.offset) || current.offset >= end) {
            return i;
        }
        previous = current;
    }
    return count;
}

}  // namespace partita
