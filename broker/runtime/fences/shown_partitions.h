#pragma once

#include <cstdint>

#include "broker/insight/identity/client_registry.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {

class GroupShards;

/// The test control that shows the new partitions of a topic to its producers and to its consumers at different times
/// (`partita.visibility.*`). It remembers which clients produce and which consume. Thread-safe.
class ShownPartitions {
  public:
    explicit ShownPartitions(GroupShards& groups) : groups_(groups) {}

    void note_producer(const insight::ClientIdentity& client);
    void note_consumer(const insight::ClientIdentity& client);
    /// How many partitions of the topic metadata shows to this client. `own` is what the client did over the asking connection.
    /// If it did nothing yet, the roles of clients with the same name and address count instead.
    [[nodiscard]] std::int32_t count_for(const logs::TopicState& topic, const insight::ClientIdentity& client,
                                         const insight::ClientRoles& own, Now now);

  private:
    GroupShards& groups_;
    Mutex mutex_{LockRank::shown_partitions};
    insight::ClientRoleTable roles_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
