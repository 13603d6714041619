#pragma once

#include <string>
#include <vector>

#include "storage/file_system.h"

namespace partita {

/// A directory that was renamed out of the way of a topic that it does not belong to.
struct StrayDirectory {
    std::string directory;
    std::string renamed_to;
    /// The directory could not be opened. Otherwise it names another topic id.
    bool is_unreadable = false;
};

/// Renames directories of partitions out of the way, under random names. Remembers which of them to unlink and which to report.
/// Not thread-safe.
class SetAside {
  public:
    SetAside(FileSystem& file_system, std::string directory) : file_system_(file_system), directory_(std::move(directory)) {}

    /// Renames a directory so that a start takes it for a leftover. Succeeds if the directory is missing.
    [[nodiscard]] StorageResult<void> for_deletion(const std::string& name);
    /// Renames a directory to a name that the broker never touches again.
    [[nodiscard]] StorageResult<void> as_stray(const std::string& name, bool is_unreadable);

    /// Directories that were renamed for deletion since the last call, here or in an earlier process (`add_deleted`). The caller
    /// unlinks them, and gives failed ones back with `add_deleted`.
    [[nodiscard]] std::vector<std::string> take_deleted();
    void add_deleted(std::string name) { deleted_.push_back(std::move(name)); }
    /// The strays since the last call.
    [[nodiscard]] std::vector<StrayDirectory> take_strays();

  private:
    FileSystem& file_system_;
    const std::string directory_;
    std::vector<std::string> deleted_;
    std::vector<StrayDirectory> strays_;
};

}  // namespace partita
