#pragma once

#include <string>
#include <vector>

#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {

/// The writing half of a PartitionLog: turns staged batches into published ones. The caller holds
/// append_mutex for the whole life of this object.
class LogAppender {
  public:
    /// The most batches in one gathered write.
    static constexpr std::size_t kMaximumPieces = 1024;

    explicit LogAppender(PartitionLogState& state);

    /// Writes all staged batches, publishes the written ones, and resolves the group.
    void write_staged(WriteBreadth breadth);
    /// Gives up all staged batches.
    void fail_staged(std::string message);
    /// Makes a new active segment at the log end. The directory must exist.
    [[nodiscard]] StorageResult<void> roll(TimestampMs now);
    /// Prepares everything that a write needs: the directory, a first segment, and a clean tail.
    [[nodiscard]] StorageResult<void> prepare(TimestampMs now);
    /// Computes the last stable offset from the open transactions and the log end, and publishes it. Only while nothing is
    /// staged: staged batches have changed their producers already. Readers would otherwise see records of an aborted transaction
    /// before the index knows it.
    void publish_last_stable_offset();
    /// Called after the log start moved: raises the last stable offset to it, if it is below.
    void raise_last_stable_offset();

  private:
    /// The number of staged batches from `first` on that the active segment can take. 0: roll first.
    [[nodiscard]] std::size_t choose_run(std::size_t first) const REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> write_run(std::size_t first, std::size_t count, WriteBreadth breadth)
        REQUIRES(state_.core.append_mutex);
    void publish_run(std::size_t first, std::size_t count, std::uint64_t position) REQUIRES(state_.core.append_mutex);
    /// Begins a leader epoch with its first batch.
    void begin_epoch(const StagedBatch& batch) REQUIRES(state_.core.append_mutex, state_.core.view_mutex);
    /// Undoes the staged batches from `first` on and resolves the group.
    void finish(std::size_t first, AppendError error) REQUIRES(state_.core.append_mutex);
    [[nodiscard]] StorageResult<void> make_directory() REQUIRES(state_.core.append_mutex);
    void cut_tail(File& file) REQUIRES(state_.core.append_mutex);
    /// Bounds the aborted transactions in memory, however rarely the log is synced.
    void write_many_aborted() REQUIRES(state_.core.append_mutex);

    PartitionLogState& state_;
    const LogConfig& config_;
};

}  // namespace partita
