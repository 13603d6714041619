#include "storage/storage_error.h"

#include <cerrno>
#include <system_error>

namespace partita {

bool StorageError::is_out_of_space() const { return error_number == ENOSPC || error_number == EDQUOT; }

bool StorageError::is_not_found() const { return error_number == ENOENT; }

StorageError io_error(std::string operation, const std::string& path, int error_number) {
    std::string message = "cannot " + std::move(operation) + " " + path + ": ";
    message += std::generic_category().message(error_number);
    return {.kind = StorageError::Kind::io, .error_number = error_number, .message = std::move(message)};
}

StorageError corrupt_error(const std::string& path, std::string what) {
    return {.kind = StorageError::Kind::corrupt, .error_number = 0, .message = path + ": " + std::move(what)};
}

}  // namespace partita
