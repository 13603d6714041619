#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "broker/config/current_config.h"
#include "broker/runtime/partitions/topic_table.h"
#include "broker/topics/catalog_core.h"
#include "schedule/clock.h"
#include "storage/log_directory.h"

namespace partita::runtime {

class Fences;
class PublishedTopics;

/// Topics that are to be made or to grow, by id, with the logs of their new partitions.
using ClaimedTopics = std::map<TopicId, std::shared_ptr<const TopicState>>;

/// Makes the `TopicState` of what the catalog says: settings, logs, and what is kept of a topic's growth. For whoever holds the
/// catalog: one caller at a time.
class TopicStates {
  public:
    TopicStates(config::CurrentConfig& config, LogDirectory& logs, Fences& fences, const PublishedTopics& published, Clock& clock)
        : config_(config), logs_(logs), fences_(fences), published_(published), clock_(clock) {}

    /// All topics of the start were made: what comes from now on is new, and is made by clients.
    void serve() { is_serving_ = true; }

    /// With the logs of partitions that `before` has not. Fails when one cannot be had: none is claimed then.
    [[nodiscard]] StorageResult<std::shared_ptr<const TopicState>> make(const topics::TopicPointer& topic,
                                                                        const TopicState* before);
    /// Of a topic that has all its partitions.
    [[nodiscard]] std::shared_ptr<const TopicState> remake(const topics::TopicPointer& topic, const TopicState& before);

    /// Gives the new partitions of a change their logs. False when a directory is in the way that cannot be moved: nothing is
    /// claimed then.
    [[nodiscard]] bool claim(const topics::Effects& effects, ClaimedTopics& claimed);
    /// Takes the logs back of what was claimed and will not be.
    void release(ClaimedTopics& claimed);

  private:
    [[nodiscard]] StorageResult<void> add_partitions(TopicState& state, const std::shared_ptr<const LogConfig>& log_config);

    config::CurrentConfig& config_;
    LogDirectory& logs_;
    Fences& fences_;
    const PublishedTopics& published_;
    Clock& clock_;
    bool is_serving_ = false;
    std::uint64_t next_partition_key_ = 1;
};

}  // namespace partita::runtime
