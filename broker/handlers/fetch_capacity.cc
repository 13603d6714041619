#include "broker/handlers/fetch_capacity.h"

#include <algorithm>
#include <vector>

#include "protocol/record_batch.h"
#include "storage/file_system.h"

namespace partita::handlers {
namespace {

// Many small batches are read together; of large ones more is read than is looked at.
constexpr std::size_t kReadBytes = 64 * 1024;

}  // namespace

std::int64_t count_and_cut(FileSlice& slice, std::int64_t records_max, bool keeps_first_batch) {
    thread_local std::vector<std::byte> read;
    std::uint64_t read_from = 0;
    read.clear();
    std::int64_t records = 0;
    std::uint64_t position = 0;
    while (position + kBatchHeaderBytes <= slice.size) {
        if (position + kBatchHeaderBytes > read_from + read.size()) {
            read.resize(std::min<std::uint64_t>(kReadBytes, slice.size - position));
            const auto done = slice.file->read_at(slice.position + position, read);
            // What cannot be read cannot be sent either: whoever sends it finds out, and says so.
            if (!done || *done < kBatchHeaderBytes) {
                return records;
            }
            read.resize(*done);
            read_from = position;
        }
        const auto header = parse_batch_header(Bytes(read).subspan(position - read_from));
        if (!header) {
            return records;
        }
        if (position + header->size_bytes() > slice.size) {
            break;
        }
        const std::int64_t more = header->attributes.is_control() ? 0 : std::max(0, header->record_count);
        if (records + more > records_max && (position > 0 || !keeps_first_batch)) {
            break;
        }
        records += more;
        position += header->size_bytes();
    }
    // Readers drop what is there of a batch in part: it comes again, whole, and is paid for then.
    slice.size = static_cast<std::uint32_t>(position);
    if (slice.size == 0) {
        slice.file = nullptr;
    }
    return records;
}

}  // namespace partita::handlers
