#pragma once

#include <expected>
#include <functional>
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

namespace partita::assembly {

/// The open data directory of a broker: its logs, their files, the metadata store, and the worker that syncs them.
struct Storage {
    struct Options {
        /// True for a data directory in memory that is removed at the end.
        bool ephemeral = false;
        /// Such a directory of an earlier broker of this process, to go on in; null for a new one. It is moved from.
        std::optional<EphemeralDirectory>* kept = nullptr;
        /// Makes the directory ready once its place is known, before anything in it is opened; empty for nothing to do.
        std::function<std::expected<void, runtime::StartError>(const std::string& directory)> prepare = {};
        /// The file system for logs and fences; null for the real one. It outlives the broker. Tests make it fail.
        FileSystem* file_system = nullptr;
        /// Options of the metadata store. LMDB does not use `file_system`, so tests make it fail here.
        MetadataStoreOptions metadata_store;
    };

    /// Opens the directory and recovers its contents. Blocks on the disk. Logs what recovery found.
    [[nodiscard]] static std::expected<std::unique_ptr<Storage>, runtime::StartError> open(const config::BrokerConfig& config,
                                                                                           const Options& options,
                                                                                           const Schedule& schedule);
    explicit Storage(FileSystem* given) : file_system(given == nullptr ? real_file_system : *given) {}

    PosixFileSystem real_file_system;
    FileSystem& file_system;
    /// Destroyed after everything that is open in the directory.
    std::optional<EphemeralDirectory> ephemeral_directory;
    std::string directory;
    /// `directory` as an absolute path.
    std::string absolute_directory;
    std::unique_ptr<OpenFiles> open_files;
    std::unique_ptr<LogDirectory> logs;
    std::unique_ptr<MetadataStore> metadata_store;
    std::unique_ptr<LogFlusher> flusher;

  private:
    [[nodiscard]] std::expected<void, runtime::StartError> choose_directory(const config::BrokerConfig& config,
                                                                            const Options& options);
    [[nodiscard]] std::expected<void, runtime::StartError> open_logs(const config::BrokerConfig& config, TimestampMs now);
    void report_recovery() const;
    /// The name in the metadata store for a log that an older version named by its directory.
    [[nodiscard]] std::string keyed_log_name_of(std::string_view directory) const;
};

}  // namespace partita::assembly
