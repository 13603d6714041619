#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/runtime/loop/reactor.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turn.h"
#include "schedule/clock.h"

namespace partita::runtime {

/// The reactors of a broker, each with its turn, and how one thread tells the others. Everything but `clear` may be called from
/// any thread.
class Turns {
  public:
    /// One to `Partition::kReactorsMax` reactors.
    Turns(const PublishedTopics& topics, std::size_t reactor_count, Clock& clock);

    /// What the reactors tell the time by, for those who have no turn.
    [[nodiscard]] Clock& clock() const { return clock_; }

    [[nodiscard]] const std::vector<std::unique_ptr<Reactor>>& reactors() const { return reactors_; }
    [[nodiscard]] Turn& of(std::size_t reactor) const { return *turns_[reactor]; }
    /// The one that does what is done by one alone: timers of coordinators, topics that the broker makes itself.
    [[nodiscard]] Reactor& first_reactor() const { return *reactors_.front(); }
    [[nodiscard]] Turn& first() const { return *turns_.front(); }

    void deliver(const ReplyTarget& target, Reply&& reply) { Reactor::deliver(reactors_, target, std::move(reply)); }
    /// Tells another reactor's waiting fetches of an append.
    void post_append(std::uint32_t reactor, fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth);
    /// Tells every reactor's waiting fetches that the partition changed.
    void post_change(const Partition& partition);
    /// Every waiting fetch is answered, each in the next turn of its reactor.
    void complete_all_fetches();

    /// Lets go of all requests that wait, and of the logs that they hold. No reactor runs any more.
    void clear() { turns_.clear(); }

  private:
    Clock& clock_;
    std::vector<std::unique_ptr<Reactor>> reactors_;
    std::vector<std::unique_ptr<Turn>> turns_;
};

}  // namespace partita::runtime
