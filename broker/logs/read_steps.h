#pragma once

#include <cstdint>

#include "broker/logs/step_list.h"
#include "protocol/types.h"

namespace partita::logs {

class ReadRequest;
class Turn;
struct Read;
struct ReadResult;

/// Something that reads have to pass beside the log: see AppendStep. A read may wait and be repeated, so a step that needs its
/// client later has it kept at its admission (ReadRequest::kept_client).
class ReadStep {
  public:
    virtual ~ReadStep() = default;
    /// Before anything is looked up. May lower how much the request reads.
    virtual void admit(ReadRequest&, Turn&) {}
    /// A partition of the request was found. Once for each, before it is read.
    virtual void on_found(ReadRequest&, const Read&, Turn&) {}
    /// Each time before the log is read: returns the end of what the reader may have, at or below `bound`. The step may also
    /// refuse, by the result's outcome.
    [[nodiscard]] virtual Offset judge(const ReadRequest&, const Read&, ReadResult&, Offset bound, Now) { return bound; }
    /// Before the answer is made of what was read, which the step may cut. False: nothing may be given, and the client has to
    /// wait (ReadRequest::wait).
    [[nodiscard]] virtual bool settle(ReadRequest&, Turn&) { return true; }
    /// The answer has been made.
    virtual void tell(const ReadRequest&, Turn&) {}
};

/// The points at which a step is called.
enum class ReadPoint : std::uint8_t { admit, on_found, judge, settle, tell };

using ReadSteps = StepList<ReadStep, ReadPoint, 5>;

}  // namespace partita::logs
