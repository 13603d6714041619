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

/// What all logs of a data directory share. Outlives every log.
struct LogEnvironment {
    FileSystem& file_system;
    OpenFiles& open_files;
    /// The data directory; a partition lives in `<directory>/<topic>-<partition>/`.
    std::string directory;
    /// A power failure may take the data directory's own name: it is new, or its broker was killed. The first sync that
    /// makes the name of a partition durable sees to it, so that no start waits for the device.
    mutable std::atomic<bool> name_unsynced = false;
    /// Called when the directory of a partition was made, before anything is written: the checkpoint files may still tell
    /// of an earlier topic of its name, which a start must not believe. Does not wait for a device.
    std::function<StorageResult<void>(const std::string& topic, PartitionIndex partition)> disown_predecessor;

    /// Makes the names in the data directory durable, and its own. Blocks on the device.
    [[nodiscard]] StorageResult<void> sync_names() const;
};

/// What all partitions of a topic share; one allocation per topic.
struct LogTopic {
    std::string name;
    TopicId id;
};

/// What the parts of one PartitionLog work on: the log itself for its callers, LogAppender, LogRecovery, LogSync and LogCleaning.
/// Made by the log and as old as it; no others should use it.
///
/// `append_mutex` is held through the write (the kernel serialises writers of a file anyway), `view_mutex` for a few
/// instructions, so readers never wait for a disk. What readers look at is written with both held, so that who holds either of
/// them may read it: clang is told of the second way by the functions `..._for_appender`.
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

    // Sound: nobody writes these without append_mutex.
    [[nodiscard]] bool is_closed_for_appender() const REQUIRES(append_mutex) NO_THREAD_SAFETY_ANALYSIS { return closed; }
    [[nodiscard]] const std::shared_ptr<const LogConfig>& config_for_appender() const
        REQUIRES(append_mutex) NO_THREAD_SAFETY_ANALYSIS {
        return config;
    }

    const LogEnvironment& environment;
    /// Set once more at most, while a start claims the log and nobody else knows it.
    std::shared_ptr<const LogTopic> topic;
    const PartitionIndex partition;

    /// Offsets; written with append_mutex held, read without.
    std::atomic<std::int64_t> log_start{0};
    std::atomic<std::int64_t> log_end{0};
    std::atomic<std::int64_t> last_stable{0};
    std::atomic<std::int64_t> recovered{0};
    /// Likewise; that of the newest record.
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
