#pragma once

#include <atomic>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/faults/core/fault_table.h"
#include "broker/addons/faults/shell/failing_disk.h"
#include "broker/handlers/request_gate.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/mutex.h"

namespace partita::faults {

/// The faults of a running broker. Thread-safe.
class Faults final : public handlers::RequestGate, public DiskGate {
  public:
    /// A larger answer is not changed.
    static constexpr std::size_t kChangedBytesMax = 64UL * 1024 * 1024;

    Faults(const logs::PublishedTopics& topics, const logs::Turns& turns, Clock& clock)
        : topics_(topics), turns_(turns), clock_(clock) {}

    /// Adds all of these rules, or none. Returns their ids. The error is a sentence.
    [[nodiscard]] std::expected<std::vector<std::string>, std::string> add(std::vector<Rule> rules, Now now) EXCLUDES(mutex_);
    /// Removes the rule, and lets the requests go on that it holds. False: the rule is unknown.
    bool remove(std::string_view id) EXCLUDES(mutex_);
    void clear() EXCLUDES(mutex_);
    /// Lets the requests go on that the rule holds now. Returns how many; null for an unknown rule.
    std::optional<std::size_t> release(std::string_view id) EXCLUDES(mutex_);

    /// A rule with what it did.
    struct Status {
        Rule rule;
        TimestampMs added;
        std::int64_t matched = 0;
        std::int64_t acted = 0;
        /// Only from `find`.
        std::deque<MatchNote> notes;
        /// Requests that it delays or holds now.
        std::size_t waiting = 0;
    };
    /// In the order in which they were added.
    [[nodiscard]] std::vector<Status> list() const EXCLUDES(mutex_);
    /// Null for an unknown rule.
    [[nodiscard]] std::optional<Status> find(std::string_view id) const EXCLUDES(mutex_);

    [[nodiscard]] handlers::Passage pass(runtime::RequestContext& request) override EXCLUDES(mutex_);
    void closed(const runtime::ClientConnection& client) override EXCLUDES(mutex_);
    [[nodiscard]] bool fails(DiskOperation operation, const std::string& path) override EXCLUDES(mutex_);

  private:
    /// A request that a rule delays or holds.
    struct Waiting {
        Rule rule;
        Instant until{};
        bool is_held = false;
        runtime::ReplyTarget target;
    };
    [[nodiscard]] const Rule* decide(runtime::RequestContext& request, Now now) REQUIRES(mutex_);
    [[nodiscard]] handlers::Passage carry_out(const Rule& rule, runtime::RequestContext& request);
    /// The treatment of the answer; null if it leaves as usual.
    [[nodiscard]] std::unique_ptr<runtime::ReplyTreatment> treatment_of(const Rule& rule, runtime::RequestContext& request);
    [[nodiscard]] std::function<void(runtime::Reply&)> change_of(const Rule& rule, runtime::RequestContext& request)
        EXCLUDES(mutex_);
    [[nodiscard]] Status status_of(const FaultTable::Entry& entry, std::deque<MatchNote> notes) const REQUIRES(mutex_);
    /// The requests that wait because of the rule are served at once.
    void let_go(std::string_view rule) REQUIRES(mutex_);

    /// Notes whether a request has to look at all of this.
    void note_rules() REQUIRES(mutex_) {
        has_rules_.store(!table_.empty() || !waiting_.empty(), std::memory_order_relaxed);
        has_disk_rules_.store(table_.has_disk_rules(), std::memory_order_relaxed);
    }

    const logs::PublishedTopics& topics_;
    const logs::Turns& turns_;
    Clock& clock_;
    /// A request that finds this false takes no lock. One that comes beside the first rule may pass as if it had come before.
    std::atomic<bool> has_rules_ = false;
    std::atomic<bool> has_disk_rules_ = false;
    mutable Mutex mutex_{LockRank::faults};
    FaultTable table_ GUARDED_BY(mutex_);
    /// By connection: its first request that was received and not served.
    std::map<insight::ConnectionId, Waiting> waiting_ GUARDED_BY(mutex_);
};

}  // namespace partita::faults
