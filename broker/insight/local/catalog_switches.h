#pragma once

#include <span>

#include "broker/insight/shell/switch_recorder.h"
#include "protocol/types.h"

namespace partita::runtime {
class OwnChanges;
}  // namespace partita::runtime

namespace partita::insight {

/// Records producers' switches of counts in the epoch log of their topic, which is a change of the catalog.
class CatalogSwitches final : public SwitchRecorder {
  public:
    explicit CatalogSwitches(runtime::OwnChanges& changes) : changes_(changes) {}

    void record(const TopicId& topic, std::span<const CountSwitch> switches) override;

  private:
    runtime::OwnChanges& changes_;
};

}  // namespace partita::insight
