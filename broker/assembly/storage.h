#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "broker/assembly/ephemeral_directory.h"
#include "broker/config/broker_config.h"
#include "broker/runtime/loop/start_error.h"
#include "schedule/executor.h"
#include "storage/file_system.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"
#include "storage/metadata_store.h"

namespace partita::runtime {

/// The data directory of a broker, open: its logs, their files, the metadata store, and the worker that syncs them.
struct Storage {
    struct Options {
        /// The data directory lives in memory and is removed at the end.
        bool ephemeral = false;
        /// What logs and fences are written with, the real one when null. Tests let it fail. Outlives the broker.
        FileSystem* file_system = nullptr;
        /// LMDB has its files for itself: tests let it fail here.
        MetadataStoreOptions metadata_store;
    };

    /// Opens and recovers what is there. Blocks on the disk. The log says what recovery found.
    [[nodiscard]] static std::expected<std::unique_ptr<Storage>, StartError> open(const config::BrokerConfig& config,
                                                                                  const Options& options, const Schedule& schedule);
    explicit Storage(FileSystem* given) : file_system(given == nullptr ? real_file_system : *given) {}

    PosixFileSystem real_file_system;
    FileSystem& file_system;
    /// Destroyed last: what was open in it is closed by then.
    std::optional<EphemeralDirectory> ephemeral_directory;
    std::string directory;
    /// The same as an absolute path.
    std::string absolute_directory;
    std::unique_ptr<OpenFiles> open_files;
    std::unique_ptr<LogDirectory> logs;
    std::unique_ptr<MetadataStore> metadata_store;
    std::unique_ptr<LogFlusher> flusher;

  private:
    [[nodiscard]] std::expected<void, StartError> choose_directory(const config::BrokerConfig& config, bool ephemeral);
    [[nodiscard]] std::expected<void, StartError> open_logs(const config::BrokerConfig& config, TimestampMs now);
    void report_recovery() const;
    /// What a log is called in the metadata store that an older version named by its directory.
    [[nodiscard]] std::string keyed_log_name_of(std::string_view directory) const;
};

}  // namespace partita::runtime
