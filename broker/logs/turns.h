#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/logs/published_topics.h"
#include "broker/logs/topics_listener.h"
#include "broker/logs/turn.h"
#include "broker/runtime/loop/reactor.h"
#include "schedule/clock.h"

namespace partita::logs {

/// The reactors of a broker, each with its turn, and the ways from one thread to the others. Thread-safe except `clear`. For a
/// returned Reactor or Turn, that class's thread rules apply.
class Turns final : public TopicsListener {
  public:
    /// Takes one to `Partition::kReactorsMax` reactors; up to `polling_max` of them may poll for events at once.
    Turns(const PublishedTopics& topics, std::size_t reactor_count, std::size_t polling_max, Clock& clock);

    /// The clock of the reactors, for callers without a turn.
    [[nodiscard]] Clock& clock() const { return clock_; }

    [[nodiscard]] const std::vector<std::unique_ptr<runtime::Reactor>>& reactors() const { return reactors_; }
    [[nodiscard]] Turn& of(std::size_t reactor) const { return *turns_[reactor]; }
    /// The reactor for work that only one reactor does: timers of coordinators, topics that the broker creates itself.
    [[nodiscard]] runtime::Reactor& first_reactor() const { return *reactors_.front(); }
    [[nodiscard]] Turn& first() const { return *turns_.front(); }

    void deliver(const runtime::ReplyTarget& target, runtime::Reply&& reply) {
        runtime::Reactor::deliver(reactors_, target, std::move(reply));
    }
    /// Tells the waiting fetches of another reactor about an append.
    void post_append(std::uint32_t reactor, fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth);
    /// Tells the waiting fetches of all reactors that the partition changed in a way that they must see.
    void post_change(const Partition& partition);
    /// Makes fetches that wait for partitions of deleted topics look again.
    void on_topics_changed(const TopicsChange& change) override;
    /// Answers every waiting fetch, each in the next turn of its reactor.
    void complete_all_fetches();

    /// Drops all waiting requests and releases their logs. Call this only after all reactors have stopped.
    void clear() { turns_.clear(); }

  private:
    Clock& clock_;
    runtime::PollingSeats polling_seats_;
    std::vector<std::unique_ptr<runtime::Reactor>> reactors_;
    std::vector<std::unique_ptr<Turn>> turns_;
};

}  // namespace partita::logs
