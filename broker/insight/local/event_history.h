#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "broker/insight/shell/past_harm.h"
#include "broker/logs/partition.h"
#include "protocol/types.h"

namespace partita::insight {

/// The records of the topic of findings (findings_topic.h) up to its present end.
class TopicEventHistory final : public EventHistory {
  public:
    /// How many events back it begins. Harm is reported again every day (FindingsBoard::kHarmRepeatMs), so older events are of
    /// harm that is over.
    static constexpr std::int64_t kEventsMax = 50'000;
    /// Most events that one call reads.
    static constexpr std::size_t kPageEvents = 1000;

    explicit TopicEventHistory(std::shared_ptr<logs::Partition> partition);

    [[nodiscard]] bool has_more() const override { return next_ < end_; }
    [[nodiscard]] std::vector<std::string> next() override;

  private:
    const std::shared_ptr<logs::Partition> partition_;
    const Offset end_;
    Offset next_;
};

}  // namespace partita::insight
