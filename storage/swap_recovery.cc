#include "storage/swap_recovery.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "protocol/try.h"
#include "storage/log_cleaner.h"
#include "storage/segment.h"

namespace partita {
namespace {

class SwapRecovery {
  public:
    SwapRecovery(FileSystem& file_system, const std::string& directory) : file_system_(file_system), directory_(directory) {}

    StorageResult<std::uint64_t> run() {
        PARTITA_TRY_ASSIGN(auto entries, file_system_.list(directory_));
        for (DirectoryEntry& entry : entries) {
            names_.push_back(std::move(entry.name));
        }
        const std::int64_t first_cleaned = lowest_base_of(kCleanedSuffix);
        for (const std::string& name : names_) {
            const auto base = base_of(name, ".log", kSwapSuffix);
            if (!base) {
                continue;
            }
            PARTITA_TRY(base->value >= first_cleaned ? remove_swap(*base) : finish(*base));
        }
        PARTITA_TRY(finish_renames(first_cleaned));
        for (const std::string& name : names_) {
            if (name.ends_with(kTemporarySuffix) || name.ends_with(kDeletedFileSuffix) || name.ends_with(kCleanedSuffix)) {
                PARTITA_TRY(remove(name));
            }
        }
        if (has_changed_) {
            PARTITA_TRY(file_system_.sync_directory(directory_));
        }
        return finished_;
    }

  private:
    static constexpr std::string_view kExtensions[] = {".index", ".timeindex", ".txnindex", ".log"};

    static std::optional<Offset> base_of(std::string_view name, std::string_view extension, std::string_view suffix) {
        if (!name.ends_with(suffix)) {
            return std::nullopt;
        }
        return parse_segment_file_name(name.substr(0, name.size() - suffix.size()), extension);
    }

    std::int64_t lowest_base_of(std::string_view suffix) const {
        std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
        for (const std::string& name : names_) {
            for (const std::string_view extension : kExtensions) {
                if (const auto base = base_of(name, extension, suffix)) {
                    lowest = std::min(lowest, base->value);
                }
            }
        }
        return lowest;
    }

    bool exists(const std::string& name) const { return std::ranges::find(names_, name) != names_.end(); }

    StorageResult<void> remove(const std::string& name) {
        has_changed_ = true;
        return file_system_.remove(join_path(directory_, name));
    }

    StorageResult<void> remove_swap(Offset base) {
        for (const std::string_view extension : kExtensions) {
            PARTITA_TRY(remove(segment_file_name(base, extension) + std::string(kSwapSuffix)));
        }
        return {};
    }

    /// The offset behind the last batch of a swap.
    StorageResult<Offset> end_of(Offset base) {
        const std::string path = join_path(directory_, segment_file_name(base, ".log") + std::string(kSwapSuffix));
        PARTITA_TRY_ASSIGN(auto file, file_system_.open(path, OpenMode::read_only));
        PARTITA_TRY_ASSIGN(const auto size, file->size());
        HeaderWalk walk(*file, 0, size);
        Offset end = base;
        while (true) {
            auto placed = walk.next();
            // The swap was synced before it got this name, so the disk has damaged it. The segments that it replaces must stay.
            if (!placed) {
                return std::unexpected(corrupt_error(path, placed.error().message));
            }
            if (!*placed) {
                return end;
            }
            end = (*placed)->header.next_offset();
        }
    }

    StorageResult<void> finish(Offset base) {
        PARTITA_TRY_ASSIGN(const auto end, end_of(base));
        for (const std::string& name : names_) {
            for (const std::string_view extension : kExtensions) {
                const auto other = parse_segment_file_name(name, extension);
                if (!other || *other <= base || *other >= end) {
                    continue;
                }
                PARTITA_TRY(remove(name));
            }
        }
        ++finished_;
        return rename_all(base);
    }

    /// Renames the log last: while it has its suffix the swap is not finished.
    StorageResult<void> rename_all(Offset base) {
        for (const std::string_view extension : kExtensions) {
            const std::string name = segment_file_name(base, extension);
            const std::string swap = name + std::string(kSwapSuffix);
            StorageResult<void> done;
            if (exists(swap)) {
                done = rename(swap, name);
            } else if (extension == ".index" || extension == ".timeindex") {
                // A file with this name may be the old segment's; a missing index is made anew.
                done = remove(name);
            }
            PARTITA_TRY(done);
        }
        return {};
    }

    StorageResult<void> rename(const std::string& from, const std::string& to) {
        has_changed_ = true;
        return file_system_.rename(join_path(directory_, from), join_path(directory_, to));
    }

    /// Renames the indexes of logs that have their final name already: Kafka renames the log first.
    StorageResult<void> finish_renames(std::int64_t first_cleaned) {
        for (const std::string& name : names_) {
            for (const std::string_view extension : {kExtensions[0], kExtensions[1], kExtensions[2]}) {
                const auto base = base_of(name, extension, kSwapSuffix);
                if (!base || exists(segment_file_name(*base, ".log") + std::string(kSwapSuffix))) {
                    continue;
                }
                PARTITA_TRY(base->value >= first_cleaned ? remove(name) : rename(name, segment_file_name(*base, extension)));
            }
        }
        return {};
    }

    FileSystem& file_system_;
    const std::string& directory_;
    std::vector<std::string> names_;
    bool has_changed_ = false;
    std::uint64_t finished_ = 0;
};

}  // namespace

StorageResult<std::uint64_t> finish_swaps(FileSystem& file_system, const std::string& directory) {
    return SwapRecovery(file_system, directory).run();
}

}  // namespace partita
