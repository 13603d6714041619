#pragma once

#include <optional>
#include <string>
#include <vector>

#include "broker/catalog/adopt_topics.h"
#include "storage/file_system.h"
#include "storage/log_directory.h"

namespace partita::runtime {

/// The id of the cluster that a Kafka's data directory belongs to, from its meta.properties. Empty if that file is missing or
/// unreadable.
[[nodiscard]] std::optional<std::string> kafka_cluster_id(FileSystem& file_system, const std::string& directory);

/// Topics with partitions in a data directory that are not in its catalog.
struct FoundTopics {
    catalog::AdoptTopics command;
    /// True if the settings come from Kafka's metadata. Otherwise the topics keep all records, because nothing tells which may be
    /// deleted.
    bool has_settings = false;
    /// "<topic>-<partition>": partitions of these topics that the directory lacks.
    std::vector<std::string> missing;
    /// The number of ACLs about resources that this broker does not know; the command leaves them out.
    std::size_t unknown_acls = 0;
};

/// Finds topics among the unclaimed directories, and (`with_metadata`) in the `__cluster_metadata` of the Kafka that wrote the
/// directory, if it is there. Directories without a topic in the result stay unclaimed: topics that Kafka had deleted, and
/// directories that only look like partitions (`backup-20261121`).
[[nodiscard]] StorageResult<FoundTopics> find_topics(FileSystem& file_system, const LogDirectory& logs, bool with_metadata);

}  // namespace partita::runtime
