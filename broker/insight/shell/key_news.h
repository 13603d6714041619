#pragma once

#include <span>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/keys/detection.h"
#include "protocol/types.h"

namespace partita::runtime {

class FindingsHub;
class OwnChanges;

/// Tells what the observer of keys has found out: findings to the board, and switches of producers to a new count to the epoch
/// log of their topic, which is a change of the catalog.
class KeyNews {
  public:
    KeyNews(FindingsHub& findings, OwnChanges& changes) : findings_(findings), changes_(changes) {}

    /// `findings`: all that hold now about the topic; `switches`: those that were not told before.
    void tell(const TopicId& topic, const std::vector<insight::Finding>& findings, std::span<const insight::CountSwitch> switches,
              TimestampMs now);

  private:
    void record(const TopicId& topic, std::span<const insight::CountSwitch> switches);

    FindingsHub& findings_;
    OwnChanges& changes_;
};

}  // namespace partita::runtime
