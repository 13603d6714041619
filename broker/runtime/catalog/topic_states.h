#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "broker/config/current_config.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/settings/topic_settings.h"
#include "storage/log_directory.h"

namespace partita::runtime {

class Fences;

/// Topics that are about to be created or to grow, by id, with the logs of their new partitions.
using ClaimedTopics = std::map<TopicId, std::shared_ptr<const logs::TopicState>>;

/// Makes the `TopicState` for a topic of the catalog: settings, logs, and the state of its growth. The catalog calls this with
/// its lock held, so calls never overlap.
class TopicStates {
  public:
    TopicStates(const config::CurrentConfig& config, LogDirectory& logs, Fences& fences)
        : config_(config), logs_(logs), fences_(fences) {}

    /// From now on `source` adds its steps to every new state. Call this before the first state; the source outlives the last
    /// one.
    void add_step_source(logs::TopicStepSource& source) { step_sources_.push_back(&source); }

    /// The catalog calls this once all topics found at the start have their states. Topics after that are new.
    void serve() { is_serving_ = true; }

    /// The state of a new topic, or of one that has grown: it shares the partitions of `before` (null for a new topic) and gives
    /// the others their logs. If it cannot get one of these, it fails and claims none.
    [[nodiscard]] StorageResult<std::shared_ptr<const logs::TopicState>> make(const catalog::TopicPointer& topic,
                                                                              const logs::TopicState* before, Now now);
    /// The state of a topic whose settings changed; its partitions are those of `before`.
    [[nodiscard]] std::shared_ptr<const logs::TopicState> remake(const catalog::TopicPointer& topic,
                                                                 const logs::TopicState& before, Now now);
    /// The state of the same topic with its growth watched, whatever its mode.
    [[nodiscard]] std::shared_ptr<const logs::TopicState> watched(const logs::TopicState& before, Now now);

    /// Gives the new partitions of a change their logs. False if a directory is in the way that cannot be moved; nothing is
    /// claimed then.
    [[nodiscard]] bool claim(const catalog::Effects& effects, const logs::TopicTable& before, ClaimedTopics& claimed, Now now);
    /// Takes back the logs that `claim` gave, because the change will not happen.
    void release(ClaimedTopics& claimed, const logs::TopicTable& before);

    // Announces topics that will be deleted. Call this first, then write the record of the deletion. If that is written, call
    // `remove_logs` for each topic; call `conclude_removals` in any case. A start after a crash finishes removals that were
    // announced and recorded.
    void announce_removals(std::span<const TopicId> topics) { logs_.announce_removals(topics); }
    /// Closes the logs, even if other threads hold one. The upkeep thread removes their files later.
    void remove_logs(const logs::TopicState& topic);
    void conclude_removals(std::span<const TopicId> topics) { logs_.conclude_removals(topics); }

  private:
    void add_steps(logs::TopicState& state) const;
    [[nodiscard]] StorageResult<void> add_partitions(logs::TopicState& state, const std::shared_ptr<const LogConfig>& log_config);

    const config::CurrentConfig& config_;
    LogDirectory& logs_;
    Fences& fences_;
    std::vector<logs::TopicStepSource*> step_sources_;
    TopicSettingsTable settings_;
    bool is_serving_ = false;
    std::uint64_t next_partition_key_ = 1;
};

}  // namespace partita::runtime
