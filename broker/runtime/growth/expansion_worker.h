#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/access/session.h"
#include "broker/catalog/catalog_commands.h"
#include "protocol/mutex.h"
#include "protocol/types.h"
#include "schedule/executor.h"

namespace partita::logs {
class Turns;
}  // namespace partita::logs

namespace partita::runtime {

class Expansions;

/// What became of a wish for more partitions.
struct ExpansionReply {
    catalog::CreatePartitionsReply reply;
    /// True when the change could not be written: then nothing has happened.
    bool is_not_written = false;
};

/// A wish for more partitions, with memory of its own.
struct ExpansionRequest {
    struct Wish {
        std::string name;
        std::int32_t count = 0;
        std::optional<std::vector<std::vector<BrokerId>>> assignments;
    };
    std::vector<Wish> wishes;
    /// The answers for topics that the client asked for and may not alter.
    std::vector<catalog::ExpandedTopic> refused;
    bool validate_only = false;
    access::PrincipalPointer principal = access::Principal::anonymous();
    std::string client_id;
    /// See catalog::MutatingClient.
    bool may_be_refused_by_quota = false;
    catalog::RequestOrigin requested_by;
    /// When the request came, and for how long it may wait for its turn.
    Instant received;
    std::int32_t timeout_ms = 0;

    /// Hears what became of it, with what was `refused`. Called once, on the worker's thread, or within `submit` when there is no
    /// room for the request; not at all when the broker stops before.
    std::move_only_function<void(ExpansionReply reply)> answer;

    /// The request as a command for the catalog, which borrows from this object.
    [[nodiscard]] catalog::CreatePartitionsCommand command() const;
};

/// Adds partitions, as a worker of its own: gathering facts takes time, and reads logs, for which no reactor can wait. One
/// request after the other, each in a step, so that two of them never judge what the other is about to change. The worker begins
/// with the first request; a broker on which nobody adds partitions has none.
class ExpansionWorker {
  public:
    /// How many requests may wait for their turn. A further one is answered REQUEST_TIMED_OUT at once.
    static constexpr std::size_t kWaitingMax = 1000;

    ExpansionWorker(logs::Turns& turns, Executor& executor, Expansions& expansions)
        : turns_(turns), executor_(executor), expansions_(expansions) {}
    ~ExpansionWorker() { stop(); }

    /// The answer comes later. Any reactor may call this.
    void submit(ExpansionRequest request);
    /// Ends the worker after its present request; those that wait are not answered, as their connections end. Any thread but a
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
