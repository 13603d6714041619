#pragma once

#include <span>

#include "broker/insight/keys/detection.h"
#include "protocol/types.h"

namespace partita::insight {

/// Records in the history of a topic when producers switched to a new partition count.
class SwitchRecorder {
  public:
    virtual ~SwitchRecorder() = default;
    /// `switches`: those not recorded before. Called on the thread of the observer of keys; must not block.
    virtual void record(const TopicId& topic, std::span<const CountSwitch> switches) = 0;
};

}  // namespace partita::insight
