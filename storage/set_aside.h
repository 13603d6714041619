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

/// Renames directories of partitions out of the way, under names of chance, and remembers which of them are to be unlinked and
/// which are to be reported. Not thread-safe.
class SetAside {
  public:
    SetAside(FileSystem& file_system, std::string directory) : file_system_(file_system), directory_(std::move(directory)) {}

    /// Under a name that a start takes for a leftover. Success when there is no such directory.
    [[nodiscard]] StorageResult<void> for_deletion(const std::string& name);
    /// Under a name that nobody touches again.
    [[nodiscard]] StorageResult<void> as_stray(const std::string& name, bool is_unreadable);

    /// Directories that were renamed for deletion, here or in an earlier process (`add_deleted`), since the last call. The caller
    /// unlinks them, and gives back by `add_deleted` what it could not.
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
