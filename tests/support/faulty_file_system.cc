#include "tests/support/faulty_file_system.h"

#include <utility>

namespace partita::test {

/// Its writes count as writes of the file.
class FaultyWindow final : public FileWindow {
  public:
    FaultyWindow(FaultyFileSystem& owner, std::string path, std::unique_ptr<FileWindow> real)
        : owner_(owner), path_(std::move(path)), real_(std::move(real)) {}

    [[nodiscard]] std::uint64_t end() const override { return real_->end(); }
    void prepare(std::uint64_t from, std::uint64_t end) override { real_->prepare(from, end); }
    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        const int error_number = owner_.fault_of(FileOperation::write, path_);
        if (error_number == 0) {
            return real_->write_at(position, pieces);
        }
        return std::unexpected(io_error("write", path_, error_number));
    }

  private:
    FaultyFileSystem& owner_;
    const std::string path_;
    const std::unique_ptr<FileWindow> real_;
};

class FaultyFile final : public File {
  public:
    FaultyFile(FaultyFileSystem& owner, std::string path, std::shared_ptr<File> real)
        : owner_(owner), path_(std::move(path)), real_(std::move(real)) {}

    StorageResult<std::size_t> read_at(std::uint64_t position, MutableBytes destination) override {
        return real_->read_at(position, destination);
    }
    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        const int error_number = owner_.fault_of(FileOperation::write, path_);
        if (error_number == 0) {
            return real_->write_at(position, pieces);
        }
        const Bytes half = pieces.empty() ? Bytes{} : pieces.front().first(pieces.front().size() / 2);
        (void)real_->write_at(position, std::span(&half, 1));
        return std::unexpected(io_error("write", path_, error_number));
    }
    StorageResult<void> truncate(std::uint64_t size) override { return real_->truncate(size); }
    StorageResult<void> sync_data() override {
        const int error_number = owner_.fault_of(FileOperation::sync, path_);
        if (error_number == 0) {
            return real_->sync_data();
        }
        StorageError error = io_error("sync", path_, error_number);
        error.kind = StorageError::Kind::sync_failed;
        return std::unexpected(std::move(error));
    }
    StorageResult<void> write_back(std::uint64_t position, std::uint64_t length) override {
        return real_->write_back(position, length);
    }
    StorageResult<void> reserve(std::uint64_t position, std::uint64_t length) override {
        return real_->reserve(position, length);
    }
    StorageResult<std::unique_ptr<FileWindow>> open_window(std::uint64_t position, std::uint64_t length) override {
        if (const int error_number = owner_.fault_of(FileOperation::write, path_)) {
            return std::unexpected(io_error("map", path_, error_number));
        }
        auto opened = real_->open_window(position, length);
        if (!opened || *opened == nullptr) {
            return opened;
        }
        return std::make_unique<FaultyWindow>(owner_, path_, std::move(*opened));
    }
    StorageResult<std::uint64_t> size() override { return real_->size(); }
    [[nodiscard]] bool is_cached(std::uint64_t position, std::uint64_t length) override {
        const std::scoped_lock lock(owner_.mutex_);
        if (!owner_.is_watched(path_)) {
            return real_->is_cached(position, length);
        }
        ++owner_.cache_questions_;
        return !owner_.is_cold_;
    }
    void read_ahead(std::uint64_t position, std::uint64_t length) override {
        real_->read_ahead(position, length);
        const std::scoped_lock lock(owner_.mutex_);
        if (owner_.is_watched(path_)) {
            owner_.reads_ahead_.push_back({position, length});
        }
    }
    [[nodiscard]] int descriptor() const override { return real_->descriptor(); }

  private:
    FaultyFileSystem& owner_;
    const std::string path_;
    const std::shared_ptr<File> real_;
};

class FaultyVolume final : public Volume {
  public:
    FaultyVolume(FaultyFileSystem& owner, std::string path, std::unique_ptr<Volume> real)
        : owner_(owner), path_(std::move(path)), real_(std::move(real)) {}

    StorageResult<bool> sync() override {
        const int error_number = owner_.fault_of(FileOperation::sync, path_);
        if (error_number == 0) {
            return real_->sync();
        }
        StorageError error = io_error("sync", path_, error_number);
        error.kind = StorageError::Kind::sync_failed;
        return std::unexpected(std::move(error));
    }

  private:
    FaultyFileSystem& owner_;
    const std::string path_;
    const std::unique_ptr<Volume> real_;
};

void FaultyFileSystem::fail(FileOperation operation, std::string where, int error_number, int let_pass, int times) {
    const std::scoped_lock lock(mutex_);
    faults_.push_back({operation, std::move(where), error_number, let_pass, times});
}

void FaultyFileSystem::make_cold(std::string where) {
    const std::scoped_lock lock(mutex_);
    watched_where_ = std::move(where);
    is_cold_ = true;
}

void FaultyFileSystem::make_warm(std::string where) {
    const std::scoped_lock lock(mutex_);
    watched_where_ = std::move(where);
    is_cold_ = false;
}

int FaultyFileSystem::cache_questions() const {
    const std::scoped_lock lock(mutex_);
    return cache_questions_;
}

std::vector<FaultyFileSystem::Ahead> FaultyFileSystem::reads_ahead() const {
    const std::scoped_lock lock(mutex_);
    return reads_ahead_;
}

void FaultyFileSystem::heal() {
    const std::scoped_lock lock(mutex_);
    faults_.clear();
}

int FaultyFileSystem::failures() const {
    const std::scoped_lock lock(mutex_);
    return failures_;
}

void FaultyFileSystem::before(FileOperation operation, std::string where, std::function<void()> happens) {
    const std::scoped_lock lock(mutex_);
    happens_before_ = operation;
    happens_where_ = std::move(where);
    happens_ = std::move(happens);
}

int FaultyFileSystem::fault_of(FileOperation operation, const std::string& path) {
    std::function<void()> happens;
    {
        const std::scoped_lock lock(mutex_);
        if (happens_ && !is_happening_ && operation == happens_before_ && path.find(happens_where_) != std::string::npos) {
            is_happening_ = true;
            happens = happens_;
        }
    }
    if (happens) {
        happens();
        const std::scoped_lock lock(mutex_);
        is_happening_ = false;
    }
    const std::scoped_lock lock(mutex_);
    for (Fault& fault : faults_) {
        if (fault.operation != operation || path.find(fault.where) == std::string::npos) {
            continue;
        }
        if (fault.let_pass > 0) {
            --fault.let_pass;
        } else if (fault.times > 0) {
            --fault.times;
            ++failures_;
            return fault.error_number;
        }
    }
    return 0;
}

StorageResult<std::shared_ptr<File>> FaultyFileSystem::open(const std::string& path, OpenMode mode) {
    if (const int error_number = fault_of(FileOperation::open, path)) {
        return std::unexpected(io_error("open", path, error_number));
    }
    auto opened = real_.open(path, mode);
    if (!opened) {
        return opened;
    }
    return std::make_shared<FaultyFile>(*this, path, std::move(*opened));
}

StorageResult<void> FaultyFileSystem::rename(const std::string& from, const std::string& to) {
    if (const int error_number = fault_of(FileOperation::rename, to)) {
        return std::unexpected(io_error("rename", to, error_number));
    }
    return real_.rename(from, to);
}

StorageResult<std::unique_ptr<Volume>> FaultyFileSystem::open_volume(const std::string& directory) {
    auto opened = real_.open_volume(directory);
    if (!opened) {
        return opened;
    }
    return std::make_unique<FaultyVolume>(*this, directory, std::move(*opened));
}

StorageResult<void> FaultyFileSystem::sync_directory(const std::string& path) {
    if (const int error_number = fault_of(FileOperation::sync_directory, path)) {
        StorageError error = io_error("sync", path, error_number);
        error.kind = StorageError::Kind::sync_failed;
        return std::unexpected(std::move(error));
    }
    return real_.sync_directory(path);
}

}  // namespace partita::test
