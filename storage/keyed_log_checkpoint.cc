#include "storage/keyed_log_checkpoint.h"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/keyed_log_reader.h"
#include "storage/last_values.h"

namespace partita {
namespace {

/// Where the part of the log begins that the store lacks. Fails when records between the two are gone.
StorageResult<Offset> tail_start(const PartitionLog& log, const MetadataStore& store, const KeyedLogOptions& options) {
    PARTITA_TRY_ASSIGN(const auto folded, store.folded_until(keyed_log_name(log)));
    const Offset start = log.log_start_offset();
    const Offset known = folded.value_or(Offset{0});
    if (known >= start) {
        return known;
    }
    if (!options.accept_missing_history) {
        return std::unexpected(corrupt_error(log.directory_path(), "the checkpoint of this log ends at offset " +
                                                                       std::to_string(known.value) + " and the log begins at " +
                                                                       std::to_string(start.value) +
                                                                       ": the records in between are lost"));
    }
    return start;
}

/// The records of one log that a fold has read and not yet stored.
struct HeldLog {
    std::string name;
    LastValues changes;
    Offset folded_until{0};
    bool has_news = false;
};

class Folder {
  public:
    Folder(MetadataStore& store, const KeyedLogOptions& options) : store_(store), options_(options) {}

    StorageResult<void> read(PartitionLog& log) {
        report_.logs.push_back({keyed_log_name(log), Offset{0}});
        PARTITA_TRY_ASSIGN(const auto from, tail_start(log, store_, options_));
        report_.logs.back().folded_until = from;
        if (from >= log.last_stable_offset()) {
            return {};
        }
        // The log is synced before the store, so the store is never ahead after a power cut.
        PARTITA_TRY_ASSIGN(const auto synced, log.sync());
        const Offset to = std::min(synced, log.last_stable_offset());
        PARTITA_ASSERT(from < to, "neither the log's durable end nor its last stable offset goes back");
        KeyedLogReader reader(log, from, to, options_);
        held_.push_back({keyed_log_name(log), {}, from, false});
        while (true) {
            PARTITA_TRY_ASSIGN(const auto more, reader.next_batch([&](const KeyedRecord& record) { return hold(record); }));
            HeldLog& held = held_.back();
            PARTITA_ASSERT(reader.position() >= held.folded_until, "a fold goes forward");
            // Batches with only markers or aborted records move the position too.
            held.has_news = held.has_news || reader.position() > held.folded_until;
            held.folded_until = reader.position();
            report_.logs.back().folded_until = reader.position();
            if (held_bytes_ >= options_.held_bytes) {
                PARTITA_TRY(store());
                held_.push_back({keyed_log_name(log), {}, reader.position(), false});
            }
            if (!more) {
                return {};
            }
        }
    }

    /// Commits the held records.
    StorageResult<void> store() {
        std::vector<std::vector<KeyedChange>> changes(held_.size());
        std::vector<LogFold> folds;
        for (std::size_t index = 0; index < held_.size(); ++index) {
            const HeldLog& held = held_[index];
            if (!held.has_news) {
                continue;
            }
            changes[index] = held.changes.ascending();
            folds.push_back({held.name, changes[index], held.folded_until});
            report_.changes += changes[index].size();
        }
        if (!folds.empty()) {
            PARTITA_TRY(store_.fold(folds));
            ++report_.transactions;
        }
        held_.clear();
        held_bytes_ = 0;
        return {};
    }

    [[nodiscard]] KeyedFoldReport take_report() { return std::move(report_); }

  private:
    StorageResult<void> hold(const KeyedRecord& record) {
        held_bytes_ += held_.back().changes.assign(record.key, record.value);
        ++report_.records;
        return {};
    }

    MetadataStore& store_;
    const KeyedLogOptions& options_;
    std::vector<HeldLog> held_;
    std::size_t held_bytes_ = 0;
    KeyedFoldReport report_;
};

}  // namespace

StorageResult<KeyedReplayReport> replay_keyed_log(const PartitionLog& log, MetadataStore& store, KeyedRecordVisitor visitor,
                                                  const KeyedLogOptions& options) {
    KeyedReplayReport report;
    PARTITA_TRY_ASSIGN(auto from, tail_start(log, store, options));
    const Offset end = log.log_end_offset();
    if (from > end) {
        const std::string name = keyed_log_name(log);
        const LogFold rewind{name, {}, end};
        PARTITA_TRY(store.fold(rewind));
        report.rewound_records = from - end;
        from = end;
    }

    StorageResult<void> visited;
    const auto loaded = store.load(keyed_log_name(log), [&](Bytes key, Bytes value) {
        visited = visitor({.key = key, .value = value});
        ++report.checkpoint_rows;
        return visited.has_value();
    });
    PARTITA_TRY(loaded);
    PARTITA_TRY(visited);

    report.tail_start = from;
    KeyedLogReader reader(log, from, end, options);
    const auto visit = [&](const KeyedRecord& record) {
        ++report.tail_records;
        return visitor(record);
    };
    bool has_more = true;
    while (has_more) {
        PARTITA_TRY_ASSIGN(has_more, reader.next_batch(visit));
    }
    report.tail_end = end;
    return report;
}

StorageResult<KeyedFoldReport> fold_keyed_logs(std::span<const std::shared_ptr<PartitionLog>> logs, MetadataStore& store,
                                               const KeyedLogOptions& options) {
    Folder folder(store, options);
    for (const auto& log : logs) {
        PARTITA_TRY(folder.read(*log));
    }
    PARTITA_TRY(folder.store());
    return folder.take_report();
}

}  // namespace partita
