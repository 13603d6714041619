// The broker serves a directory that a real Kafka wrote as it is: its topics with their ids, settings and records, and the
// offsets that groups committed.

#include "broker/runtime/catalog/topic_adoption.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "broker/catalog/internal_topics.h"
#include "broker/catalog/kafka_metadata.h"
#include "protocol/record_batch.h"
#include "protocol/try.h"

namespace partita::runtime {
namespace {

constexpr std::size_t kLargestPropertiesBytes = 64 * 1024;
/// Kafka rolls its metadata segments at 1 GiB at the latest.
constexpr std::size_t kLargestMetadataBytes = (std::size_t{1} << 30) + (std::size_t{64} << 20);
/// The limit for a topic known only from its directories: the most partitions that Kafka creates in one request. A user's own
/// directory may look like a partition, `backup-20261121`.
constexpr std::int32_t kUnknownPartitionsMax = 10'000;
constexpr std::string_view kMetadataDirectory = "__cluster_metadata-0";
/// The file that `kafka-storage format` leaves for a Kafka whose metadata has not begun (KIP-900 puts users there).
constexpr std::string_view kFormatted = "bootstrap.checkpoint";
constexpr std::string_view kSnapshotSuffix = ".checkpoint";
constexpr std::string_view kSegmentSuffix = ".log";

/// The offset at the beginning of a file's name; empty for other names.
std::optional<Offset> offset_in(std::string_view name) {
    constexpr std::size_t kDigits = 20;
    Offset offset{0};
    if (name.size() < kDigits) {
        return std::nullopt;
    }
    const auto parsed = std::from_chars(name.data(), name.data() + kDigits, offset.value);
    return parsed.ec == std::errc{} && parsed.ptr == name.data() + kDigits ? std::optional(offset) : std::nullopt;
}

/// Takes all records of a file at or above `from`. Records after a torn batch were never committed.
StorageResult<void> read_metadata_file(FileSystem& file_system, const std::string& path, Offset from,
                                       catalog::KafkaMetadata& metadata) {
    PARTITA_TRY_ASSIGN(const auto content, read_whole_file(file_system, path, kLargestMetadataBytes));
    BatchCursor cursor(as_bytes(content));
    while (cursor.next()) {
        const Batch& batch = cursor.batch();
        if (batch.header.attributes.is_control() || batch.header.last_offset() < from) {
            continue;
        }
        bool understood = check_crc(batch);
        const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
            understood = understood && (record.offset < from || !record.value || metadata.apply(*record.value));
            return understood;
        });
        if (!walked || !understood) {
            return std::unexpected(
                corrupt_error(path, "cannot read a record at or after offset " + std::to_string(batch.header.base_offset.value)));
        }
    }
    return {};
}

/// Reads the newest snapshot and the segments behind it. Empty if no Kafka left any.
StorageResult<std::optional<catalog::KafkaMetadata>> read_kafka_metadata(FileSystem& file_system, const std::string& directory) {
    const auto entries = file_system.list(directory);
    if (!entries) {
        if (entries.error().is_not_found()) {
            return std::nullopt;
        }
        return std::unexpected(entries.error());
    }
    catalog::KafkaMetadata metadata;
    bool found = false;
    Offset from{0};
    std::optional<std::string> snapshot;
    for (const DirectoryEntry& entry : *entries) {
        // Ascending by name and so by offset.
        if (const auto end = offset_in(entry.name); end && entry.name.ends_with(kSnapshotSuffix)) {
            snapshot = entry.name;
            from = *end;
        }
    }
    if (snapshot) {
        found = true;
        PARTITA_TRY(read_metadata_file(file_system, join_path(directory, *snapshot), Offset{0}, metadata));
    }
    for (const DirectoryEntry& entry : *entries) {
        if (!offset_in(entry.name) || !entry.name.ends_with(kSegmentSuffix)) {
            continue;
        }
        found = true;
        PARTITA_TRY(read_metadata_file(file_system, join_path(directory, entry.name), from, metadata));
    }
    return found ? std::optional(std::move(metadata)) : std::nullopt;
}

/// Reads the users of a directory that was formatted for a Kafka but never served by one. Empty if it has none.
StorageResult<std::map<std::string, catalog::ConfigMap>> read_formatted_users(FileSystem& file_system,
                                                                              const std::string& directory) {
    catalog::KafkaMetadata metadata;
    if (auto read = read_metadata_file(file_system, join_path(directory, kFormatted), Offset{0}, metadata); !read) {
        if (!read.error().is_not_found()) {
            return std::unexpected(read.error());
        }
    }
    return metadata.access().scram_credentials();
}

/// The configs for a topic whose settings are unknown.
catalog::ConfigMap cautious_configs(std::string_view topic) {
    if (const catalog::InternalTopic* internal = catalog::find_internal_topic(topic);
        internal != nullptr && internal->coordinator) {
        return {internal->configs.begin(), internal->configs.end()};
    }
    return {{"retention.ms", "-1"}};
}

std::string directory_of(std::string_view topic, std::int32_t partition) {
    return std::string(topic) + "-" + std::to_string(partition);
}

struct FoundPartitions {
    /// By partition. The ids may be those of different topics with one name.
    std::map<std::int32_t, TopicId> ids;
    bool has_segments = false;

    [[nodiscard]] std::int32_t last() const { return ids.rbegin()->first; }
    /// True if a broker made at least one of them: a directory has a topic id or a segment, even an empty one. Brokers before
    /// Kafka 2.8 wrote no ids.
    [[nodiscard]] bool are_partitions() const {
        return has_segments || std::ranges::any_of(ids, [](const auto& partition) { return !partition.second.is_zero(); });
    }
};

void add_known_topic(FoundTopics& found, catalog::KafkaMetadata::Topic topic, const FoundPartitions& partitions) {
    for (std::int32_t index = 0; index < topic.partition_count; ++index) {
        if (!partitions.ids.contains(index)) {
            found.missing.push_back(directory_of(topic.name, index));
        }
    }
    found.command.topics.push_back({topic.name, topic.id, topic.partition_count, std::move(topic.configs)});
}

void add_unknown_topic(FoundTopics& found, const std::string& name, const FoundPartitions& partitions) {
    if (!partitions.are_partitions() || partitions.last() >= kUnknownPartitionsMax) {
        return;
    }
    const std::int32_t count = partitions.last() + 1;
    const auto named = std::ranges::find_if(partitions.ids, [](const auto& partition) { return !partition.second.is_zero(); });
    const TopicId topic_id = named == partitions.ids.end() ? TopicId{} : named->second;
    for (std::int32_t index = 0; index < count; ++index) {
        if (!partitions.ids.contains(index)) {
            found.missing.push_back(directory_of(name, index));
        }
    }
    found.command.topics.push_back({name, topic_id, count, cautious_configs(name)});
}

}  // namespace

std::optional<std::string> kafka_cluster_id(FileSystem& file_system, const std::string& directory) {
    const auto text = read_whole_file(file_system, join_path(directory, "meta.properties"), kLargestPropertiesBytes);
    if (!text) {
        return std::nullopt;
    }
    constexpr std::string_view kKey = "cluster.id=";
    for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        std::string_view line = std::string_view(*text).substr(begin, end - begin);
        begin = end + 1;
        if (line.starts_with(kKey)) {
            line.remove_prefix(kKey.size());
            line = line.substr(0, line.find('\r'));
            Uuid parsed;
            return Uuid::parse(line, parsed) ? std::optional<std::string>(line) : std::nullopt;
        }
    }
    return std::nullopt;
}

StorageResult<FoundTopics> find_topics(FileSystem& file_system, const LogDirectory& logs, bool with_metadata) {
    FoundTopics found;
    std::map<std::string, FoundPartitions> by_name;
    for (const LogDirectory::Unclaimed& partition : logs.unclaimed()) {
        if (partition.topic != catalog::kClusterMetadataTopicName) {
            FoundPartitions& partitions = by_name[partition.topic];
            partitions.ids[partition.partition.value] = partition.topic_id;
            partitions.has_segments = partitions.has_segments || partition.has_segments;
        }
    }
    PARTITA_TRY_ASSIGN(auto metadata, with_metadata ? read_kafka_metadata(file_system, join_path(logs.path(), kMetadataDirectory))
                                                    : StorageResult<std::optional<catalog::KafkaMetadata>>{});
    // Until its own metadata has begun, a Kafka uses the values that it was formatted with.
    if (with_metadata && !(metadata && metadata->has_begun())) {
        PARTITA_TRY_ASSIGN(found.command.scram_credentials, read_formatted_users(file_system, logs.path()));
    }
    if (!metadata) {
        for (const auto& [name, partitions] : by_name) {
            add_unknown_topic(found, name, partitions);
        }
        return found;
    }
    found.has_settings = true;
    found.command.next_producer_id = metadata->next_producer_id();
    if (metadata->has_begun()) {
        const catalog::KafkaAccess& access = metadata->access();
        found.command.scram_credentials = access.scram_credentials();
        found.command.acls = access.acls();
        found.command.delegation_tokens = access.delegation_tokens();
        found.unknown_acls = access.unknown_acls();
    }
    for (catalog::KafkaMetadata::Topic& topic : metadata->topics()) {
        // A topic without any directory is on another disk or broker. Serving it as empty would be wrong.
        if (const auto partitions = by_name.find(topic.name); partitions != by_name.end()) {
            add_known_topic(found, std::move(topic), partitions->second);
        } else {
            found.missing.push_back(directory_of(topic.name, 0));
        }
    }
    return found;
}

}  // namespace partita::runtime
