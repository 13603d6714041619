#include "storage/aborted_transactions.h"

#include <algorithm>
#include <utility>

#include "protocol/big_endian.h"
#include "protocol/try.h"

namespace partita {
namespace {

/// The number of entries in one read.
constexpr std::size_t kReadEntries = 1024;

}  // namespace

void AbortedTransaction::encode(std::byte* to) const {
    store_big_endian(to, std::int16_t{0});
    store_big_endian(to + 2, producer_id.value);
    store_big_endian(to + 10, first_offset.value);
    store_big_endian(to + 18, last_offset.value);
    store_big_endian(to + 26, last_stable_offset.value);
}

std::optional<AbortedTransaction> AbortedTransaction::decode(Bytes bytes) {
    if (bytes.size() < kEncodedBytes || load_big_endian<std::int16_t>(bytes.data()) != 0) {
        return std::nullopt;
    }
    return AbortedTransaction{.producer_id = {load_big_endian<std::int64_t>(bytes.data() + 2)},
                              .first_offset = {load_big_endian<std::int64_t>(bytes.data() + 10)},
                              .last_offset = {load_big_endian<std::int64_t>(bytes.data() + 18)},
                              .last_stable_offset = {load_big_endian<std::int64_t>(bytes.data() + 26)}};
}

AbortedIndex::AbortedIndex(OpenFiles& open_files, std::string path, Offset base_offset)
    : file_(open_files, std::move(path), AbortedTransaction::kEncodedBytes), base_offset_(base_offset) {}

StorageResult<AbortedIndex::Loaded> AbortedIndex::load(bool is_durable, Offset next_base, Offset trusted_end) {
    PARTITA_TRY_ASSIGN(auto count, file_.load(is_durable));
    Loaded loaded;
    Offset known_until = base_offset_;
    std::size_t kept = 0;
    bool is_cut = false;
    while (kept < count && !is_cut) {
        const std::size_t n = std::min(kReadEntries, count - kept);
        PARTITA_TRY_ASSIGN(const auto bytes, file_.read_range(kept, n));
        for (std::size_t i = 0; i < n && !is_cut; ++i) {
            const auto entry = AbortedTransaction::decode(Bytes(bytes).subspan(i * AbortedTransaction::kEncodedBytes));
            const bool is_plausible = entry && entry->last_offset >= known_until && entry->last_offset < next_base &&
                                      entry->first_offset >= Offset{0} && entry->first_offset < entry->last_offset;
            is_cut = !is_plausible || entry->last_offset >= trusted_end;
            if (!is_plausible) {
                loaded.damaged_from = known_until;
            }
            if (is_cut) {
                break;
            }
            ++kept;
            last_offset_ = entry->last_offset;
            known_until = last_offset_ + 1;
        }
    }
    // The beginning of an entry at the end of the file also has to be cut off.
    PARTITA_TRY_ASSIGN(const auto whole, file_.is_whole());
    if (!whole && !is_cut) {
        loaded.damaged_from = known_until;
    }
    if (!is_cut && whole) {
        return loaded;
    }
    PARTITA_TRY(file_.truncate(kept));
    // The cut must be durable: entries that came back would be believed for other records.
    PARTITA_TRY(file_.sync());
    return loaded;
}

void AbortedIndex::add(const AbortedTransaction& transaction) {
    if (last_offset_ >= transaction.last_offset) {
        return;
    }
    std::byte entry[AbortedTransaction::kEncodedBytes];
    transaction.encode(entry);
    file_.append(entry);
    last_offset_ = transaction.last_offset;
}

StorageResult<std::vector<AbortedTransaction>> AbortedIndex::read_some(std::size_t first) const {
    std::vector<AbortedTransaction> entries;
    const std::size_t count = file_.count();
    if (first >= count) {
        return entries;
    }
    const std::size_t n = std::min(kReadEntries, count - first);
    PARTITA_TRY_ASSIGN(const auto bytes, file_.read_range(first, n));
    entries.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto entry = AbortedTransaction::decode(Bytes(bytes).subspan(i * AbortedTransaction::kEncodedBytes));
        if (!entry) {
            return std::unexpected(corrupt_error(file_.path(), "an entry of another version"));
        }
        entries.push_back(*entry);
    }
    return entries;
}

StorageResult<std::size_t> AbortedIndex::count_before(Offset offset) const {
    std::byte last[AbortedTransaction::kEncodedBytes];
    const auto ends_before = [offset](const std::byte* entry) {
        return load_big_endian<std::int64_t>(entry + 18) < offset.value;
    };
    PARTITA_TRY_ASSIGN(const auto found, file_.find_last(ends_before, last));
    return found ? *found + 1 : 0;
}

StorageResult<void> AbortedIndex::truncate(Offset end) {
    if (last_offset_ < end) {
        return {};
    }
    PARTITA_TRY_ASSIGN(const auto count, count_before(end));
    PARTITA_TRY(file_.truncate(count));
    PARTITA_TRY(file_.sync());
    // The next entry ends at or behind `end`.
    last_offset_ = end - 1;
    return {};
}

StorageResult<bool> AbortedIndex::collect(Offset from, Offset to, std::vector<AbortedTransaction>& found) const {
    PARTITA_TRY_ASSIGN(std::size_t next, count_before(from));
    while (true) {
        PARTITA_TRY_ASSIGN(const auto entries, read_some(next));
        if (entries.empty()) {
            return false;
        }
        for (const AbortedTransaction& entry : entries) {
            if (entry.last_offset >= from && entry.first_offset < to) {
                found.push_back(entry);
            }
            if (entry.last_stable_offset >= to) {
                return true;
            }
        }
        next += entries.size();
    }
}

StorageResult<std::vector<AbortedTransaction>> aborted_between(std::span<const std::shared_ptr<const AbortedIndex>> indexes,
                                                               Offset from, Offset to) {
    std::vector<AbortedTransaction> found;
    for (const auto& index : indexes) {
        PARTITA_TRY_ASSIGN(const auto is_done, index->collect(from, to, found));
        if (is_done) {
            break;
        }
    }
    return found;
}

}  // namespace partita
