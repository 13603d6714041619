#pragma once

#include <string_view>

#include "broker/logs/topics_listener.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/fences/fences.h"

namespace partita::logs {
class PublishedTopics;
class Turns;
}  // namespace partita::logs

namespace partita::runtime {

/// Makes the waiting fetches of fenced topics look again after a change that the fence depends on. Thread-safe.
class FenceWakes final : public CommitListener, public MarkerListener, public IdentityListener, public logs::TopicsListener {
  public:
    FenceWakes(const Fences& fences, const logs::PublishedTopics& topics, logs::Turns& turns)
        : fences_(fences), topics_(topics), turns_(turns) {}

    /// Wakes the fetches that the topic's fence holds. Cheap while no fence exists.
    void on_commit(std::string_view topic) override {
        if (fences_.count() > 0) {
            wake_held(topic);
        }
    }
    /// Wakes the fetches that wait for what the partition had when they came. After an abort, no records remain there for a group
    /// to commit.
    void on_markers(const logs::TopicState& topic, PartitionIndex partition) override;
    /// Wakes the fetches held by any fence.
    void identities_changed() override;
    /// Nudges the consumers of topics whose config newly asks for that.
    void on_topics_changed(const logs::TopicsChange& change) override;
    /// Makes every consumer of the topic refresh its metadata; consumers with a waiting fetch do so at once. The topic must have
    /// a `TopicExpansion`.
    void nudge(const logs::TopicState& topic, Now now);

  private:
    void wake_held(std::string_view topic);
    void wake_held(const logs::TopicState& topic);

    const Fences& fences_;
    const logs::PublishedTopics& topics_;
    logs::Turns& turns_;
};

}  // namespace partita::runtime
