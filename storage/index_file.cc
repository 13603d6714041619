#include "storage/index_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita {
namespace {

/// A binary search ends with one read of this many entries, which replaces nine more reads of one.
constexpr std::size_t kBlockEntries = 512;

/// Where this thread's last search ended. A reader that goes through a log finds its next place a few entries on. Only a guess
/// about an index that may be gone: the search checks it against the entries.
struct LastFound {
    const void* index_file = nullptr;
    std::size_t entry = 0;
};
thread_local LastFound last_found;

}  // namespace

IndexFile::IndexFile(OpenFiles& open_files, std::string path, std::size_t entry_bytes)
    : open_files_(open_files), path_(std::move(path)), entry_bytes_(entry_bytes) {
    PARTITA_ASSERT(entry_bytes_ > 0 && entry_bytes_ <= kMaximumEntryBytes, "entries are 8, 12 or 34 bytes");
}

StorageResult<std::shared_ptr<File>> IndexFile::file(bool create) const {
    return open_files_.acquire(slot_, [this] { return path_; }, create);
}

StorageResult<void> IndexFile::pin() {
    auto pinned = open_files_.pin(slot_, [this] { return path_; });
    if (!pinned && pinned.error().is_not_found()) {
        return {};
    }
    return pinned;
}

StorageResult<std::size_t> IndexFile::load(bool is_durable) {
    auto size = open_files_.file_system().file_size(path_);
    if (!size && !size.error().is_not_found()) {
        return std::unexpected(std::move(size.error()));
    }
    const MutexLock lock(mutex_);
    persisted_ = size ? *size / entry_bytes_ : 0;
    pending_.clear();
    unsynced_ = size && !is_durable;
    return persisted_;
}

StorageResult<bool> IndexFile::is_whole() const {
    const auto size = open_files_.file_system().file_size(path_);
    if (!size && size.error().is_not_found()) {
        return true;
    }
    PARTITA_TRY(size);
    return *size % entry_bytes_ == 0;
}

void IndexFile::append(Bytes entry) {
    PARTITA_ASSERT(entry.size() == entry_bytes_, "entries have one size");
    const MutexLock lock(mutex_);
    pending_.insert(pending_.end(), entry.begin(), entry.end());
}

std::size_t IndexFile::count() const {
    const MutexLock lock(mutex_);
    return persisted_ + pending_.size() / entry_bytes_;
}

std::size_t IndexFile::pending_count() const {
    const MutexLock lock(mutex_);
    return pending_.size() / entry_bytes_;
}

StorageResult<void> IndexFile::read(std::size_t index, MutableBytes destination) const {
    {
        const MutexLock lock(mutex_);
        PARTITA_ASSERT(index < persisted_ + pending_.size() / entry_bytes_, "the entry exists");
        if (index >= persisted_) {
            std::memcpy(destination.data(), pending_.data() + (index - persisted_) * entry_bytes_, entry_bytes_);
            return {};
        }
    }
    PARTITA_TRY_ASSIGN(auto opened, file(false));
    PARTITA_TRY_ASSIGN(const auto count, opened->read_at(index * entry_bytes_, destination.first(entry_bytes_)));
    if (count != entry_bytes_) {
        return std::unexpected(corrupt_error(path_, "the file is shorter than its entries"));
    }
    return {};
}

StorageResult<std::vector<std::byte>> IndexFile::read_range(std::size_t first, std::size_t n) const {
    std::vector<std::byte> bytes(n * entry_bytes_);
    PARTITA_TRY(read_into(first, bytes));
    return bytes;
}

StorageResult<void> IndexFile::read_into(std::size_t first, MutableBytes bytes) const {
    PARTITA_ASSERT(bytes.size() % entry_bytes_ == 0, "entries are read whole");
    const std::size_t n = bytes.size() / entry_bytes_;
    std::size_t from_file = 0;
    {
        const MutexLock lock(mutex_);
        PARTITA_ASSERT(first + n <= persisted_ + pending_.size() / entry_bytes_, "the entries exist");
        from_file = first >= persisted_ ? 0 : std::min(n, persisted_ - first);
        const std::size_t skip = first > persisted_ ? first - persisted_ : 0;
        if (n > from_file) {
            std::memcpy(bytes.data() + from_file * entry_bytes_, pending_.data() + skip * entry_bytes_,
                        (n - from_file) * entry_bytes_);
        }
    }
    if (from_file == 0) {
        return {};
    }
    PARTITA_TRY_ASSIGN(auto opened, file(false));
    PARTITA_TRY_ASSIGN(const auto count, opened->read_at(first * entry_bytes_, bytes.first(from_file * entry_bytes_)));
    if (count != from_file * entry_bytes_) {
        return std::unexpected(corrupt_error(path_, "the file is shorter than its entries"));
    }
    return {};
}

StorageResult<std::optional<std::size_t>> IndexFile::find_last(FunctionRef<bool(const std::byte*)> belongs,
                                                               MutableBytes destination) const {
    std::size_t low = 0;   // Entries below it belong.
    std::size_t high = 0;  // Entries from it on do not.
    {
        const MutexLock lock(mutex_);
        const std::size_t pending = pending_.size() / entry_bytes_;
        if (pending > 0 && belongs(pending_.data())) {
            // The answer is in memory: the usual case near the end of a log.
            std::size_t first = 0;
            std::size_t last = pending;
            while (last - first > 1) {
                const std::size_t middle = first + (last - first) / 2;
                (belongs(pending_.data() + middle * entry_bytes_) ? first : last) = middle;
            }
            std::memcpy(destination.data(), pending_.data() + first * entry_bytes_, entry_bytes_);
            return persisted_ + first;
        }
        high = persisted_;
    }
    std::byte block[kBlockEntries * kMaximumEntryBytes];
    bool is_read = false;
    if (high > kBlockEntries && last_found.index_file == this && last_found.entry < high) {
        const std::size_t count = std::min(kBlockEntries, high - last_found.entry);
        PARTITA_TRY(read_into(last_found.entry, MutableBytes(block, count * entry_bytes_)));
        const bool ends_here = last_found.entry + count == high || !belongs(block + (count - 1) * entry_bytes_);
        is_read = ends_here && belongs(block);
        if (is_read) {
            low = last_found.entry;
            high = low + count;
        }
    }
    std::byte entry[kMaximumEntryBytes];
    while (high - low > kBlockEntries) {
        const std::size_t middle = low + (high - low) / 2;
        PARTITA_TRY(read(middle, entry));
        if (belongs(entry)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (!is_read) {
        PARTITA_TRY(read_into(low, MutableBytes(block, (high - low) * entry_bytes_)));
    }
    PARTITA_ASSERT(low <= high && high - low <= kBlockEntries, "a search ends with one block");
    std::optional<std::size_t> found;
    for (std::size_t i = low; i < high; ++i) {
        const std::byte* candidate = block + (i - low) * entry_bytes_;
        if (!belongs(candidate)) {
            break;
        }
        found = i;
        std::memcpy(destination.data(), candidate, entry_bytes_);
    }
    if (found) {
        last_found = {this, *found};
    }
    return found;
}

StorageResult<void> IndexFile::write_pending() {
    std::vector<std::byte> bytes;
    std::size_t position = 0;
    {
        const MutexLock lock(mutex_);
        if (pending_.empty()) {
            return {};
        }
        bytes = pending_;
        position = persisted_ * entry_bytes_;
    }
    PARTITA_TRY_ASSIGN(auto opened, file(true));
    mark_unsynced(true);
    const Bytes piece(bytes);
    PARTITA_TRY(opened->write_at(position, std::span(&piece, 1)));
    const MutexLock lock(mutex_);
    PARTITA_ASSERT(pending_.size() == bytes.size(), "there is one appender");
    PARTITA_ASSERT(persisted_ * entry_bytes_ == position, "entries were written where those of the file end");
    persisted_ += bytes.size() / entry_bytes_;
    pending_.clear();
    return {};
}

void IndexFile::mark_unsynced(bool is_unsynced) {
    const MutexLock lock(mutex_);
    unsynced_ = is_unsynced;
}

bool IndexFile::has_unsynced() const {
    const MutexLock lock(mutex_);
    return unsynced_;
}

StorageResult<void> IndexFile::sync() {
    if (!has_unsynced()) {
        return {};
    }
    auto opened = file(false);
    if (!opened) {
        // An index without entries may have no file.
        if (opened.error().is_not_found()) {
            return {};
        }
        return std::unexpected(std::move(opened.error()));
    }
    // Clear the mark before the sync, because another thread may write meanwhile. After a failure the process ends.
    mark_unsynced(false);
    return (*opened)->sync_data();
}

StorageResult<void> IndexFile::truncate(std::size_t count) {
    std::size_t keep = 0;
    {
        const MutexLock lock(mutex_);
        if (count >= persisted_) {
            pending_.resize(std::min(pending_.size(), (count - persisted_) * entry_bytes_));
            keep = persisted_;
        } else {
            pending_.clear();
            persisted_ = count;
            keep = count;
        }
    }
    auto size = open_files_.file_system().file_size(path_);
    if (!size) {
        if (size.error().is_not_found()) {
            return {};
        }
        return std::unexpected(std::move(size.error()));
    }
    if (*size == keep * entry_bytes_) {
        return {};
    }
    PARTITA_TRY_ASSIGN(auto opened, file(false));
    mark_unsynced(true);
    return opened->truncate(keep * entry_bytes_);
}

void IndexFile::release() { open_files_.release(slot_); }

}  // namespace partita
