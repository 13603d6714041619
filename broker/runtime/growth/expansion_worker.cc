#include "broker/runtime/growth/expansion_worker.h"

#include <optional>
#include <utility>

#include "broker/logs/turns.h"
#include "broker/runtime/growth/expansions.h"

namespace partita::runtime {
namespace {

ExpansionReply timed_out(const ExpansionRequest& request) {
    ExpansionReply reply;
    for (const ExpansionRequest::Wish& wish : request.wishes) {
        reply.reply.topics.push_back({wish.name, {ErrorCode::request_timed_out, std::nullopt}});
    }
    return reply;
}

void give_answer(ExpansionRequest& request, ExpansionReply reply) {
    reply.reply.topics.insert(reply.reply.topics.end(), request.refused.begin(), request.refused.end());
    request.answer(std::move(reply));
}

}  // namespace

catalog::CreatePartitions ExpansionRequest::command() const {
    catalog::CreatePartitions command;
    for (const Wish& wish : wishes) {
        command.topics.push_back({.name = wish.name, .count = wish.count, .assignments = wish.assignments});
    }
    command.validate_only = validate_only;
    command.client.user = principal->name();
    command.client.client_id = client_id;
    command.client.may_be_refused = may_be_refused_by_quota;
    return command;
}

void ExpansionWorker::submit(ExpansionRequest request) {
    bool is_taken = false;
    {
        const MutexLock lock(mutex_);
        is_taken = !stopping_ && waiting_.size() < kWaitingMax;
        if (is_taken) {
            waiting_.push_back(std::move(request));
            if (worker_) {
                worker_->wake();
            } else {
                worker_ = executor_.start("expansions", [this] { return step(); });
            }
        }
    }
    if (!is_taken) {
        give_answer(request, timed_out(request));
    }
}

void ExpansionWorker::stop() {
    std::unique_ptr<Worker> ended;
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
        waiting_.clear();
        ended.swap(worker_);
    }
}

Instant ExpansionWorker::step() {
    std::optional<ExpansionRequest> request;
    {
        const MutexLock lock(mutex_);
        if (waiting_.empty()) {
            return kNever;
        }
        request = std::move(waiting_.front());
        waiting_.pop_front();
    }
    serve(std::move(*request));
    return kAtOnce;
}

void ExpansionWorker::serve(ExpansionRequest request) {
    // Kafka's controller also checks the time when a request's turn comes.
    const bool has_time = turns_.clock().now().monotonic - request.received < request.timeout_ms;
    ExpansionReply reply = has_time ? expansions_.expand(request) : timed_out(request);
    give_answer(request, std::move(reply));
}

}  // namespace partita::runtime
