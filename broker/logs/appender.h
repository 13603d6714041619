#pragma once

#include <cstdint>
#include <functional>

#include "broker/logs/append.h"
#include "broker/logs/append_steps.h"

namespace partita {
class LogFlusher;
}

namespace partita::runtime {
class FailureLog;
class UpkeepBell;
struct Counters;
}  // namespace partita::runtime

namespace partita::logs {

/// The only way for a client's records into a partition, whatever protocol the client speaks. (Coordinators write their own
/// logs.)
///
/// A front fills in an AppendRequest with what it looked up, and calls `append`, which takes the request through the steps,
/// checks and stages each batch, and says at once what was refused. What was staged is written at the end of the turn, with all
/// that other requests of the turn staged in the same partitions; then the front's AppendListener hears how each batch has ended.
/// Where a topic asks for a sync first, the front answers from `when_synced`.
///
/// Thread-safe; the calls about one request come from the thread of its turn.
class Appender {
  public:
    struct Parts {
        LogFlusher& flusher;
        runtime::Counters& counters;
        runtime::FailureLog& failures;
        runtime::UpkeepBell& upkeep;
    };
    explicit Appender(const Parts& parts) : parts_(parts) {}
    Appender(const Appender&) = delete;
    Appender& operator=(const Appender&) = delete;

    /// The steps that every append passes. Only to be changed before the first request.
    [[nodiscard]] AppendSteps& steps() { return steps_; }

    /// Stages the batches of the request, which is `turn.append_request()` and has a listener. False when the request was refused
    /// whole: then each batch has that outcome, nothing was staged, and the listener hears nothing. Touches no disk.
    [[nodiscard]] bool append(Turn& turn, AppendRequest& request);
    /// Gives every batch the outcome, as a refusal of the whole request, and tells the steps. For what a front refuses itself.
    void refuse(Turn& turn, AppendRequest& request, Outcome outcome);

    /// Calls `then` once the batches of the request that need it are synced: true. False: this may not be told, since a sync
    /// failed or too many wait for one, and nothing can be said of the records. Called from `AppendListener::on_written`; `then`
    /// comes from any thread, possibly within this call.
    void when_synced(const AppendRequest& request, std::move_only_function<void(bool is_synced)> then);

    /// Concludes the request after the turn has written what was staged. The turn calls this.
    void conclude(AppendRequest& request, Turn& turn);

  private:
    [[nodiscard]] Outcome stage(Turn& turn, const AppendRequest& request, Append& append);
    [[nodiscard]] Outcome put_into_log(Turn& turn, const AppendRequest& request, Append& append, const ProducedBatch& produced,
                                       TimestampType timestamps);

    const Parts parts_;
    AppendSteps steps_;
};

}  // namespace partita::logs
