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

/// All coordinators of one kind, for callers that do not care what they decide: catalog, upkeep, timers, start and stop.
///
/// Life cycle:
/// - `attach` and `load` at a start where their topic exists
/// - `attach` and `serve` when the topic is created later
/// - `forget_all` when the topic is deleted; after that it may be attached again
/// - `detach` at the end
class CoordinatorHost {
  public:
    virtual ~CoordinatorHost() = default;

    /// Sets up one shard for each partition of the topic, for `load` or `serve`. Called when the topic exists, and again when it
    /// was deleted and recreated. False if the recreated topic has another number of partitions: that needs a restart.
    [[nodiscard]] virtual bool attach(std::span<const std::shared_ptr<logs::Partition>> partitions) = 0;
    /// Rebuilds all shards from checkpoint and log. Blocks on the disk; for the start.
    [[nodiscard]] virtual StorageResult<void> load(Now now) = 0;
    /// Serves a topic that was created just now and has no checkpoint. Shards with empty logs begin at once. A shard with records
    /// (a user put a directory there) begins after maintenance has rebuilt it. Needs no disk.
    virtual void serve(Now now) = 0;
    /// Forgets everything, because the topic was deleted. All waiting requests are answered NOT_COORDINATOR; requests that come
    /// meanwhile find no log and fail.
    virtual void forget_all(Now now) = 0;
    /// Releases everything, before the logs are destroyed.
    virtual void detach() = 0;
    [[nodiscard]] virtual bool is_attached() const = 0;

    /// Rebuilds the shards that lost a write, or that `serve` left to it. Blocks on the disk, so maintenance calls it. False if a
    /// shard could not be read and needs another try.
    [[nodiscard]] virtual bool rebuild_lost() = 0;
    /// Forgets the state about another topic, which was deleted. `turn` is null outside the reactors.
    virtual void topic_deleted(logs::Turn* turn, const coordination::TopicDeleted& event, Now now) = 0;
    /// Runs the timers that are due. The first reactor calls this.
    virtual void tick(logs::Turn& turn, Now now) = 0;
    /// Unset if no timer is pending.
    [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;
    /// Appends transaction markers to the log of this partition, in order and by one write, and tells the partition's core which
    /// transactions ended. It holds the shard's lock, so that the core sees markers and records in the order of the log.
    /// `errors`, one per marker, gets the outcomes as in OutwardWriteOutcome. The caller must notify the partition's readers.
    virtual void write_markers(const logs::Partition& partition, std::span<const coordination::OutwardWrite> markers,
                               TimestampMs now, std::span<ErrorCode> errors) = 0;
    /// Answers all waiting requests with NOT_COORDINATOR, at shutdown.
    virtual void fail_waiting(logs::Turn& turn) = 0;
};

/// The coordinators of a broker, by kind and so by topic (catalog/internal_topics.h). It also tells them when topics come and go.
/// It is filled while the broker is made; afterwards any thread may read it.
class CoordinatorHosts final : public logs::TopicsListener {
  public:
    void add(catalog::CoordinatorKind kind, CoordinatorHost& host) { hosts_.emplace_back(kind, &host); }

    [[nodiscard]] std::span<const std::pair<catalog::CoordinatorKind, CoordinatorHost*>> all() const { return hosts_; }
    /// The coordinators whose topic has this name; null for every other topic.
    [[nodiscard]] CoordinatorHost* find(std::string_view topic) const;
    /// The coordinators of this kind, which must have been added.
    [[nodiscard]] CoordinatorHost& of(catalog::CoordinatorKind kind) const;

    /// Rebuilds the coordinators whose topic exists already. Blocks on the disk; called once at the start, before requests come.
    /// Topics that the catalog found until then are read here; `on_topics_changed` does not serve them.
    ///
    /// `removals` were announced and may have been deleted. The process may have died after it wrote a deletion and before it
    /// told the coordinators.
    [[nodiscard]] std::expected<void, StartError> load(const logs::TopicTable& table, std::span<const TopicId> removals, Now now);
    /// Makes the coordinators of a deleted topic forget everything, before any coordinator hears which other topics the same
    /// change deleted. Lets the coordinators of a created topic serve it.
    void on_topics_changed(const logs::TopicsChange& change) override;

  private:
    void serve(const logs::TopicState& topic, Now now);
    /// Tells the coordinators that own the topic.
    void forget(const catalog::Topic& topic, Now now);
    /// Tells all other coordinators.
    void topic_deleted(const catalog::Topic& topic, logs::Turn* turn, Now now);

    std::vector<std::pair<catalog::CoordinatorKind, CoordinatorHost*>> hosts_;
    /// Only the thread that starts the broker writes this, before other threads exist.
    bool is_loaded_ = false;
};

}  // namespace partita::runtime
