#pragma once

#include <cstdint>

#include "broker/logs/append.h"
#include "broker/logs/step_list.h"

namespace partita::logs {

class Turn;

/// Something that appends have to pass beside the log: a rule, a charge, an observer. Whoever has such a concern writes a step
/// and adds it to the list of the broker (AppendSteps) or of a topic (TopicState::steps); neither the service nor a front knows
/// which steps there are.
///
/// A batch meets a step at four points, because concerns differ in what they need to know, and in what they may still prevent: a
/// charge is taken before anything is staged (`admit`), a rule on the bytes as they came precedes the format's (`admit_batch`), a
/// fence marks where a good batch will go before it has its offset (`before_staging`), and a sample is taken of what the log
/// took, before anybody can read it (`after_staging`). A request is settled twice: when all of it is staged or refused, while its
/// client can still be told to wait (`settle`), and when it is written (`tell`).
///
/// A step is called on the thread of the request's reactor. It must not block.
class AppendStep {
  public:
    virtual ~AppendStep() = default;
    /// Before any batch is looked at. Another outcome than `ok` refuses the whole request. A step may also refuse single batches,
    /// by their `outcome`, unless they have one already.
    [[nodiscard]] virtual Outcome admit(AppendRequest&, Turn&) { return Outcome::ok; }
    /// Before the format's rules. Another outcome than `ok` refuses the batch.
    [[nodiscard]] virtual Outcome admit_batch(const AppendRequest&, const Append&, Turn&) { return Outcome::ok; }
    /// The batch is good, and is about to be staged.
    virtual void before_staging(const AppendRequest&, const Append&, const BatchHeader&, Turn&) {}
    /// The log has taken the batch, which is not written yet.
    virtual void after_staging(const AppendRequest&, const Append&, Turn&) {}
    /// Every batch is staged or refused.
    virtual void settle(AppendRequest&, Turn&) {}
    /// Every batch has its final outcome; also of a request that was refused whole. The request's client has no connection any
    /// more.
    virtual void tell(const AppendRequest&, Turn&) {}
};

/// The points at which a step is called.
enum class AppendPoint : std::uint8_t { admit, admit_batch, before_staging, after_staging, settle, tell };

using AppendSteps = StepList<AppendStep, AppendPoint, 6>;

}  // namespace partita::logs
