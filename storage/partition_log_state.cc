#include "storage/partition_log_state.h"

#include <algorithm>
#include <unordered_set>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/producer_snapshot.h"

namespace partita {

std::optional<TailPositions::Entry> TailPositions::find(Offset offset) const {
    const std::size_t kept = std::min(count_, kBatches);
    for (std::size_t back = 1; back <= kept; ++back) {
        const Entry& entry = entries_[(count_ - back) % kBatches];
        if (entry.base_offset <= offset) {
            return entry;
        }
    }
    return std::nullopt;
}

std::size_t LogView::segment_index_for(Offset offset) const {
    const auto later = std::ranges::upper_bound(segments, offset, {}, [](const auto& segment) { return segment->base_offset(); });
    return later == segments.begin() ? 0 : static_cast<std::size_t>(later - segments.begin()) - 1;
}

std::uint64_t LogView::total_bytes() const {
    std::uint64_t total = 0;
    for (const auto& segment : segments) {
        total += segment->size_bytes();
    }
    return total;
}

std::vector<std::shared_ptr<const AbortedIndex>> LogView::aborted_from(Offset offset) const {
    std::vector<std::shared_ptr<const AbortedIndex>> indexes;
    for (std::size_t i = segment_index_for(offset); i < segments.size(); ++i) {
        if (const auto& index = segments[i]->aborted()) {
            indexes.push_back(index);
        }
    }
    return indexes;
}

std::vector<ProducerEntry> PartitionLogState::published_producers() const {
    std::vector<ProducerEntry> entries = producers.entries();
    // A producer's first undo has its state before anything was staged.
    std::unordered_set<ProducerId> seen;
    for (const ProducerState::Undo& before : undo) {
        if (!seen.insert(before.producer_id).second) {
            continue;
        }
        const auto at = std::ranges::lower_bound(entries, before.producer_id, {}, &ProducerEntry::producer_id);
        const bool is_known = at != entries.end() && at->producer_id == before.producer_id;
        if (is_known && before.entry) {
            *at = *before.entry;
        } else if (is_known) {
            entries.erase(at);
        } else if (before.entry) {
            entries.insert(at, *before.entry);
        }
    }
    return entries;
}

bool PartitionLogState::is_useful_snapshot(std::size_t index) const {
    // Kafka looks for snapshots at the start of a segment.
    const Offset at = snapshots[index];
    if (std::ranges::binary_search(shown_for_appender().segments, at, {},
                                   [](const auto& segment) { return segment->base_offset(); })) {
        return true;
    }
    // Recovery takes the newest snapshot at or below the recovery point that is on file, now or at a later time. The snapshot
    // before it stays too: snapshots are not synced, and one is always whole.
    return index + 2 >= snapshots.size() || snapshots[index + 2] > recovery_point_on_file;
}

StorageResult<void> PartitionLogState::write_snapshot(FileSystem& file_system, Offset log_end) {
    if (!snapshots.empty() && snapshots.back() == log_end) {
        return {};
    }
    if (producers.empty() && snapshots.empty()) {
        return {};
    }
    const auto bytes = encode_producer_snapshot(published_producers());
    const auto path = [&](Offset at) { return join_path(*directory, segment_file_name(at, ".snapshot")); };
    PARTITA_TRY(replace_file(file_system, path(log_end), bytes, false));
    PARTITA_ASSERT(snapshots.empty() || snapshots.back() < log_end, "a log only grows");
    snapshots.push_back(log_end);
    names_unsynced = true;
    std::vector<Offset> kept;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        if (is_useful_snapshot(i) || !file_system.remove(path(snapshots[i]))) {
            kept.push_back(snapshots[i]);
        }
    }
    snapshots = std::move(kept);
    return {};
}

StorageResult<void> PartitionLogState::write_epochs(FileSystem& file_system) {
    if (!epochs_unwritten) {
        return {};
    }
    const std::string text = shown_for_appender().epochs.to_text();
    // The write is durable, because recovery does not walk below the recovery point again. An epoch begins rarely.
    auto written = replace_file(file_system, join_path(*directory, kLeaderEpochFileName), as_bytes(text), true);
    if (written) {
        epochs_unwritten = false;
    }
    return written;
}

StorageResult<void> PartitionLogState::write_aborted(Segment& segment) {
    PARTITA_TRY_ASSIGN(const auto written, segment.write_aborted());
    names_unsynced = names_unsynced || written;
    return {};
}

std::string partition_metadata_text(const TopicId& id) { return "version: 0\ntopic_id: " + id.to_string() + "\n"; }

std::optional<TopicId> parse_partition_metadata(std::string_view text) {
    constexpr std::string_view kPrefix = "version: 0\ntopic_id: ";
    if (!text.starts_with(kPrefix)) {
        return std::nullopt;
    }
    text.remove_prefix(kPrefix.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
        text.remove_suffix(1);
    }
    TopicId id;
    if (!Uuid::parse(text, id)) {
        return std::nullopt;
    }
    return id;
}

}  // namespace partita
