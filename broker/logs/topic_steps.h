#pragma once

#include <memory>
#include <vector>

#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"

namespace partita::logs {

/// The steps that appends to one topic, or reads of it, pass in addition to those of the broker. They are called at all their
/// points except those for a whole request.
struct TopicSteps {
    std::vector<std::shared_ptr<AppendStep>> appends;
    std::vector<std::shared_ptr<ReadStep>> reads;

    /// Calls `visit` with each append step, in order, until `visit` returns false.
    template <class Visit>
    void each_append(Visit&& visit) const {
        for (const std::shared_ptr<AppendStep>& step : appends) {
            if (!visit(*step)) {
                return;
            }
        }
    }
    /// Calls `visit` with each read step, in order, until `visit` returns false.
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

/// Adds steps to topics. The catalog asks it for each new state of a topic; the steps apply until the next state.
class TopicStepSource {
  public:
    virtual ~TopicStepSource() = default;
    /// The state is complete except for its steps.
    virtual void add_steps(const TopicState& topic, TopicSteps& steps) = 0;
};

}  // namespace partita::logs
