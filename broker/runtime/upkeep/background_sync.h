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

/// Has the flusher sync what was acknowledged from the page cache, and checkpoint all logs, of which the checkpoint files tell
/// when that is done.
class BackgroundSync final : public UpkeepTask {
  public:
    /// Data that was acknowledged from the page cache reaches the disk at most about this much later, unless the device is
    /// slower: the window that a power failure can cost. flush.ms of a topic shortens it (ShortFlushes).
    static constexpr std::int64_t kIntervalMs = 1000;
    /// As many bytes behind the recovery points on file make a checkpoint due before its interval is over, so that what the start
    /// after a crash has to read is bounded by bytes too: at the rate of a disk, a second or less.
    static constexpr std::uint64_t kCheckpointBytes = 512 * 1024 * 1024;
    /// How often the task looks, while data comes, whether there are so many.
    static constexpr std::int64_t kLookMs = 200;

    BackgroundSync(const config::CurrentConfig& config, LogDirectory& logs, LogFlusher& flusher, UpkeepBell& bell)
        : config_(config), logs_(logs), flusher_(flusher), bell_(bell) {}

    void begin(Instant now) override;
    [[nodiscard]] Instant next_due() const override;
    void hear(const UpkeepBell::Heard& heard, Instant now) override;
    void note_writes(Instant now) override;
    /// False while a sync is pending, which finds further writes anyway.
    [[nodiscard]] bool hears_writes() const override { return !sync_.pending; }
    void run_due(Now now) override;

  private:
    void sync(Instant now);
    /// Makes a checkpoint due when there is enough for it.
    bool checkpoint_if_much(Instant now);
    /// Asks the flusher to checkpoint every log. When it has, the bell brings `finish_checkpoint`.
    void begin_checkpoint();
    /// Writes the checkpoint files, which tell the next start of it.
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
    /// The last checkpoint failed. The next one then waits for its interval, even if kCheckpointBytes makes one due: a disk that
    /// fails is not asked again at once.
    bool checkpoint_failed_ = false;
};

}  // namespace partita::runtime
