#pragma once

#include <memory>

#include "broker/insight/facts/clients.h"
#include "broker/insight/facts/groups.h"
#include "broker/insight/facts/topics.h"

namespace partita::insight {

/// A cluster that insight watches: the broker's own (broker/insight/local), or another one. Callable from any thread; the parts
/// live as long as the cluster.
class ObservedCluster {
  public:
    virtual ~ObservedCluster() = default;

    /// The topics as they are now.
    [[nodiscard]] virtual std::shared_ptr<const ObservedTopics> topics() const = 0;
    [[nodiscard]] virtual const ObservedGroups& groups() const = 0;
    [[nodiscard]] virtual ObservedClients& clients() const = 0;
};

}  // namespace partita::insight
