#pragma once

#include <optional>
#include <string>
#include <vector>

#include "broker/catalog/adopt_topics.h"
#include "storage/file_system.h"
#include "storage/log_directory.h"

namespace partita::runtime {

/// The cluster that a Kafka's data directory belongs to, of its meta.properties. Empty where there is none that can be
/// read.
[[nodiscard]] std::optional<std::string> kafka_cluster_id(FileSystem& file_system, const std::string& directory);

/// Topics whose partitions lie in a data directory without being known to its catalog.
struct FoundTopics {
    catalog::AdoptTopicsCommand command;
    /// Their settings are those that Kafka knew; otherwise they keep everything, as nobody knows what may be deleted.
    bool has_settings = false;
    /// "<topic>-<partition>": their topics have them and the directory does not.
    std::vector<std::string> missing;
    /// ACLs about what nobody here knows: they are not in the command.
    std::size_t unknown_acls = 0;
};

/// Looks at what nobody has claimed yet, and (`with_metadata`) at the `__cluster_metadata` of the Kafka that wrote it, if
/// that is there too. What is of no topic in the answer stays unclaimed: topics that Kafka had deleted, and directories that
/// are only named like partitions (`backup-20261121`).
[[nodiscard]] StorageResult<FoundTopics> find_topics(FileSystem& file_system, const LogDirectory& logs, bool with_metadata);

}  // namespace partita::runtime
