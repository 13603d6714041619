#pragma once

#include <cstdint>

#include "broker/logs/append.h"
#include "broker/logs/step_list.h"

namespace partita::logs {

class Turn;

/// A concern that appends pass beside the log: a rule, a charge, an observer. A room with such a concern implements a step. It
/// adds the step to the list of the broker (AppendSteps) or of a topic (TopicState::steps). Neither the service nor a front knows
/// the steps.
///
/// The service calls a step at these points, because concerns differ in the facts they need and in what they can still prevent:
/// - `admit`, once for a request: takes a charge before anything is staged.
/// - `admit_batch`: applies a rule to the received bytes, before the format's rules.
/// - `before_staging`: lets a fence mark where a good batch will go, before the batch has its offset.
/// - `after_staging`: samples what the log took, before anyone can read it.
/// - `settle`, once for a request: all of it is staged or refused, and its client can still be told to wait.
/// - `tell`, once for a request: its batches are written, or the request was refused.
///
/// The service calls a step on the thread of the request's reactor. A step must not block.
class AppendStep {
  public:
    virtual ~AppendStep() = default;
    /// Called before any batch is checked. Any outcome but `ok` refuses the whole request. A step may also refuse single batches:
    /// it sets their `outcome` if that is still `ok`.
    [[nodiscard]] virtual Outcome admit(AppendRequest&, Turn&) { return Outcome::ok; }
    /// Called before the format's rules. Any outcome but `ok` refuses the batch.
    [[nodiscard]] virtual Outcome admit_batch(const AppendRequest&, const Append&, Turn&) { return Outcome::ok; }
    /// The batch is valid, and the log is about to stage it.
    virtual void before_staging(const AppendRequest&, const Append&, const BatchHeader&, Turn&) {}
    /// The log has staged the batch but not written it yet.
    virtual void after_staging(const AppendRequest&, const Append&, Turn&) {}
    /// Every batch is staged or refused.
    virtual void settle(AppendRequest&, Turn&) {}
    /// Every batch has its final outcome. Also called for a request that was refused whole. The client's connection is already
    /// null.
    virtual void tell(const AppendRequest&, Turn&) {}
};

/// The points at which a step is called.
enum class AppendPoint : std::uint8_t { admit, admit_batch, before_staging, after_staging, settle, tell };

using AppendSteps = StepList<AppendStep, AppendPoint, 6>;

}  // namespace partita::logs
