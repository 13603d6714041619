#include "storage/segment.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita {

StorageResult<std::optional<PlacedBatch>> HeaderWalk::next() {
    if (position_ >= end_) {
        return std::nullopt;
    }
    const bool in_window = position_ >= window_start_ && position_ + kBatchHeaderBytes <= window_start_ + window_size_;
    if (!in_window) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, end_ - position_));
        PARTITA_TRY_ASSIGN(const auto read, file_.read_at(position_, MutableBytes(window_.data(), count)));
        window_start_ = position_;
        window_size_ = read;
    }
    const std::size_t skip = static_cast<std::size_t>(position_ - window_start_);
    PARTITA_ASSERT(skip <= window_size_, "a header is looked for within what was read");
    const auto header = parse_log_header(Bytes(window_.data() + skip, window_size_ - skip));
    if (!header) {
        return std::unexpected(
            corrupt_error("batch at position " + std::to_string(position_), std::string(batch_error_text(header.error()))));
    }
    if (header->size_bytes() > end_ - position_) {
        return std::unexpected(
            corrupt_error("batch at position " + std::to_string(position_), "reaches beyond the end of the file"));
    }
    const PlacedBatch placed{*header, position_};
    head_ = Bytes(window_.data() + skip, std::min(kBatchHeaderBytes, window_size_ - skip));
    position_ += header->size_bytes();
    return placed;
}

std::string segment_file_name(Offset base_offset, std::string_view extension) {
    PARTITA_ASSERT(base_offset >= Offset{0}, "parse_segment_file_name takes no other back");
    constexpr std::size_t kDigits = 20;
    std::string digits = std::to_string(base_offset.value);
    std::string name(kDigits - std::min(kDigits, digits.size()), '0');
    name += digits;
    name += extension;
    return name;
}

std::optional<Offset> parse_segment_file_name(std::string_view name, std::string_view extension) {
    if (!name.ends_with(extension)) {
        return std::nullopt;
    }
    name.remove_suffix(extension.size());
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (name.empty() || error != std::errc() || end != name.data() + name.size() || value < 0) {
        return std::nullopt;
    }
    return Offset{value};
}

Segment::Segment(OpenFiles& open_files, std::shared_ptr<const std::string> directory, Offset base_offset, std::string_view suffix)
    : open_files_(open_files),
      directory_(std::move(directory)),
      base_offset_(base_offset),
      suffix_(suffix),
      window_lead_bytes_(std::hash<std::string>{}(*directory_) % kWindowPaddingBytes),
      offset_index_(open_files, join_path(*directory_, segment_file_name(base_offset, ".index") + suffix_), base_offset),
      time_index_(open_files, join_path(*directory_, segment_file_name(base_offset, ".timeindex") + suffix_), base_offset) {}

std::string Segment::log_path() const { return join_path(*directory_, segment_file_name(base_offset_, ".log") + suffix_); }

void Segment::drop_suffix() {
    suffix_.clear();
    offset_index_.file().set_path(join_path(*directory_, segment_file_name(base_offset_, ".index")));
    time_index_.file().set_path(join_path(*directory_, segment_file_name(base_offset_, ".timeindex")));
    if (aborted_) {
        aborted_->file().set_path(aborted_path());
    }
}

std::string Segment::aborted_path() const {
    return join_path(*directory_, segment_file_name(base_offset_, ".txnindex") + suffix_);
}

StorageResult<void> Segment::pin_files() {
    PARTITA_TRY(open_files_.pin(log_slot_, [this] { return log_path(); }));
    PARTITA_TRY(offset_index_.file().pin());
    PARTITA_TRY(time_index_.file().pin());
    return aborted_ ? aborted_->file().pin() : StorageResult<void>{};
}

void Segment::unpin_files() {
    open_files_.unpin(log_slot_);
    offset_index_.file().unpin();
    time_index_.file().unpin();
    if (aborted_) {
        aborted_->file().unpin();
    }
}

StorageResult<std::shared_ptr<File>> Segment::file(bool create) const {
    return open_files_.acquire(log_slot_, [this] { return log_path(); }, create);
}

StorageResult<std::optional<PlacedBatch>> Segment::find(Offset target, std::uint64_t end) const {
    PARTITA_TRY_ASSIGN(auto opened, file());
    auto entry = offset_index_.lookup(target);
    std::uint64_t start = entry && entry->position < end ? entry->position : 0;
    while (true) {
        HeaderWalk walk(*opened, start, end);
        bool astray = false;
        while (true) {
            auto placed = walk.next();
            if (!placed) {
                if (start == 0 || placed.error().kind != StorageError::Kind::corrupt) {
                    return std::unexpected(std::move(placed.error()));
                }
                astray = true;
                break;
            }
            if (!*placed) {
                return std::nullopt;
            }
            const PlacedBatch& batch = **placed;
            if (start != 0 && batch.position == start && batch.header.base_offset > target) {
                astray = true;
                break;
            }
            if (batch.header.last_offset() >= target) {
                return batch;
            }
        }
        if (!astray) {
            return std::nullopt;
        }
        start = 0;
    }
}

bool Segment::must_roll_before(const BatchHeader& batch, std::uint64_t pending_bytes,
                               std::optional<TimestampMs> pending_timestamp, TimestampMs now, const LogConfig& config) const {
    const std::uint64_t size = size_bytes() + pending_bytes;
    if (size == 0) {
        return false;
    }
    if (static_cast<std::int64_t>(size + batch.size_bytes()) > config.segment_bytes) {
        return true;
    }
    if (batch.last_offset() - base_offset_ > std::numeric_limits<std::int32_t>::max()) {
        return true;
    }
    // Positions in the index have 32 bits, and Kafka reads them as signed.
    if (size > std::numeric_limits<std::int32_t>::max()) {
        return true;
    }

    // Each batch has at most one entry, and the last entry of the time index may come on top. A segment that is too small to fill
    // its indexes skips this check: it reads memory that an append does not touch otherwise.
    const auto index_limit = static_cast<std::size_t>(std::max<std::int64_t>(config.segment_index_bytes, 12));
    if (size / kBatchHeaderBytes + 1 >= index_limit / TimeIndex::kEntryBytes) {
        if (offset_index_.file().count() >= index_limit / OffsetIndex::kEntryBytes) {
            return true;
        }
        if (time_index_.file().count() >= index_limit / TimeIndex::kEntryBytes) {
            return true;
        }
    }

    std::int64_t jitter_ms = 0;
    if (config.segment_jitter_ms > 0) {
        const std::size_t seed = std::hash<std::string>{}(*directory_) ^ std::hash<std::int64_t>{}(base_offset_.value);
        const std::int64_t bound = std::min(config.segment_jitter_ms, config.segment_ms);
        jitter_ms = bound > 0 ? static_cast<std::int64_t>(seed % static_cast<std::size_t>(bound)) : 0;
    }
    // Counts in record timestamps if there are any (so a replayed log rolls as the original did). Otherwise it counts from the
    // creation of the segment.
    const std::optional<TimestampMs> first = rolling_timestamp_ ? rolling_timestamp_ : pending_timestamp;
    const std::int64_t waited_ms =
        first && first->value >= 0 ? batch.max_timestamp.value - first->value : now.value - created_.value;
    return waited_ms > config.segment_ms - jitter_ms;
}

StorageResult<void> Segment::write_back(std::uint64_t piece_bytes) {
    const std::uint64_t size = size_bytes();
    // The sync writes the last piece: a small segment is not even opened for this.
    if (written_back_end_ + piece_bytes >= size) {
        return {};
    }
    PARTITA_TRY_ASSIGN(auto opened, file());
    const std::uint64_t limit = size + (size - written_back_end_);
    while (written_back_end_ + piece_bytes < std::min(size_bytes(), limit)) {
        PARTITA_TRY(opened->write_back(written_back_end_, piece_bytes));
        written_back_end_ += piece_bytes;
    }
    return {};
}

StorageResult<void> Segment::write(File& file, std::span<const Bytes> pieces, WriteBreadth breadth, const LogConfig& config) {
    const std::uint64_t position = size_bytes();
    std::uint64_t end = position;
    for (const Bytes piece : pieces) {
        end += piece.size();
    }
    if (breadth == WriteBreadth::few || end - position > kLargestWindowedWrite || is_synced_often(end)) {
        reserve(file, end, config);
        return file.write_at(position, pieces);
    }
    if (FileWindow* const window = window_for(file, end, config)) {
        if (window->write_at(position, pieces)) {
            return {};
        }
        // The file is not in the expected state. Bytes that cannot be cut off now are cut off when the segment is sealed.
        (void)trim();
    }
    return file.write_at(position, pieces);
}

FileWindow* Segment::window_for(File& file, std::uint64_t end, const LogConfig& config) {
    if (!window_ || end > window_->end()) {
        // If no window is available, the segment asks for the next one after as many writes.
        if (!window_ && ++writes_before_window_ <= kWritesBeforeWindow) {
            return nullptr;
        }
        window_.reset();
        writes_before_window_ = 0;
        auto opened = file.open_window(size_bytes(), kWindowBytes);
        // The write goes without a window, and reports an error if that fails too. It replaces all zeros of the earlier window.
        if (!opened || *opened == nullptr) {
            return nullptr;
        }
        window_ = std::move(*opened);
    }
    if (pad_window(file, end, config)) {
        return window_.get();
    }
    // A full disk may have taken a part of the zeros, and may still take the write itself. Bytes that cannot be cut off now are
    // cut off when the segment is sealed.
    (void)trim();
    return nullptr;
}

bool Segment::pad_window(File& file, std::uint64_t end, const LogConfig& config) {
    const std::uint64_t limit = std::max(end, std::min(window_->end(), static_cast<std::uint64_t>(config.segment_bytes)));
    if (std::min(end + window_lead_bytes_, limit) <= written_end_) {
        return true;
    }
    const std::uint64_t from = std::max(written_end_, size_bytes());
    const std::uint64_t wanted = end + window_lead_bytes_ + kWindowPaddingBytes - 1;
    const std::uint64_t padded = std::min(wanted - wanted % kWindowPaddingBytes, limit);
    PARTITA_ASSERT(padded >= end && padded <= window_->end(), "zeros lie under what is written, and within the window");
    if (!pad(file, from, padded)) {
        return false;
    }
    window_->prepare(from, padded);
    return true;
}

void Segment::close_idle_window() {
    writes_before_window_ = 0;
    const bool is_idle = std::exchange(window_seen_at_, size_bytes()) == size_bytes();
    if (window_ && is_idle) {
        // If the file cannot be cut, recovery recognises the zeros at its end, and sealing the segment tries again.
        (void)trim();
    }
}

void Segment::reserve(File& file, std::uint64_t end, const LogConfig& config) {
    const bool pads = is_synced_often(end);
    if (end <= (pads ? padded_end_ : reserved_end_) || end < kSmallestReservation) {
        return;
    }
    std::uint64_t step = std::clamp(end, kSmallestReservation, pads ? kPaddingBytes : kLargestReservation);
    step -= step % kSmallestReservation;
    const std::uint64_t limit = std::max(end, static_cast<std::uint64_t>(config.segment_bytes));
    const std::uint64_t wanted = std::min(end + step, limit);
    if (pads) {
        if (pad(file, end, wanted)) {
            return;
        }
        // As with reserved blocks a refusal is no failure, and the next attempt follows after as many bytes.
        window_.reset();
        // If the zeros cannot be cut off either, recovery recognises them at the end of the file.
        (void)file.truncate(size_bytes());
        return;
    }
    const std::uint64_t from = std::max(reserved_end_, size_bytes());
    // A refusal (disk nearly full) is no failure: the write itself decides, and may still fit. The next attempt follows after as
    // many bytes.
    (void)file.reserve(from, wanted - from);
    reserved_end_ = wanted;
}

bool Segment::pad(File& file, std::uint64_t from, std::uint64_t end) {
    static constexpr std::array<std::byte, 64 * 1024> kZeros{};
    std::array<Bytes, kPaddingBytes / kZeros.size()> pieces;
    PARTITA_ASSERT(from >= size_bytes(), "zeros never replace what is published");
    PARTITA_ASSERT(from >= end || end - from <= kPaddingBytes, "zeros are written in a bounded number of pieces");
    std::size_t count = 0;
    for (std::uint64_t at = from; at < end; at += pieces[count++].size()) {
        pieces[count] = Bytes(kZeros.data(), static_cast<std::size_t>(std::min<std::uint64_t>(end - at, kZeros.size())));
    }
    padded_end_ = std::max(padded_end_, end);
    reserved_end_ = std::max(reserved_end_, padded_end_);
    const bool is_written = file.write_at(from, std::span(pieces).first(count)).has_value();
    written_end_ = is_written ? end : 0;
    return is_written;
}

void Segment::note_trimmed() {
    window_.reset();
    reserved_end_ = 0;
    padded_end_ = 0;
    written_end_ = 0;
}

StorageResult<void> Segment::trim() {
    // Writes through a window must not reach the cut range. A window that is full or was overtaken has nothing to cut off.
    window_.reset();
    written_end_ = 0;
    if (reserved_end_ <= size_bytes()) {
        return {};
    }
    PARTITA_TRY_ASSIGN(auto opened, file());
    // Cutting a file to its own size frees the blocks beyond it.
    auto cut = opened->truncate(size_bytes());
    if (cut) {
        note_trimmed();
    }
    return cut;
}

void Segment::complete_time_index() {
    if (max_timestamp_.timestamp != kNoTimestamp) {
        time_index_.maybe_append(max_timestamp_);
    }
}

void Segment::release_files() {
    window_.reset();
    open_files_.release(log_slot_);
    offset_index_.file().release();
    time_index_.file().release();
    if (aborted_) {
        aborted_->file().release();
    }
}

void Segment::note_aborted(const AbortedTransaction& transaction) {
    if (!aborted_) {
        aborted_ = std::make_shared<AbortedIndex>(open_files_, aborted_path(), base_offset_);
    }
    aborted_->add(transaction);
}

StorageResult<bool> Segment::write_aborted() {
    if (!aborted_ || aborted_->file().pending_count() == 0) {
        return false;
    }
    PARTITA_TRY(aborted_->file().write_pending());
    return true;
}

void Segment::note_batch(const BatchHeader& header, std::uint64_t position, const LogConfig& config) {
    PARTITA_ASSERT(header.base_offset >= base_offset_, "a batch lies in the segment that begins at or before it");
    if (!rolling_timestamp_) {
        rolling_timestamp_ = header.max_timestamp;
    }
    if (header.max_timestamp > max_timestamp_.timestamp) {
        max_timestamp_ = {header.max_timestamp, header.last_offset()};
    }
    if (static_cast<std::int64_t>(bytes_since_index_entry_) > config.index_interval_bytes) {
        offset_index_.append(header.last_offset(), static_cast<std::uint32_t>(position));
        if (max_timestamp_.timestamp != kNoTimestamp) {
            time_index_.maybe_append(max_timestamp_);
        }
        bytes_since_index_entry_ = 0;
    }
    bytes_since_index_entry_ += header.size_bytes();
}

}  // namespace partita
