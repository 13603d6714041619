#include "storage/batch_scan.h"

#include <algorithm>
#include <limits>

#include "protocol/assert.h"
#include "protocol/crc32c.h"
#include "protocol/legacy_records.h"
#include "protocol/try.h"

namespace partita {

StorageResult<std::uint32_t> batch_checksum(File& file, std::uint64_t position, const BatchHeader& header) {
    const bool is_current = header.is_current_format();
    const std::uint64_t end = position + header.size_bytes();
    std::uint32_t crc = 0;
    if (is_current) {
        position += kBatchCrcCoverageStart;
    } else {
        static_assert(kLegacyCrcCoverageStart == kBatchMagicPlace);
        const auto magic = static_cast<std::byte>(header.magic);
        crc = legacy_crc_extend(crc, Bytes(&magic, 1));
        position += kLegacyCrcCoverageStart + 1;
    }
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(BatchScan::kReadBytes, end - position)));
    while (position < end) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - position));
        PARTITA_TRY_ASSIGN(const auto read, file.read_at(position, MutableBytes(buffer.data(), wanted)));
        const Bytes piece(buffer.data(), read);
        crc = is_current ? crc32c_extend(crc, piece) : legacy_crc_extend(crc, piece);
        if (read < wanted) {
            break;
        }
        position += read;
    }
    return crc;
}

StorageResult<Bytes> BatchScan::window(std::size_t count) {
    const std::uint64_t left = end_ - position_;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, left));
    if (position_ < buffer_start_ || position_ + wanted > buffer_start_ + buffer_size_ || buffer_size_ == 0) {
        // The buffer grows with the batch. The caller has checked the CRC of a large batch before.
        const auto read_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(wanted, kReadBytes), left));
        if (buffer_.size() < read_bytes) {
            buffer_.resize(read_bytes);
        }
        PARTITA_TRY_ASSIGN(const auto read, file_.read_at(position_, MutableBytes(buffer_.data(), read_bytes)));
        buffer_start_ = position_;
        buffer_size_ = read;
    }
    const auto skip = static_cast<std::size_t>(position_ - buffer_start_);
    PARTITA_ASSERT(skip <= buffer_size_, "a batch is looked for within what was read");
    return Bytes(buffer_.data() + skip, std::min(wanted, buffer_size_ - skip));
}

StorageResult<BatchScan::Step> BatchScan::next() {
    Step step{.position = position_};
    if (position_ >= end_) {
        return step;
    }
    PARTITA_TRY_ASSIGN(Bytes bytes, window(kBatchHeaderBytes));
    step.found = Found::bad;
    const auto header = parse_log_header(bytes);
    if (!header) {
        step.error = header.error();
        return step;
    }
    if (header->size_bytes() > end_ - position_) {
        step.error = BatchError::truncated;
        return step;
    }
    if (header->size_bytes() > kBelievedBytes) {
        PARTITA_TRY_ASSIGN(const auto crc, batch_checksum(file_, position_, *header));
        if (crc != header->crc) {
            step.error = BatchError::crc_mismatch;
            return step;
        }
    }
    PARTITA_TRY_ASSIGN(bytes, window(header->size_bytes()));
    const auto batch = parse_log_batch(bytes);
    if (!batch || !check_crc(*batch)) {
        step.error = batch ? BatchError::crc_mismatch : batch.error();
        return step;
    }
    step.found = Found::batch;
    step.batch = *batch;
    position_ += header->size_bytes();
    return step;
}

StorageResult<DamagedTail> inspect_damaged_tail(File& file, std::uint64_t position, std::uint64_t end, Offset expected) {
    DamagedTail tail;
    // Records may hold any bytes, even a million batch headers that reach to the end of the tail.
    constexpr std::uint64_t kChecksumsOfTheTail = 8;
    std::uint64_t checksum_bytes_left = kChecksumsOfTheTail * (end - position);
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(BatchScan::kReadBytes, end - position)));
    // Each piece begins with the last bytes of the one before, too few for a header.
    for (bool is_last = false; !is_last;) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - position));
        PARTITA_TRY_ASSIGN(const auto read, file.read_at(position, MutableBytes(buffer.data(), wanted)));
        const Bytes piece(buffer.data(), read);
        is_last = read < wanted || position + wanted == end;
        if (std::ranges::all_of(piece, [](std::byte byte) { return byte == std::byte{0}; })) {
            position += read - std::min(read, kBatchHeaderBytes - 1);
            continue;
        }
        tail.all_zero = false;
        // An entry of an older format may be shorter than a header, but only the last bytes of the tail are not seen again.
        const std::size_t shortest = is_last ? kLegacyEntryBytesMin : kBatchHeaderBytes;
        for (std::size_t at = 0; at + shortest <= piece.size(); ++at, ++position) {
            // The magic is one byte out of 256, the offset 31 bits out of 64: nearly nothing gets to the CRC.
            if (std::to_integer<int>(piece[at + kBatchMagicPlace]) > kCurrentMagic) {
                continue;
            }
            const auto header = parse_log_header(piece.subspan(at));
            const bool plausible = header && header->base_offset >= expected &&
                                   header->base_offset - expected <= std::numeric_limits<std::int32_t>::max() &&
                                   header->size_bytes() <= end - position;
            if (!plausible) {
                continue;
            }
            if (header->size_bytes() > checksum_bytes_left) {
                tail.holds_batches = true;
                return tail;
            }
            checksum_bytes_left -= header->size_bytes();
            PARTITA_TRY_ASSIGN(const auto crc, batch_checksum(file, position, *header));
            if (crc == header->crc) {
                tail.holds_batches = true;
                return tail;
            }
        }
    }
    return tail;
}

}  // namespace partita
