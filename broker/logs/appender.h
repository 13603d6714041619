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

/// The only way for a client's records into a partition, in any protocol. Coordinators write their own logs.
///
/// A front fills in an AppendRequest with its look-ups and calls `append`. The appender takes the request through the steps,
/// checks and stages each batch, and reports refusals at once. The turn writes staged batches at its end, together with those of
/// other requests for the same partitions. Then the front's AppendListener receives the result of each batch. If a topic requires
/// a sync first, the front answers from `when_synced`.
///
/// Thread-safe; all calls for one request come from the thread of its turn.
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

    /// The steps that every append passes. Add steps only before the first request.
    [[nodiscard]] AppendSteps& steps() { return steps_; }

    /// Stages the batches of the request, which is `turn.append_request()` and has a listener. Returns false if the whole request
    /// was refused: then each batch has that outcome, nothing was staged, and the listener is not called. Performs no disk I/O.
    [[nodiscard]] bool append(Turn& turn, AppendRequest& request);
    /// Gives every batch the outcome, as a refusal of the whole request, and tells the steps. A front calls this for its own
    /// refusals.
    void refuse(Turn& turn, AppendRequest& request, Outcome outcome);

    /// Calls `then` when the syncs that the request needs have ended. True: all its batches are synced. False: a sync failed or
    /// too many syncs are pending, so the front cannot confirm the records. Call this from `AppendListener::on_written`. `then`
    /// may run on any thread, even within this call.
    void when_synced(const AppendRequest& request, std::move_only_function<void(bool is_synced)> then);

    /// Concludes the request once the turn has written the staged batches. The turn calls this.
    void conclude(AppendRequest& request, Turn& turn);

  private:
    [[nodiscard]] Outcome stage(Turn& turn, const AppendRequest& request, Append& append);
    [[nodiscard]] Outcome put_into_log(Turn& turn, const AppendRequest& request, Append& append, const ProducedBatch& produced,
                                       TimestampType timestamps);

    const Parts parts_;
    AppendSteps steps_;
};

}  // namespace partita::logs
