#include "storage/batch_scan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "protocol/big_endian.h"

namespace partita {

StorageResult<Bytes> BatchScan::window(std::size_t count) {
    const std::uint64_t left = end_ - position_;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, left));
    if (position_ < buffer_start_ || position_ + wanted > buffer_start_ + buffer_size_ || buffer_size_ == 0) {
        // Grows with the batch, which the caller has bounded by what the file holds.
        const auto read_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(wanted, kReadBytes), left));
        if (buffer_.size() < read_bytes) buffer_.resize(read_bytes);
        const auto read = file_.read_at(position_, MutableBytes(buffer_.data(), read_bytes));
        if (!read) return std::unexpected(read.error());
        buffer_start_ = position_;
        buffer_size_ = *read;
    }
    const auto skip = static_cast<std::size_t>(position_ - buffer_start_);
    return Bytes(buffer_.data() + skip, std::min(wanted, buffer_size_ - skip));
}

StorageResult<BatchScan::Step> BatchScan::next() {
    Step step{.position = position_};
    if (position_ >= end_) return step;
    auto bytes = window(kBatchHeaderBytes);
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    step.found = Found::bad;
    const auto header = parse_batch_header(*bytes);
    if (!header) {
        step.error = header.error();
        return step;
    }
    if (header->size_bytes() > end_ - position_) {
        step.error = BatchError::truncated;
        return step;
    }
    bytes = window(header->size_bytes());
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    const auto batch = parse_batch(*bytes);
    if (!batch || !check_crc(*batch)) {
        step.error = batch ? BatchError::crc_mismatch : batch.error();
        return step;
    }
    step.found = Found::batch;
    step.batch = *batch;
    position_ += header->size_bytes();
    return step;
}

StorageResult<DamagedTail> inspect_damaged_tail(File& file, std::uint64_t position, std::uint64_t end,
                                                Offset expected) {
    // Damage is rare and a batch may be as large as the tail: it is read as a whole.
    DamagedTail tail;
    std::vector<std::byte> bytes(static_cast<std::size_t>(end - position));
    const auto read = file.read_at(position, bytes);
    if (!read) return std::unexpected(read.error());
    bytes.resize(*read);
    tail.all_zero = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
    if (tail.all_zero) return tail;
    // Records may hold anything, also a million headers of batches that reach to the end of the tail.
    constexpr std::size_t kChecksumsOfTheTail = 8;
    std::size_t checksum_bytes_left = kChecksumsOfTheTail * bytes.size();
    std::size_t at = 0;
    while (at + kBatchHeaderBytes <= bytes.size()) {
        // The magic is one byte out of 256, the offset 31 bits out of 64: nearly nothing gets to the CRC.
        if (bytes[at + 16] == std::byte{kCurrentMagic}) {
            const auto base = load_big_endian<std::int64_t>(bytes.data() + at);
            const auto length = load_big_endian<std::int32_t>(bytes.data() + at + 8);
            const bool plausible = base >= expected.value &&
                                   base - expected.value <= std::numeric_limits<std::int32_t>::max() && length > 0 &&
                                   static_cast<std::size_t>(length) + kBatchPrefixBytes <= bytes.size() - at;
            if (plausible) {
                const auto batch = parse_batch(Bytes(bytes).subspan(at));
                const std::size_t batch_bytes = batch ? batch->bytes.size() : 0;
                if (batch_bytes > checksum_bytes_left) {
                    ++tail.good_batches;
                    return tail;
                }
                checksum_bytes_left -= batch_bytes;
                if (batch && check_crc(*batch)) {
                    ++tail.good_batches;
                    at += batch_bytes;
                    continue;
                }
            }
        }
        ++at;
    }
    return tail;
}

}  // namespace partita
