#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/file_descriptor.h"

namespace partita::assembly {

/// A new directory that is removed with its owner: when this object is destroyed, or by the next `create` of this user if the
/// owner was killed. A lock on the directory itself shows whether the owner lives. The kernel drops the lock with the process,
/// whatever container it ran in. Process ids would not do, because they are reused.
class EphemeralDirectory {
  public:
    /// The names of all such directories begin with this; no other names may.
    static constexpr std::string_view kNamePrefix = "partita-ephemeral-";

    struct Created;
    /// Removes the directories that killed brokers of this user left below any of `parents`. Then creates a directory in the
    /// first parent that allows it. Empty if none does.
    [[nodiscard]] static std::optional<Created> create(std::span<const std::string> parents);

    EphemeralDirectory(EphemeralDirectory&& other) noexcept = default;
    EphemeralDirectory& operator=(EphemeralDirectory&&) = delete;
    /// Removes the directory with everything in it.
    ~EphemeralDirectory();

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    EphemeralDirectory(std::string path, FileDescriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
    [[nodiscard]] static std::optional<EphemeralDirectory> create_in(const std::string& parent);

    std::string path_;
    /// Holds the lock; owns nothing after a move.
    FileDescriptor lock_;
};

struct EphemeralDirectory::Created {
    EphemeralDirectory directory;
    /// How many directories of killed brokers were removed.
    std::size_t swept = 0;
};

}  // namespace partita::assembly
