#include "storage/found_logs.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "protocol/try.h"
#include "storage/partition_log_state.h"

namespace partita {
namespace {

constexpr std::size_t kLargestMetadata = 64 * 1024;

/// Calls `work(i)` for every i below `count`, on this many threads.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            work(i);
        }
    };
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) {
        helpers.emplace_back(run);
    }
    run();
    for (std::thread& helper : helpers) {
        helper.join();
    }
}

void open_partition(const LogEnvironment& environment, const CheckpointFiles::Offsets& offsets,
                    const OpenPartitionsOptions& options, OpenedPartition& partition) {
    auto topic = std::make_shared<LogTopic>();
    topic->name = partition.name.first;
    const std::string directory = join_path(environment.directory, directory_name_of(partition.name));
    auto metadata = read_whole_file(environment.file_system, join_path(directory, kPartitionMetadataFileName), kLargestMetadata);
    if (metadata) {
        const auto id = parse_partition_metadata(*metadata);
        if (id) {
            topic->id = *id;
        }
        // After a clean stop, or in a Kafka's directory, unreadable text counts as missing: the catalog's claim then decides.
        partition.is_cut_off = !id && !options.was_clean && !options.is_foreign;
    } else if (!metadata.error().is_not_found()) {
        partition.report = std::unexpected(std::move(metadata.error()));
        return;
    }
    partition.log =
        std::make_shared<PartitionLog>(environment, std::move(topic), PartitionIndex{partition.name.second}, options.config);
    PartitionLog::OpenHints hints = offsets.hints_for(partition.name);
    hints.clean = options.was_clean;
    hints.is_foreign = options.is_foreign;
    hints.was_taken_over = options.was_taken_over;
    hints.now = options.now;
    partition.report = partition.log->open_existing(hints);
}

}  // namespace

StorageResult<DirectoryListing> list_partitions(FileSystem& file_system, const std::string& directory) {
    PARTITA_TRY_ASSIGN(auto entries, file_system.list(directory));
    DirectoryListing listing;
    for (const DirectoryEntry& entry : entries) {
        if (!entry.is_directory) {
            continue;
        }
        if (is_deleted_directory(entry.name)) {
            listing.deleted.push_back(entry.name);
        } else if (auto name = parse_directory_name(entry.name)) {
            listing.partitions.push_back(std::move(*name));
        }
    }
    return listing;
}

std::vector<OpenedPartition> open_partitions(const LogEnvironment& environment, std::vector<PartitionName> names,
                                             const CheckpointFiles::Offsets& offsets, const OpenPartitionsOptions& options) {
    std::vector<OpenedPartition> opened;
    opened.reserve(names.size());
    for (PartitionName& name : names) {
        opened.push_back({.name = std::move(name), .log = nullptr, .report = RecoveryReport{}});
    }
    in_parallel(opened.size(), options.threads, [&](std::size_t i) { open_partition(environment, offsets, options, opened[i]); });
    return opened;
}

FoundFor found_for(const TopicId& found, bool is_cut_off, const TopicId& claiming, bool is_made_now) {
    if (is_cut_off) {
        return FoundFor::another_topic;
    }
    if (found == claiming || claiming.is_zero()) {
        return FoundFor::this_topic;
    }
    const bool may_be_unnamed = found.is_zero() && !is_made_now;
    return may_be_unnamed ? FoundFor::this_topic_unnamed : FoundFor::another_topic;
}

void FoundLogs::add_unreadable(PartitionName name, StorageError error, Offset log_start) {
    unreadable_.insert_or_assign(std::move(name), Unreadable{std::move(error), log_start});
}

const FoundLogs::Found* FoundLogs::find(const PartitionName& name) const {
    const auto found = logs_.find(name);
    return found == logs_.end() ? nullptr : &found->second;
}

const StorageError* FoundLogs::unreadable(const PartitionName& name) const {
    const auto found = unreadable_.find(name);
    return found == unreadable_.end() ? nullptr : &found->second.error;
}

void FoundLogs::erase(const PartitionName& name) {
    logs_.erase(name);
    unreadable_.erase(name);
}

bool FoundLogs::has_any_of(const std::string& topic) const {
    const auto is_of_it = [&](const auto& partitions) {
        const auto first = partitions.lower_bound({topic, 0});
        return first != partitions.end() && first->first.first == topic;
    };
    return is_of_it(logs_) || is_of_it(unreadable_);
}

OffsetCheckpoint FoundLogs::unreadable_log_starts() const {
    OffsetCheckpoint starts;
    for (const auto& [name, partition] : unreadable_) {
        if (partition.log_start != kNoOffset) {
            starts.emplace(name, partition.log_start);
        }
    }
    return starts;
}

void FoundLogs::believe_names() {
    for (auto& [name, found] : logs_) {
        found.is_cut_off = false;
    }
}

}  // namespace partita
