#pragma once

#include <cstdint>
#include <optional>

#include "broker/config/current_config.h"
#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/upkeep/job.h"
#include "protocol/mutex.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"

namespace partita::runtime {

/// Has the flusher sync data that was acknowledged from the page cache, and checkpoint all logs. The checkpoint files are written
/// after the flusher has finished.
class BackgroundSync final : public UpkeepTask {
  public:
    /// Upper bound, approximately, on when acknowledged data reaches the disk from the page cache, unless the device is slower.
    /// This is the window that a power failure can cost. A topic's flush.ms shortens it (ShortFlushes).
    static constexpr std::int64_t kIntervalMs = 1000;
    /// A checkpoint becomes due early once this many bytes lie past the recovery points on file. This bounds what the start after
    /// a crash reads by bytes as well as time: a second or less at disk speed.
    static constexpr std::uint64_t kCheckpointBytes = 512 * 1024 * 1024;
    /// How often the task checks `kCheckpointBytes` while data comes.
    static constexpr std::int64_t kLookMs = 200;

    BackgroundSync(const config::CurrentConfig& config, LogDirectory& logs, LogFlusher& flusher, UpkeepBell& bell)
        : config_(config), logs_(logs), flusher_(flusher), bell_(bell) {}

    void begin(Instant now) override;
    [[nodiscard]] Instant next_due() const override;
    void hear(const UpkeepBell::Heard& heard, Instant now) override;
    void note_writes(Instant now) override;
    /// False while a sync is pending, because that sync finds further writes anyway.
    [[nodiscard]] bool hears_writes() const override { return !sync_.pending; }
    void run_due(Now now) override;

  private:
    void sync(Instant now);
    /// Makes a checkpoint due if `kCheckpointBytes` are reached.
    bool checkpoint_if_much(Instant now);
    /// Asks the flusher to checkpoint every log. When the flusher is done, the bell triggers `finish_checkpoint`.
    void begin_checkpoint();
    /// Writes the checkpoint files, which the next start reads.
    void finish_checkpoint(const StorageResult<void>& checkpointed, Instant now);

    const config::CurrentConfig& config_;
    LogDirectory& logs_;
    LogFlusher& flusher_;
    UpkeepBell& bell_;

    Mutex mutex_{LockRank::maintenance};
    /// The outcome of the flusher's checkpoint, until `finish_checkpoint` takes it.
    std::optional<StorageResult<void>> checkpointed_ GUARDED_BY(mutex_);

    Job sync_;
    Job look_;
    Job checkpoint_;
    bool checkpoint_running_ = false;
    /// The last checkpoint failed. The next one then waits for its interval, even if `kCheckpointBytes` makes one due. This keeps
    /// the task from hammering a failing disk.
    bool checkpoint_failed_ = false;
};

}  // namespace partita::runtime
