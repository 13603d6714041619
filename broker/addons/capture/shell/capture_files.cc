#include "broker/addons/capture/shell/capture_files.h"

#include <utility>

#include "protocol/try.h"

namespace partita::capture {
namespace {

std::string without_slashes_behind(std::string directory) {
    while (directory.size() > 1 && directory.ends_with('/')) {
        directory.pop_back();
    }
    return directory;
}

}  // namespace

CaptureFiles::CaptureFiles(FileSystem& file_system, std::string directory)
    : file_system_(file_system),
      directory_(without_slashes_behind(std::move(directory))),
      work_directory_(join_path(directory_, kWorkDirectory)) {}

StorageResult<void> CaptureFiles::open() {
    PARTITA_TRY(file_system_.make_directories(work_directory_));
    PARTITA_TRY_ASSIGN(auto lock, file_system_.lock(join_path(work_directory_, "lock"), "a broker captures to this directory\n"));
    PARTITA_TRY(file_system_.sync_directory(directory_));
    lock_ = std::move(lock);
    return {};
}

std::string CaptureFiles::progress_path(const std::string& id) const { return join_path(work_directory_, id + ".progress"); }

std::string CaptureFiles::part(const std::string& id, std::uint64_t number) const {
    return join_path(work_directory_, id + "-" + std::to_string(number) + ".part");
}

StorageResult<Progress> CaptureFiles::load(const std::string& id) {
    const std::string path = progress_path(id);
    PARTITA_TRY_ASSIGN(const auto there, file_system_.exists(path));
    if (!there) {
        return Progress();
    }
    PARTITA_TRY_ASSIGN(const auto text, read_whole_file(file_system_, path, kProgressBytesMax));
    const auto progress = parse_progress(text);
    if (!progress) {
        return std::unexpected(
            corrupt_error(path, "not a progress file of capture; delete it to start capture from the beginning"));
    }
    PARTITA_TRY(publish(id, *progress));
    return *progress;
}

StorageResult<bool> CaptureFiles::is_taken(const std::string& path) { return file_system_.exists(join_path(directory_, path)); }

StorageResult<void> CaptureFiles::store(const std::string& id, const Progress& progress) {
    const std::string text = progress_text(progress);
    return replace_file(file_system_, progress_path(id), as_bytes(text), true);
}

StorageResult<void> CaptureFiles::publish(const std::string& id, const Progress& progress) {
    const std::string written = part(id, progress.files);
    PARTITA_TRY_ASSIGN(const auto there, file_system_.exists(written));
    const std::string path = join_path(directory_, progress.path);
    if (there) {
        PARTITA_TRY(make_way_to(parent_directory(path)));
        PARTITA_TRY(file_system_.rename(written, path));
    }
    // Sync this even for a file that got its name before a crash: the next one must not be stored before this one's name is
    // durable. People may have removed the file together with its directory.
    if (auto synced = file_system_.sync_directory(parent_directory(path)); !synced && !synced.error().is_not_found()) {
        return synced;
    }
    return file_system_.sync_directory(work_directory_);
}

StorageResult<void> CaptureFiles::make_way_to(const std::string& place) {
    PARTITA_TRY(file_system_.make_directories(place));
    for (std::string above = place; above.size() > directory_.size(); above = parent_directory(above)) {
        PARTITA_TRY(file_system_.sync_directory(parent_directory(above)));
    }
    return {};
}

StorageResult<void> CaptureFiles::forget(const std::string& id, const Progress& progress) {
    for (const std::string& path : {part(id, progress.files), part(id, progress.files + 1), progress_path(id)}) {
        PARTITA_TRY(file_system_.remove(path));
    }
    return {};
}

}  // namespace partita::capture
