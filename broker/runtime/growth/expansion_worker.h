#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/access/session.h"
#include "broker/catalog/commands.h"
#include "protocol/mutex.h"
#include "protocol/types.h"
#include "schedule/executor.h"

namespace partita::logs {
class Turns;
}  // namespace partita::logs

namespace partita::runtime {

class Expansions;

/// The outcome of a wish for more partitions.
struct ExpansionReply {
    catalog::CreatePartitionsResult reply;
    /// True if the change could not be written; nothing has happened then.
    bool is_not_written = false;
};

/// A wish for more partitions that owns its memory.
struct ExpansionRequest {
    struct Wish {
        std::string name;
        std::int32_t count = 0;
        std::optional<std::vector<std::vector<BrokerId>>> assignments;
    };
    std::vector<Wish> wishes;
    /// The answers for topics that the client requested but may not alter.
    std::vector<catalog::ExpandedTopic> refused;
    bool validate_only = false;
    access::PrincipalPointer principal = access::Principal::anonymous();
    std::string client_id;
    /// See catalog::MutatingClient.
    bool may_be_refused_by_quota = false;
    catalog::RequestOrigin requested_by;
    /// When the request arrived, and how long it may wait for its turn.
    Instant received;
    std::int32_t timeout_ms = 0;

    /// Receives the outcome, including `refused`. Called once: on the worker's thread, or within `submit` if the queue is full.
    /// Not called if the broker stops before that.
    std::move_only_function<void(ExpansionReply reply)> answer;

    /// The request as a command for the catalog, which borrows from this object.
    [[nodiscard]] catalog::CreatePartitions command() const;
};

/// Adds partitions in a worker of its own, because gathering facts takes time and reads logs, and no reactor can wait for that.
/// It serves one request after the other, each in a step, so that no request changes what another one judges. The worker starts
/// with the first request, so a broker that never adds partitions has no such worker.
class ExpansionWorker {
  public:
    /// How many requests may wait for their turn. Further ones are answered REQUEST_TIMED_OUT at once.
    static constexpr std::size_t kWaitingMax = 1000;

    ExpansionWorker(logs::Turns& turns, Executor& executor, Expansions& expansions)
        : turns_(turns), executor_(executor), expansions_(expansions) {}
    ~ExpansionWorker() { stop(); }

    /// Queues the request; its answer comes later. Any reactor may call this.
    void submit(ExpansionRequest request);
    /// Ends the worker after its current request. Waiting requests get no answer, because their connections end. Any thread but a
    /// reactor's may call this.
    void stop();

  private:
    [[nodiscard]] Instant step();
    void serve(ExpansionRequest request);

    logs::Turns& turns_;
    Executor& executor_;
    Expansions& expansions_;
    Mutex mutex_{LockRank::expansion_worker};
    std::deque<ExpansionRequest> waiting_ GUARDED_BY(mutex_);
    bool stopping_ GUARDED_BY(mutex_) = false;
    std::unique_ptr<Worker> worker_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
