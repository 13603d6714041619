#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "protocol/mutex.h"
#include "protocol/types.h"
#include "storage/file_system.h"
#include "storage/log_config.h"
#include "storage/open_files.h"
#include "storage/storage_error.h"

namespace partita {

class PartitionLogState;

/// State shared by all logs of a data directory. Outlives every log.
struct LogEnvironment {
    FileSystem& file_system;
    OpenFiles& open_files;
    /// The data directory; a partition lives in `<directory>/<topic>-<partition>/`.
    std::string directory;
    /// A power failure may take the data directory's own name, because the directory is new or its broker was killed. The first
    /// sync that makes a partition's name durable also syncs this name, so that no start waits for the device.
    mutable std::atomic<bool> name_unsynced = false;
    /// Called when the directory of a partition was made, before anything is written. The checkpoint files may still describe an
    /// earlier topic of its name, which a start must not believe. Does not wait for a device.
    std::function<StorageResult<void>(const std::string& topic, PartitionIndex partition)> disown_predecessor;

    /// Makes the names in the data directory durable, and the directory's own name. Blocks on the device.
    [[nodiscard]] StorageResult<void> sync_names() const;
};

/// State shared by all partitions of a topic; one allocation per topic.
struct LogTopic {
    std::string name;
    TopicId id;
};

/// The state that the parts of one PartitionLog share: the log itself, LogAppender, LogRecovery, LogSync and LogCleaning. The log
/// makes it and keeps it for its whole life; no other class should use it.
///
/// A writer holds `append_mutex` through the write (the kernel serialises writers of a file anyway). It holds `view_mutex` for a
/// few instructions, so readers never wait for a disk. Fields that readers look at are written with both held, so the holder of
/// either may read them. The functions `..._for_appender` tell clang of reads under `append_mutex`.
struct LogCore {
    LogCore(const LogEnvironment& log_environment, std::shared_ptr<const LogTopic> log_topic, PartitionIndex log_partition,
            std::shared_ptr<const LogConfig> log_config)
        : environment(log_environment), topic(std::move(log_topic)), partition(log_partition), config(std::move(log_config)) {}
    ~LogCore();
    LogCore(const LogCore&) = delete;
    LogCore& operator=(const LogCore&) = delete;

    [[nodiscard]] Offset log_start_offset() const { return {log_start.load(std::memory_order_acquire)}; }
    [[nodiscard]] Offset log_end_offset() const { return {log_end.load(std::memory_order_acquire)}; }
    [[nodiscard]] Offset last_stable_offset() const { return {last_stable.load(std::memory_order_acquire)}; }
    [[nodiscard]] Offset recovery_point() const { return {recovered.load(std::memory_order_acquire)}; }
    [[nodiscard]] LeaderEpoch latest_leader_epoch() const { return {latest_epoch.load(std::memory_order_acquire)}; }
    /// "<topic>-<partition>".
    [[nodiscard]] std::string directory_name() const;
    [[nodiscard]] std::string directory_path() const;

    // Sound: these fields change only with append_mutex held.
    [[nodiscard]] bool is_closed_for_appender() const REQUIRES(append_mutex) NO_THREAD_SAFETY_ANALYSIS { return closed; }
    [[nodiscard]] const std::shared_ptr<const LogConfig>& config_for_appender() const
        REQUIRES(append_mutex) NO_THREAD_SAFETY_ANALYSIS {
        return config;
    }

    const LogEnvironment& environment;
    /// Set at most once more, when a start claims the log and no other thread knows it.
    std::shared_ptr<const LogTopic> topic;
    const PartitionIndex partition;

    /// Offsets; written with append_mutex held, read without.
    std::atomic<std::int64_t> log_start{0};
    std::atomic<std::int64_t> log_end{0};
    std::atomic<std::int64_t> last_stable{0};
    std::atomic<std::int64_t> recovered{0};
    /// Likewise; the leader epoch of the newest record.
    std::atomic<std::int32_t> latest_epoch{kNoLeaderEpoch.value};

    mutable Mutex append_mutex{LockRank::log_append};
    mutable Mutex view_mutex{LockRank::log_view};
    // Written with append_mutex held too.
    std::shared_ptr<const LogConfig> config GUARDED_BY(view_mutex);
    bool closed GUARDED_BY(view_mutex) = false;
    /// Set once, under both mutexes, by the first append or by a recovery; then stable. Owned.
    std::atomic<PartitionLogState*> state{nullptr};
};

}  // namespace partita
