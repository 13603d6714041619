#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace partita::runtime {

/// A fresh directory that goes with its owner: at once when this is destroyed, and at the next `create` when the owner was
/// killed. Whose owner lives is told by a lock on the directory itself, which the kernel drops with the process, whatever
/// container it ran in; ids of processes would be used again.
class EphemeralDirectory {
  public:
    /// Every such directory begins with this, and nothing else may.
    static constexpr std::string_view kNamePrefix = "partita-ephemeral-";

    struct Created;
    /// Removes what this user's killed brokers left below any of `parents`, then makes a directory in the first that has
    /// room for one. Null when none has.
    [[nodiscard]] static std::optional<Created> create(std::span<const std::string> parents);

    EphemeralDirectory(EphemeralDirectory&& other) noexcept
        : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
    EphemeralDirectory& operator=(EphemeralDirectory&&) = delete;
    /// Removes it with everything below.
    ~EphemeralDirectory();

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    EphemeralDirectory(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
    [[nodiscard]] static std::optional<EphemeralDirectory> create_in(const std::string& parent);

    std::string path_;
    /// Holds the lock; -1 when moved from.
    int descriptor_;
};

struct EphemeralDirectory::Created {
    EphemeralDirectory directory;
    /// Directories of killed brokers that were removed.
    std::size_t swept = 0;
};

}  // namespace partita::runtime
