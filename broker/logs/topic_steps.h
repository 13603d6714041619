#pragma once

#include <memory>
#include <vector>

#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"

namespace partita::logs {

/// The steps that the appends to one topic, or the reads of it, pass beside those of the broker; each at all of its points but
/// those that concern a whole request.
struct TopicSteps {
    std::vector<std::shared_ptr<AppendStep>> appends;
    std::vector<std::shared_ptr<ReadStep>> reads;

    /// Calls `visit` with each step, in order, until `visit` returns false.
    template <class Visit>
    void each_append(Visit&& visit) const {
        for (const std::shared_ptr<AppendStep>& step : appends) {
            if (!visit(*step)) {
                return;
            }
        }
    }
    /// The same.
    template <class Visit>
    void each_read(Visit&& visit) const {
        for (const std::shared_ptr<ReadStep>& step : reads) {
            if (!visit(*step)) {
                return;
            }
        }
    }
};

struct TopicState;

/// Adds steps to topics: asked for each state that a topic is given, and its steps hold until the next state.
class TopicStepSource {
  public:
    virtual ~TopicStepSource() = default;
    /// The state is complete but for its steps.
    virtual void add_steps(const TopicState& topic, TopicSteps& steps) = 0;
};

}  // namespace partita::logs
