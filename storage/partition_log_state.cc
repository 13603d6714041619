#include "storage/partition_log_state.h"

#include <algorithm>

#include "storage/producer_snapshot.h"

namespace partita {

std::optional<TailPositions::Entry> TailPositions::find(Offset offset) const {
    const std::size_t kept = std::min(count_, kBatches);
    for (std::size_t back = 1; back <= kept; ++back) {
        const Entry& entry = entries_[(count_ - back) % kBatches];
        if (entry.base_offset <= offset) return entry;
    }
    return std::nullopt;
}

std::size_t PartitionLogState::segment_index_for(Offset offset) const {
    const auto later = std::ranges::upper_bound(segments, offset, {}, [](const auto& segment) {
        return segment->base_offset();
    });
    return later == segments.begin() ? 0 : static_cast<std::size_t>(later - segments.begin()) - 1;
}

std::uint64_t PartitionLogState::total_bytes() const {
    std::uint64_t total = 0;
    for (const auto& segment : segments) total += segment->size_bytes();
    return total;
}

StorageResult<void> PartitionLogState::write_snapshot(FileSystem& file_system, Offset offset) {
    if (!snapshots.empty() && snapshots.back() == offset) return {};
    // A log that never saw a producer needs no snapshots: an empty state is rebuilt from nothing.
    if (producers.empty() && snapshots.empty()) return {};
    const auto bytes = encode_producer_snapshot(producers.entries());
    const auto path = [&](Offset at) { return join_path(*directory, segment_file_name(at, ".snapshot")); };
    if (auto written = replace_file(file_system, path(offset), bytes, false); !written) return written;
    std::erase(snapshots, offset);
    snapshots.push_back(offset);
    names_unsynced = true;
    // The newest two suffice: one is always whole. Those that begin a kept segment stay too, as Kafka
    // looks for them there.
    const auto is_useful = [&](Offset at) {
        if (std::ranges::find(snapshots.end() - std::min<std::ptrdiff_t>(2, std::ssize(snapshots)), snapshots.end(),
                              at) != snapshots.end()) {
            return true;
        }
        return std::ranges::any_of(segments, [&](const auto& segment) { return segment->base_offset() == at; });
    };
    std::vector<Offset> kept;
    for (const Offset at : snapshots) {
        if (is_useful(at) || !file_system.remove(path(at))) kept.push_back(at);
    }
    snapshots = std::move(kept);
    return {};
}

StorageResult<void> PartitionLogState::write_epochs(FileSystem& file_system) {
    if (!epochs_unwritten) return {};
    const std::string text = epochs.to_text();
    // Durable, since what is below the recovery point is not walked again; an epoch begins rarely.
    auto written = replace_file(file_system, join_path(*directory, kLeaderEpochFileName), as_bytes(text), true);
    if (written) epochs_unwritten = false;
    return written;
}

StorageResult<std::vector<std::shared_ptr<File>>> PartitionLogState::write_aborted(FileSystem& file_system) {
    std::vector<std::shared_ptr<File>> written_files;
    for (const AbortedTransaction& transaction : aborted.unwritten()) {
        // Rare enough to open the file each time.
        const Segment& home = *segments[segment_index_for(transaction.last_offset)];
        const std::string path = join_path(*directory, segment_file_name(home.base_offset(), ".txnindex"));
        auto file = file_system.open(path, OpenMode::create);
        if (!file) return std::unexpected(std::move(file.error()));
        const auto size = (*file)->size();
        if (!size) return std::unexpected(size.error());
        std::byte entry[AbortedTransaction::kEncodedBytes];
        transaction.encode(entry);
        const Bytes piece(entry);
        const std::uint64_t whole = *size - *size % AbortedTransaction::kEncodedBytes;
        if (auto written = (*file)->write_at(whole, std::span(&piece, 1)); !written) {
            return std::unexpected(std::move(written.error()));
        }
        written_files.push_back(std::move(*file));
        names_unsynced = true;
    }
    // All or none: one that is written again is recognised by recovery.
    aborted.mark_written();
    return written_files;
}

std::string partition_metadata_text(const TopicId& id) { return "version: 0\ntopic_id: " + id.to_string() + "\n"; }

std::optional<TopicId> parse_partition_metadata(std::string_view text) {
    constexpr std::string_view kPrefix = "version: 0\ntopic_id: ";
    if (!text.starts_with(kPrefix)) return std::nullopt;
    text.remove_prefix(kPrefix.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    TopicId id;
    if (!Uuid::parse(text, id)) return std::nullopt;
    return id;
}

}  // namespace partita
