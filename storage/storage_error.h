#pragma once

#include <expected>
#include <string>

namespace partita {

/// An error of the storage room. A value, never an exception.
struct [[nodiscard]] StorageError {
    enum class Kind {
        /// The operating system refused an operation; `error_number` says why.
        io,
        /// fsync or fdatasync failed. The page cache may have dropped bytes that it could not write, so bytes read back cannot be
        /// trusted. The process must stop and recover on its next start ("fsyncgate"). Never retried.
        sync_failed,
        /// The bytes on disk violate the format.
        corrupt,
        /// The log was deleted or closed while it was being used.
        closed,
        /// Another process holds the data directory.
        locked,
        /// The data directory was written by a newer version of the program.
        newer_format,
    };

    Kind kind = Kind::io;
    /// errno of the failed call, 0 where no call failed.
    int error_number = 0;
    /// A readable sentence: operation, path and reason.
    std::string message;

    /// True when the failure goes away once the device has free space.
    [[nodiscard]] bool is_out_of_space() const;
    [[nodiscard]] bool is_not_found() const;
};

template <class T>
using StorageResult = std::expected<T, StorageError>;

/// An error of one system call on one path: "cannot write /data/t-0/...log: No space left on device".
[[nodiscard]] StorageError io_error(std::string operation, const std::string& path, int error_number);
[[nodiscard]] StorageError corrupt_error(const std::string& path, std::string what);

}  // namespace partita
