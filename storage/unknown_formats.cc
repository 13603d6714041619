#include "storage/unknown_formats.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "protocol/big_endian.h"
#include "protocol/legacy_records.h"
#include "protocol/try.h"
#include "storage/batch_scan.h"
#include "storage/segment.h"

namespace partita {
namespace {

/// True if a batch of format 2, or an entry of an older one, lies there whose magic alone is damaged.
StorageResult<bool> has_damaged_magic(File& file, const BadEntry& bad) {
    std::array<std::byte, kBatchHeaderBytes> bytes{};
    PARTITA_TRY_ASSIGN(const auto read, file.read_at(bad.position, bytes));
    for (int magic = kCurrentMagic; magic >= 0; --magic) {
        bytes[kBatchMagicPlace] = static_cast<std::byte>(magic);
        const auto header = parse_log_header(Bytes(bytes).first(read));
        if (!header || header->size_bytes() > bad.end - bad.position) {
            continue;
        }
        PARTITA_TRY_ASSIGN(const auto crc, batch_checksum(file, bad.position, *header));
        if (crc == header->crc) {
            return true;
        }
    }
    return false;
}

/// The beginning of an entry of any format.
struct Head {
    Offset offset;
    std::uint64_t end = 0;
    std::int8_t magic = 0;
};

/// Empty if no entry that could follow begins at `position`.
StorageResult<std::optional<Head>> head_at(File& file, std::uint64_t position, const BadEntry& bad) {
    std::array<std::byte, kBatchMagicPlace + 1> bytes;
    PARTITA_TRY_ASSIGN(const auto read, file.read_at(position, bytes));
    if (position + bytes.size() > bad.end || read < bytes.size()) {
        return std::nullopt;
    }
    const Head head{.offset = {load_big_endian<std::int64_t>(bytes.data())},
                    .end = position + kBatchPrefixBytes + load_big_endian<std::uint32_t>(bytes.data() + sizeof(std::int64_t)),
                    .magic = load_big_endian<std::int8_t>(bytes.data() + kBatchMagicPlace)};
    const bool is_plausible = head.offset >= bad.expected &&
                              head.offset - bad.expected <= std::numeric_limits<std::int32_t>::max() &&
                              head.end >= position + kLegacyEntryBytesMin && head.end <= bad.end;
    return is_plausible ? std::optional(head) : std::nullopt;
}

StorageResult<bool> begins_later_format(File& file, const BadEntry& bad) {
    PARTITA_TRY_ASSIGN(const auto head, head_at(file, bad.position, bad));
    if (!head || head->magic <= kCurrentMagic || head->magic > kLaterMagicMax) {
        return false;
    }
    PARTITA_TRY_ASSIGN(const auto is_damaged, has_damaged_magic(file, bad));
    if (is_damaged || head->end == bad.end) {
        return !is_damaged;
    }
    PARTITA_TRY_ASSIGN(const auto next, head_at(file, head->end, bad));
    return next && next->magic == head->magic && next->offset > head->offset;
}

}  // namespace

StorageResult<bool> is_current_but_for_magic(File& file, const PlacedBatch& entry, Bytes head) {
    std::array<std::byte, kBatchHeaderBytes> bytes;
    if (head.size() < bytes.size()) {
        return false;
    }
    std::ranges::copy(head.first(bytes.size()), bytes.begin());
    bytes[kBatchMagicPlace] = std::byte{kCurrentMagic};
    const auto header = parse_batch_header(bytes);
    constexpr int kUnusedBits =
        ~(BatchAttributes::kCodecMask | BatchAttributes::kLogAppendTimeBit | BatchAttributes::kTransactionalBit |
          BatchAttributes::kControlBit | BatchAttributes::kDeleteHorizonBit);
    // A time or a size of an entry lies where a batch has its attributes and counts.
    const bool may_be_current = header && (header->attributes.bits & kUnusedBits) == 0 && header->last_offset_delta >= 0 &&
                                header->record_count >= 0 && header->record_count - 1 <= header->last_offset_delta;
    if (!may_be_current) {
        return false;
    }
    PARTITA_TRY_ASSIGN(const auto crc, batch_checksum(file, entry.position, *header));
    return crc == header->crc;
}

StorageResult<void> refuse_later_format(File& file, const BadEntry& bad) {
    PARTITA_TRY_ASSIGN(const auto is_later, begins_later_format(file, bad));
    if (!is_later) {
        return {};
    }
    return std::unexpected(StorageError{
        StorageError::Kind::newer_format, 0,
        bad.path + " has an unknown message format at position " + std::to_string(bad.position) +
            "; this version knows the formats 0, 1 and 2: use a newer version, or move the directory of the partition away"});
}

StorageResult<void> refuse_unknown_magic(File& file, const BadEntry& bad) {
    std::byte magic{};
    PARTITA_TRY_ASSIGN(const auto read, file.read_at(bad.position + kBatchMagicPlace, MutableBytes(&magic, 1)));
    PARTITA_TRY_ASSIGN(const auto is_damaged, has_damaged_magic(file, bad));
    if (read == 0 || std::to_integer<int>(magic) <= kCurrentMagic || is_damaged) {
        return {};
    }
    return std::unexpected(StorageError{StorageError::Kind::newer_format, 0,
                                        bad.path +
                                            " holds no record of a message format that this version knows (0, 1 and 2); move "
                                            "the directory away if it is no partition"});
}

StorageResult<void> refuse_later_formats(FileSystem& file_system, const std::string& directory, Offset read_from) {
    PARTITA_TRY_ASSIGN(const auto entries, file_system.list(directory));
    std::vector<Offset> bases;
    for (const DirectoryEntry& entry : entries) {
        if (const auto base = parse_segment_file_name(entry.name, ".log")) {
            bases.push_back(*base);
        }
    }
    std::ranges::sort(bases);
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const bool is_last = i + 1 == bases.size();
        const bool is_read =
            read_from != Offset{std::numeric_limits<std::int64_t>::max()} && (is_last || bases[i + 1] > read_from);
        BadEntry place{.path = join_path(directory, segment_file_name(bases[i], ".log")), .expected = bases[i]};
        PARTITA_TRY_ASSIGN(auto file, file_system.open(place.path, OpenMode::read_only));
        PARTITA_TRY_ASSIGN(place.end, file->size());
        HeaderWalk walk(*file, 0, place.end);
        while (true) {
            const auto placed = walk.next();
            if (!placed && placed.error().kind != StorageError::Kind::corrupt) {
                return std::unexpected(placed.error());
            }
            if (!placed) {
                PARTITA_TRY(refuse_later_format(*file, place));
            }
            if (!placed || !*placed || !is_read) {
                break;
            }
            place.position = (*placed)->position + (*placed)->header.size_bytes();
            place.expected = std::max(place.expected, (*placed)->header.next_offset());
        }
    }
    return {};
}

}  // namespace partita
