#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "broker/dev_security/dev_security.h"
#include "protocol/try.h"

namespace partita::dev_security {
namespace {

std::unexpected<std::string> failed(const std::string& what, int error) {
    return std::unexpected(what + ": " + std::generic_category().message(error));
}

std::expected<void, std::string> make_directory(const std::string& directory) {
    std::error_code error;
    if (const auto above = std::filesystem::path(directory).parent_path(); !above.empty()) {
        std::filesystem::create_directories(above, error);
        if (error) {
            return std::unexpected("cannot create " + above.string() + ": " + error.message());
        }
    }
    if (::mkdir(directory.c_str(), 0700) == 0) {
        return {};
    }
    if (errno != EEXIST) {
        return failed("cannot create " + directory, errno);
    }
    struct stat found{};
    if (::stat(directory.c_str(), &found) != 0) {
        return failed("cannot read the attributes of " + directory, errno);
    }
    if (!S_ISDIR(found.st_mode)) {
        return std::unexpected(directory + " is not a directory");
    }
    if (found.st_uid != ::geteuid()) {
        return std::unexpected(directory + " belongs to another user, who could replace files in it");
    }
    if ((found.st_mode & 077) != 0) {
        return std::unexpected("other users can read " + directory + ": name a new directory, or run chmod 700 on this one");
    }
    return {};
}

std::expected<void, std::string> write_whole(const std::string& path, const std::string& content) {
    const std::string temporary = path + ".tmp";
    if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) {
        return failed("cannot remove " + temporary, errno);
    }
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        return failed("cannot write " + path, errno);
    }
    std::string_view left = content;
    int error = 0;
    while (!left.empty() && error == 0) {
        const ssize_t written = ::write(file, left.data(), left.size());
        if (written >= 0) {
            left.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (::close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error == 0) {
        return {};
    }
    ::unlink(temporary.c_str());
    return failed("cannot write " + path, error);
}

}  // namespace

std::expected<void, std::string> write_files(const std::string& directory, const std::vector<MadeFile>& files, bool may_replace) {
    PARTITA_TRY(make_directory(directory));
    for (const MadeFile& file : files) {
        struct stat found{};
        const std::string path = directory + "/" + file.name;
        if (::lstat(path.c_str(), &found) != 0) {
            continue;
        }
        if (!may_replace) {
            return std::unexpected(
                path + " exists: --overwrite replaces all files, and clients with the old files can no longer log in");
        }
        if (!S_ISREG(found.st_mode)) {
            return std::unexpected(path + " is not a regular file: remove it");
        }
    }
    for (const MadeFile& file : files) {
        PARTITA_TRY(write_whole(directory + "/" + file.name, file.content));
    }
    return {};
}

}  // namespace partita::dev_security
