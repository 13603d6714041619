#include "broker/runtime/upkeep/compactor.h"

#include <algorithm>

#include "broker/config/log_setup.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/upkeep/keyed_logs.h"
#include "protocol/random_bytes.h"
#include "storage/log_cleaner.h"

namespace partita::runtime {
namespace {

/// The shortest pause, even if log.cleaner.backoff.ms is shorter.
constexpr std::int64_t kShortestBackoffMs = 10;

}  // namespace

void Compactor::start() {
    if (config_->log_cleaner_enable) {
        next_look_ = next_look();
        worker_ = schedule_.executor.start("compactor", [this] { return step(); });
    }
}

void Compactor::stop() {
    stopping_ = true;
    worker_.reset();
}

Instant Compactor::next_look() const {
    return schedule_.clock.now().monotonic + std::max(kShortestBackoffMs, config_->log_cleaner_backoff_ms);
}

Instant Compactor::step() {
    if (const Now now = schedule_.clock.now(); next_look_ <= now.monotonic) {
        run_pass(now);
        next_look_ = next_look();
    }
    return next_look_;
}

void Compactor::run_pass(Now now) {
    std::vector<Candidate> candidates = find_candidates(now);
    if (candidates.empty()) {
        return;
    }
    // After a crash, recovery uses the recovery points to tell our compacted logs from foreign ones.
    if (auto written = logs_.write_checkpoints(); !written) {
        log::warning("compaction", "put off compaction, because the checkpoint files could not be written",
                     {{"reason", written.error().message}});
        return;
    }
    std::ranges::sort(candidates, std::ranges::greater{},
                      [](const Candidate& candidate) { return candidate.range.dirty_ratio(); });
    for (const Candidate& candidate : candidates) {
        if (is_stopping()) {
            return;
        }
        clean(candidate, now);
    }
    if (auto written = logs_.write_cleaner_checkpoint(); !written) {
        log::warning("compaction", "could not write the cleaner checkpoint", {{"reason", written.error().message}});
    }
}

std::vector<Compactor::Candidate> Compactor::find_candidates(Now now) const {
    std::vector<Candidate> candidates;
    const std::vector<std::shared_ptr<PartitionLog>> keyed_logs = keyed_logs_.logs();
    topics_.table()->for_each([&](const logs::TopicState& state) {
        if (!state.config->cleanup_compact) {
            return;
        }
        for (const std::shared_ptr<logs::Partition>& partition : state.partitions) {
            const std::shared_ptr<PartitionLog>& partition_log = partition->log;
            if (!partition_log->has_files() || damaged_.contains(partition_log->directory_name())) {
                continue;
            }
            Candidate candidate{.log = partition_log, .keep_from = {std::numeric_limits<std::int64_t>::max()}};
            if (std::ranges::find(keyed_logs, partition_log) != keyed_logs.end()) {
                candidate.keep_from = keyed_logs_.folded_until(*partition_log);
            }
            auto range = partition_log->dirty_range(now.wall, candidate.keep_from);
            if (!range) {
                continue;  // The log was deleted meanwhile, or its files cannot be opened. The next pass looks again.
            }
            candidate.range = *range;
            if (range->is_worth_cleaning(state.config->min_cleanable_dirty_ratio)) {
                candidates.push_back(std::move(candidate));
            }
        }
    });
    return candidates;
}

void Compactor::clean(const Candidate& candidate, Now now) {
    PartitionLog& partition_log = *candidate.log;
    const auto config = config_.get();
    CleaningOptions options{.now = now.wall, .keep_from = candidate.keep_from};
    options.key_limits = {.memory_bytes = static_cast<std::size_t>(config->log_cleaner_dedupe_buffer_size),
                          .load_factor = config->log_cleaner_io_buffer_load_factor};
    options.key_secrets = random_value<KeyOffsets::Secrets>();
    options.write_bytes = static_cast<std::size_t>(std::max(1, config->log_cleaner_io_buffer_size));
    options.may_go_on = [this] { return !is_stopping(); };
    const auto cleaned = partition_log.clean(options);
    if (!cleaned) {
        switch (cleaned.error().kind) {
            case StorageError::Kind::closed:
                return;
            case StorageError::Kind::sync_failed:
                fail_stop(cleaned.error());
            case StorageError::Kind::corrupt:
                damaged_.insert(partition_log.directory_name());
                log::error("compaction", "a damaged log is not compacted until the next start",
                           {{"partition", partition_log.directory_name()}, {"reason", cleaned.error().message}});
                return;
            case StorageError::Kind::io:
            case StorageError::Kind::locked:
            case StorageError::Kind::newer_format:
                log::warning("compaction", "compaction failed and will be tried again",
                             {{"partition", partition_log.directory_name()}, {"reason", cleaned.error().message}});
                return;
        }
    }
    log::info("compaction", "compacted a log",
              {{"partition", partition_log.directory_name()},
               {"from", cleaned->first_dirty.value},
               {"until", cleaned->clean_until.value},
               {"keys", cleaned->keys},
               {"segments_before", cleaned->segments_before},
               {"segments_after", cleaned->segments_after},
               {"bytes_before", cleaned->bytes_before},
               {"bytes_after", cleaned->bytes_after},
               {"records_before", cleaned->records_before},
               {"records_after", cleaned->records_after},
               {"took_ms", schedule_.clock.now().monotonic.value - now.monotonic.value}});
}

}  // namespace partita::runtime
