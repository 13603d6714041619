#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/broker_world_clients.h"
#include "tests/simulation/broker_world_ledger.h"

namespace partita::test {

/// A part of a history: some clients that have to do with each other, and the diary that says what must therefore be true. The
/// seed chooses which scenes a history has.
class Scene {
  public:
    virtual ~Scene() = default;

    /// Configs that the broker is to have.
    [[nodiscard]] virtual std::vector<std::string> overrides() const { return {}; }
    [[nodiscard]] virtual std::vector<std::unique_ptr<SimulatedClient>> clients() = 0;
    /// Every reply that was there has been read.
    virtual void replies_were_read() {}
    /// The broker died, and has begun anew.
    virtual void broker_died(Instant /*died*/, Instant /*started*/, bool /*is_power_failure*/) {}
    /// The partitions that the auditor reads from beginning to end when everything is at rest.
    [[nodiscard]] virtual std::vector<Ledger::Place> places() const { return {}; }
};

/// A topic that is deleted and made again: what is of the former one (records, commits, its id) never comes back.
[[nodiscard]] std::unique_ptr<Scene> passing_topic(ClientsWorld& world);
/// A group whose members speak KIP-848: a partition has one owner.
[[nodiscard]] std::unique_ptr<Scene> consumer_group(ClientsWorld& world, std::vector<std::string> topics);
/// A topic with keys that grows in mode `fenced` or `guarded` while producers with old metadata write to it: a group is given the
/// records of a key and producer in their order, a guarded topic grows when it is drained and silent and not before, a fenced one
/// to multiples of its count, and whatever was acknowledged is read in the end.
[[nodiscard]] std::unique_ptr<Scene> ordered_topic(ClientsWorld& world, bool is_fenced);
/// A topic of which only the newest record of each key stays, at its offset.
[[nodiscard]] std::unique_ptr<Scene> compacted_topic(ClientsWorld& world);
/// A topic whose records go when they are old, and not before.
[[nodiscard]] std::unique_ptr<Scene> expiring_topic(ClientsWorld& world);
/// Work that is taken from positions and given out within transactions, by workers who fence each other: all of it is there,
/// once, and in order.
[[nodiscard]] std::unique_ptr<Scene> exactly_once(ClientsWorld& world);
/// Clients with a quota and topics with a limit, both of which change: what was acknowledged is in force, and stays.
[[nodiscard]] std::unique_ptr<Scene> limits(ClientsWorld& world);

}  // namespace partita::test
