#include "storage/open_files.h"

#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita {

FileSlot::~FileSlot() {
    if (pool_ != nullptr) {
        pool_->release(*this);
    }
}

OpenFiles::OpenFiles(FileSystem& file_system, std::size_t limit) : file_system_(file_system), limit_(limit == 0 ? 1 : limit) {
    recency_.previous_ = &recency_;
    recency_.next_ = &recency_;
}

OpenFiles::~OpenFiles() { PARTITA_ASSERT(open_count_ == 0, "every file slot is destroyed before the pool"); }

void OpenFiles::unlink_locked(FileSlot& slot) {
    PARTITA_ASSERT(slot.previous_ != nullptr && slot.next_ != nullptr, "an open file is in the list");
    slot.previous_->next_ = slot.next_;
    slot.next_->previous_ = slot.previous_;
    slot.previous_ = slot.next_ = nullptr;
}

void OpenFiles::push_front_locked(FileSlot& slot) {
    PARTITA_ASSERT(slot.previous_ == nullptr && slot.next_ == nullptr, "a file is in the list once");
    slot.next_ = recency_.next_;
    slot.previous_ = &recency_;
    recency_.next_->previous_ = &slot;
    recency_.next_ = &slot;
}

StorageResult<std::shared_ptr<File>> OpenFiles::acquire(FileSlot& slot, FunctionRef<std::string()> path, bool create) {
    {
        const MutexLock lock(mutex_);
        if (slot.file_ != nullptr) {
            unlink_locked(slot);
            push_front_locked(slot);
            return slot.file_;
        }
        if (slot.pinned_ != nullptr) {
            return slot.pinned_;
        }
    }
    PARTITA_TRY_ASSIGN(std::shared_ptr<File> opened, file_system_.open(path(), create ? OpenMode::create : OpenMode::read_write));

    std::shared_ptr<File> evicted;  // Closed after the lock is gone.
    const MutexLock lock(mutex_);
    // Another thread may have opened the file meanwhile. Both descriptors are good; one is kept.
    if (slot.file_ != nullptr) {
        return slot.file_;
    }
    slot.pool_ = this;
    slot.file_ = opened;
    push_front_locked(slot);
    if (++open_count_ > limit_) {
        FileSlot& oldest = *recency_.previous_;
        unlink_locked(oldest);
        evicted = std::exchange(oldest.file_, nullptr);
        --open_count_;
    }
    PARTITA_ASSERT(open_count_ <= limit_, "open files are bounded");
    return opened;
}

StorageResult<void> OpenFiles::pin(FileSlot& slot, FunctionRef<std::string()> path) {
    PARTITA_TRY_ASSIGN(auto opened, acquire(slot, path));
    const MutexLock lock(mutex_);
    slot.pinned_ = std::move(opened);
    return {};
}

void OpenFiles::unpin(FileSlot& slot) {
    std::shared_ptr<File> closed;  // Closed after the lock is gone.
    const MutexLock lock(mutex_);
    closed = std::exchange(slot.pinned_, nullptr);
}

void OpenFiles::release(FileSlot& slot) {
    std::shared_ptr<File> closed;  // Closed after the lock is gone.
    const MutexLock lock(mutex_);
    if (slot.file_ == nullptr) {
        return;
    }
    unlink_locked(slot);
    closed = std::exchange(slot.file_, nullptr);
    --open_count_;
}

std::size_t OpenFiles::open_count() const {
    const MutexLock lock(mutex_);
    return open_count_;
}

}  // namespace partita
