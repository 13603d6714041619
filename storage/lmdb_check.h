#pragma once

#include <cstdint>
#include <string>

#include "storage/storage_error.h"

namespace partita {

/// Figures that an LMDB file states about itself.
struct LmdbFileSummary {
    std::uint32_t page_size = 0;
    std::uint64_t file_size_bytes = 0;
    std::uint64_t map_size_bytes = 0;
    /// Highest page in use.
    std::uint64_t last_page = 0;
    std::uint64_t transaction = 0;
    /// Pages that the walk read; 0 without a walk.
    std::uint64_t checked_pages = 0;
};

/// Checks an LMDB 0.9 data file in this machine's byte order before LMDB maps it. LMDB trusts the mapped file: a file that was
/// cut off ends in SIGBUS, a wrong offset in a page ends in a wild read.
///
/// The check always tests that both meta pages are whole and of the known format, and that the file is as long as the newer one
/// says. With `walk_pages` it also reads every reachable page (trees, overflow runs, free list). Each page must lie inside the
/// file, be used once and carry its own number. Its nodes must lie inside it, its keys must ascend, and counts must agree. After
/// that LMDB can walk and change the file without leaving it. The check does not judge values: they carry their own checksums.
///
/// Layout: mdb.c of LMDB 0.9 (MDB_page, MDB_node, MDB_db, MDB_meta), stable since 2013.
/// Errors: `corrupt` with the page and the reason, `newer_format` for another LMDB format, `io`.
[[nodiscard]] StorageResult<LmdbFileSummary> check_lmdb_file(const std::string& path, bool walk_pages);

}  // namespace partita
