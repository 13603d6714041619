#pragma once

#include <cstdint>

#include "broker/logs/step_list.h"
#include "protocol/types.h"

namespace partita::logs {

class ReadRequest;
class Turn;
struct Read;
struct ReadResult;
struct TopicState;

/// A concern that reads pass beside the log; see AppendStep. A read may wait and be repeated. A step that needs the client later
/// keeps it at the admission (ReadRequest::kept_client).
class ReadStep {
  public:
    virtual ~ReadStep() = default;
    /// Called before anything is looked up. The step may lower how much the request reads.
    virtual void admit(ReadRequest&, Turn&) {}
    /// The look-up found a partition of the request. Called once for each, before it is read.
    virtual void on_found(ReadRequest&, const Read&, Turn&) {}
    /// Called before each reading of the log. Returns the end of the records that the reader may have, at or below `bound`. The
    /// step may also refuse: it sets the result's outcome.
    [[nodiscard]] virtual Offset judge(const ReadRequest&, const Read&, ReadResult&, Offset bound, Now) { return bound; }
    /// Called before the front makes the answer from the results, which the step may shorten. Returns false if the reader may
    /// have no records now; the client must then wait (ReadRequest::wait).
    [[nodiscard]] virtual bool settle(ReadRequest&, Turn&) { return true; }
    /// The answer has been made.
    virtual void tell(const ReadRequest&, Turn&) {}
    /// The answer has been made, and has records of the topic. Only steps of this topic are called, once for each answer.
    virtual void tell_topic(const ReadRequest&, const TopicState&, Turn&) {}
    /// The same for a topic whose state changed while the request waited: it may have got this step meanwhile, and the other
    /// calls about the topic may be missing. `TopicState` is the new state.
    virtual void tell_changed_topic(const ReadRequest&, const TopicState&, Turn&) {}
};

/// The points at which a step is called.
enum class ReadPoint : std::uint8_t { admit, on_found, judge, settle, tell };

using ReadSteps = StepList<ReadStep, ReadPoint, 5>;

}  // namespace partita::logs
