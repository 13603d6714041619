#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker/insight/facts/cluster.h"
#include "broker/insight/findings/told_events.h"
#include "schedule/executor.h"

namespace partita::insight {

class FindingsHub;

/// The events of findings that earlier runs of the broker wrote.
class EventHistory {
  public:
    virtual ~EventHistory() = default;
    /// False if there are no events to read.
    [[nodiscard]] virtual bool has_more() const = 0;
    /// The next events as JSON, in their order. May read the disk.
    [[nodiscard]] virtual std::vector<std::string> next() = 0;
};

/// The finding tells of records, a group or a topic of this cluster that are still there. While it is not known whether the group
/// exists, it counts as there.
[[nodiscard]] bool is_harm_left(const OpenFinding& harm, const ObservedTopics& topics, const ObservedGroups& groups);

/// Puts the harm of earlier runs, and what was over then, on the board. The observers' memory of it is gone, so this is the
/// source of such harm until it is over. It runs as a worker of its own, which ends when nothing is left to watch. Without a
/// history it starts no worker.
class PastHarm {
  public:
    /// How often it looks whether the harm is over.
    static constexpr std::int64_t kLookMs = 5000;

    PastHarm(const ObservedCluster& cluster, FindingsHub& findings, const Schedule& schedule)
        : cluster_(cluster), findings_(findings), schedule_(schedule) {}
    ~PastHarm() { stop(); }

    void start(std::unique_ptr<EventHistory> history);
    void stop() { worker_.reset(); }

  private:
    [[nodiscard]] Instant step();
    void restore(TimestampMs now);
    void look(TimestampMs now);

    const ObservedCluster& cluster_;
    FindingsHub& findings_;
    const Schedule schedule_;

    // Only steps of the worker use these.
    std::unique_ptr<EventHistory> history_;
    ToldEvents told_;
    /// By the time of its opening; see FindingsBoard::past_source.
    std::map<TimestampMs, std::vector<OpenFinding>> harm_;

    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::insight
