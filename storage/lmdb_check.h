#pragma once

#include <cstdint>
#include <string>

#include "storage/storage_error.h"

namespace partita {

/// What an LMDB file says about itself.
struct LmdbFileSummary {
    std::uint32_t page_size = 0;
    std::uint64_t file_size_bytes = 0;
    std::uint64_t map_size_bytes = 0;
    /// Highest page in use.
    std::uint64_t last_page = 0;
    std::uint64_t transaction = 0;
    /// Pages that the walk looked at; 0 when it was not asked for.
    std::uint64_t checked_pages = 0;
};

/// Judges an LMDB 0.9 data file of this machine's byte order before LMDB maps it, because LMDB trusts
/// what it maps: a file that was cut off ends in SIGBUS, a wrong offset in a page in a wild read.
///
/// Always: both meta pages are whole and of the known format, and the file is as long as the newer one
/// says. With `walk_pages` also every page that can be reached (trees, overflow runs, free list) is
/// read and checked: it is inside the file, is used once, carries its own number, its nodes lie inside
/// of it, keys ascend, and counts agree. After that LMDB can walk and change the file without leaving it.
/// Contents of values are not judged: they carry their own checksums.
///
/// Layout: mdb.c of LMDB 0.9 (MDB_page, MDB_node, MDB_db, MDB_meta), stable since 2013.
/// Errors: `corrupt` with the page and the reason, `newer_format` for another LMDB format, `io`.
[[nodiscard]] StorageResult<LmdbFileSummary> check_lmdb_file(const std::string& path, bool walk_pages);

}  // namespace partita
