#include "broker/addons/faults/shell/failing_disk.h"

#include <cerrno>
#include <utility>

#include "protocol/try.h"

namespace partita::faults {
namespace {

std::unexpected<StorageError> full(const char* operation, const std::string& path) {
    return std::unexpected(io_error(operation, path, ENOSPC));
}

std::unexpected<StorageError> failed_sync(const std::string& path) {
    StorageError error = io_error("sync", path, EIO);
    error.kind = StorageError::Kind::sync_failed;
    return std::unexpected(std::move(error));
}

class FailingWindow final : public FileWindow {
  public:
    FailingWindow(const FailingDisk& disk, const std::string& path, std::unique_ptr<FileWindow> real)
        : disk_(disk), path_(path), real_(std::move(real)) {}

    std::uint64_t end() const override { return real_->end(); }
    void prepare(std::uint64_t from, std::uint64_t end) override { real_->prepare(from, end); }
    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        return disk_.fails(DiskOperation::write, path_) ? full("write", path_) : real_->write_at(position, pieces);
    }

  private:
    const FailingDisk& disk_;
    const std::string path_;
    const std::unique_ptr<FileWindow> real_;
};

class FailingFile final : public File {
  public:
    FailingFile(const FailingDisk& disk, const std::string& path, std::shared_ptr<File> real)
        : disk_(disk), path_(path), real_(std::move(real)) {}

    StorageResult<std::size_t> read_at(std::uint64_t position, MutableBytes destination) override {
        return real_->read_at(position, destination);
    }
    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        return disk_.fails(DiskOperation::write, path_) ? full("write", path_) : real_->write_at(position, pieces);
    }
    StorageResult<void> truncate(std::uint64_t size) override { return real_->truncate(size); }
    StorageResult<void> sync_data() override {
        return disk_.fails(DiskOperation::sync, path_) ? failed_sync(path_) : real_->sync_data();
    }
    StorageResult<void> write_back(std::uint64_t position, std::uint64_t length) override {
        return disk_.fails(DiskOperation::sync, path_) ? failed_sync(path_) : real_->write_back(position, length);
    }
    StorageResult<void> reserve(std::uint64_t position, std::uint64_t length) override {
        return disk_.fails(DiskOperation::write, path_) ? full("allocate", path_) : real_->reserve(position, length);
    }
    StorageResult<std::unique_ptr<FileWindow>> open_window(std::uint64_t position, std::uint64_t length) override {
        PARTITA_TRY_ASSIGN(auto window, real_->open_window(position, length));
        if (window == nullptr) {
            return std::unique_ptr<FileWindow>();
        }
        return std::make_unique<FailingWindow>(disk_, path_, std::move(window));
    }
    StorageResult<std::uint64_t> size() override { return real_->size(); }
    bool is_cached(std::uint64_t position, std::uint64_t length) override { return real_->is_cached(position, length); }
    void read_ahead(std::uint64_t position, std::uint64_t length) override { real_->read_ahead(position, length); }
    int descriptor() const override { return real_->descriptor(); }

  private:
    const FailingDisk& disk_;
    const std::string path_;
    const std::shared_ptr<File> real_;
};

class FailingVolume final : public Volume {
  public:
    FailingVolume(const FailingDisk& disk, const std::string& directory, std::unique_ptr<Volume> real)
        : disk_(disk), directory_(directory), real_(std::move(real)) {}

    StorageResult<bool> sync() override {
        return disk_.fails(DiskOperation::sync, directory_) ? failed_sync(directory_) : real_->sync();
    }

  private:
    const FailingDisk& disk_;
    const std::string directory_;
    const std::unique_ptr<Volume> real_;
};

}  // namespace

bool FailingDisk::fails(DiskOperation operation, const std::string& path) const {
    const std::shared_ptr<DiskGate> gate = gate_.load();
    return gate != nullptr && gate->fails(operation, path);
}

StorageResult<std::shared_ptr<File>> FailingDisk::open(const std::string& path, OpenMode mode) {
    if (mode == OpenMode::create || mode == OpenMode::create_empty) {
        PARTITA_TRY_ASSIGN(const bool exists, real_.exists(path));
        if (!exists && fails(DiskOperation::write, path)) {
            return full("create", path);
        }
    }
    PARTITA_TRY_ASSIGN(auto file, real_.open(path, mode));
    return std::make_shared<FailingFile>(*this, path, std::move(file));
}

StorageResult<void> FailingDisk::make_directories(const std::string& path) {
    PARTITA_TRY_ASSIGN(const bool exists, real_.exists(path));
    return !exists && fails(DiskOperation::write, path) ? full("create", path) : real_.make_directories(path);
}

StorageResult<void> FailingDisk::sync_directory(const std::string& path) {
    return fails(DiskOperation::sync, path) ? failed_sync(path) : real_.sync_directory(path);
}

StorageResult<std::unique_ptr<Volume>> FailingDisk::open_volume(const std::string& directory) {
    PARTITA_TRY_ASSIGN(auto volume, real_.open_volume(directory));
    if (volume == nullptr) {
        return std::unique_ptr<Volume>();
    }
    return std::make_unique<FailingVolume>(*this, directory, std::move(volume));
}

}  // namespace partita::faults
