#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/catalog/internal_topics.h"
#include "broker/coordination/effects.h"
#include "broker/logs/partition.h"
#include "broker/logs/topics_listener.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/error_code.h"
#include "protocol/types.h"
#include "storage/storage_error.h"

namespace partita::logs {
class Turn;
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {

/// All coordinators of one kind, as those drive them who do not care what they decide: catalog, upkeep, timers, start and stop.
///
/// Life: `attach` and `load` at a start where their topic exists; `attach` and `serve` when it is made later; `forget_all` when
/// it is deleted, after which it may be attached again; `detach` at the end.
class CoordinatorHost {
  public:
    virtual ~CoordinatorHost() = default;

    /// Sets up one shard for each partition of the topic, for `load` or `serve`; called when it exists, and again when it was
    /// deleted and created anew. False when it then has another number of partitions: that needs a restart.
    [[nodiscard]] virtual bool attach(std::span<const std::shared_ptr<Partition>> partitions) = 0;
    /// Rebuilds all shards from checkpoint and log. Blocks on the disk: at start.
    [[nodiscard]] virtual StorageResult<void> load(Now now) = 0;
    /// Serves a topic that was made just now and has no checkpoint: shards whose logs are empty begin at once, others
    /// (a directory that somebody put there) when maintenance rebuilt them. Needs no disk.
    virtual void serve(Now now) = 0;
    /// Forgets everything, because the topic was deleted. Everybody who waits is told NOT_COORDINATOR; requests that come
    /// meanwhile find no log and fail.
    virtual void forget_all(Now now) = 0;
    /// Lets go of everything, before the logs go.
    virtual void detach() = 0;
    [[nodiscard]] virtual bool is_attached() const = 0;

    /// Rebuilds the shards that lost a write, or that `serve` left. Blocks on the disk: for maintenance. False when one
    /// could not be read and wants another try.
    [[nodiscard]] virtual bool rebuild_lost() = 0;
    /// Forgets what is kept of another topic, which was deleted. `turn` is null off the reactors.
    virtual void topic_deleted(logs::Turn* turn, const coordination::TopicDeleted& event, Now now) = 0;
    /// Runs the timers that are due. The first reactor calls this.
    virtual void tick(logs::Turn& turn, Now now) = 0;
    /// Unset when nothing waits.
    [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;
    /// Appends markers of transactions to the log of this partition, in their order and by one write, and tells its core which
    /// transactions ended: with the lock of its shard held, so that the core sees markers and records in the order of the log.
    /// `errors`: gets what became of each, as in OutwardWriteOutcome; as many as there are markers. Readers of the partition are
    /// the caller's to tell.
    virtual void write_markers(const Partition& partition, std::span<const coordination::OutwardWrite> markers, TimestampMs now,
                               std::span<ErrorCode> errors) = 0;
    /// Answers everything that waits with NOT_COORDINATOR, at shutdown.
    virtual void fail_waiting(logs::Turn& turn) = 0;
};

/// The coordinators of a broker, by their kind and so by their topic (topics/internal_topics.h), and what becomes of them when
/// topics come and go. Filled while the broker is made, then only read, by any thread.
class CoordinatorHosts final : public TopicsListener {
  public:
    void add(catalog::CoordinatorKind kind, CoordinatorHost& host) { hosts_.emplace_back(kind, &host); }

    [[nodiscard]] std::span<const std::pair<catalog::CoordinatorKind, CoordinatorHost*>> all() const { return hosts_; }
    /// Whose topic has this name. Null for every other topic.
    [[nodiscard]] CoordinatorHost* find(std::string_view topic) const;
    /// The coordinators of the kind, which must have been added.
    [[nodiscard]] CoordinatorHost& of(catalog::CoordinatorKind kind) const;

    /// Rebuilds those whose topic exists already. Blocks on the disk: once at the start, before requests come. What the catalog
    /// found until then is read here and not served by `on_topics_changed`. The process may have died within a deletion, after it
    /// was written and before these were told: `removals` were announced and may have been deleted.
    [[nodiscard]] std::expected<void, StartError> load(const TopicTable& table, std::span<const TopicId> removals, Now now);
    /// Makes the coordinators of a topic that was deleted forget everything, before any of them hears which other topics the same
    /// change deleted. Lets those of a topic that was made serve it.
    void on_topics_changed(const TopicsChange& change) override;

  private:
    void serve(const logs::TopicState& topic, Now now);
    /// Tells the coordinators whose topic it was.
    void forget(const catalog::Topic& topic, Now now);
    /// Tells all others.
    void topic_deleted(const catalog::Topic& topic, logs::Turn* turn, Now now);

    std::vector<std::pair<catalog::CoordinatorKind, CoordinatorHost*>> hosts_;
    /// Only the thread that starts the broker writes this, before there is any other.
    bool is_loaded_ = false;
};

}  // namespace partita::runtime
