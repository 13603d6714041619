#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>

#include "broker/addons/capacity/core/auto_inflate.h"
#include "broker/addons/capacity/core/call_pacer.h"
#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/addons/capacity/core/traffic_counts.h"
#include "broker/addons/capacity/shell/capacity_settings.h"
#include "broker/config/current_config.h"
#include "broker/handlers/commit_gate.h"
#include "broker/logs/step_switch.h"
#include "broker/logs/topics_listener.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::insight {
class FindingsHub;
}  // namespace partita::insight

namespace partita::runtime {
class OwnChanges;
}  // namespace partita::runtime

namespace partita::capacity {

/// The capacity that all clients of the broker share (`partita.capacity.*`, docs/capacity.md). It charges the data that producers
/// send and consumers get; clients that take more than the capacity wait. Thread-safe. Without units it costs one load
/// (`is_limited`), and callers must call no other function of it.
///
/// A caller that gets a wait back reports it to the client (ThrottleTimeMs) and lets the connection rest for as long
/// (RequestContext::throttle), as with client quotas.
class SharedCapacity final : public logs::TopicsListener, public handlers::CommitGate {
  public:
    /// A fetch that would have to wait longer gets nothing, unless no other client waits (`admit_outgoing`). This is the
    /// consumers' default timeout for an answer (request.timeout.ms).
    static constexpr std::int64_t kFetchWaitMsMax = 30'000;
    /// The longest rest of a refused client, before it may ask again.
    static constexpr std::int64_t kRefusedRestMsMax = 5'000;
    /// Most changes of the units that are remembered.
    static constexpr std::size_t kStepsMax = 100;

    /// The object sets units that it adds itself through `changes`; it reports every change of units to `findings`.
    SharedCapacity(const config::CurrentConfig& config, insight::FindingsHub& findings, runtime::OwnChanges& changes);

    /// Called at the start, when the settings are complete.
    void begin(Now now);
    void on_topics_changed(const logs::TopicsChange& change) override;

    /// True if there are units, so that clients may have to wait.
    [[nodiscard]] bool is_limited() const { return limits_appends_.is_on(); }
    /// On while there are units.
    [[nodiscard]] logs::StepSwitch& limits_appends() { return limits_appends_; }
    [[nodiscard]] logs::StepSwitch& limits_reads() { return limits_reads_; }

    struct Admission {
        /// False if the load may not pass. Then nothing was taken.
        bool is_taken = true;
        /// Milliseconds that the client must wait, taken or not.
        std::int64_t wait_ms = 0;
    };
    /// Takes what producers sent, unless the wait would exceed `wait_ms_max`.
    [[nodiscard]] Admission admit_incoming(Load load, std::int64_t wait_ms_max, Now now);
    /// Gives back load of batches that were refused for another reason.
    void give_back_incoming(Load load);
    /// Takes the load that a consumer will get. It takes nothing if others already wait so long that this consumer would wait for
    /// more than `kFetchWaitMsMax`.
    [[nodiscard]] Admission admit_outgoing(Load load, Now now);
    /// The burst that passes at once after a pause. A fetch that asks for more gets a part of it, and its share again with the
    /// next one. 0 means no limit.
    [[nodiscard]] Load outgoing_at_once() const;
    /// Counts a commit of one partition. Returns how many milliseconds the client must wait.
    [[nodiscard]] std::int64_t admit_commit(std::string_view group, std::string_view topic, PartitionIndex partition,
                                            Now now) override;
    [[nodiscard]] bool is_open() const override { return !is_limited(); }

    /// The outcome of a request for a topic (an empty name is an unknown topic), and the load that it sent there or got.
    struct Ended {
        std::string_view topic;
        Outcome outcome = Outcome::successful;
        Load load;
    };
    void note_incoming(std::span<const Ended> topics);
    void note_outgoing(std::span<const Ended> topics);
    [[nodiscard]] TrafficCounts counts() const;

    /// A change of the number of units.
    struct Step {
        TimestampMs time;
        std::int32_t units_before = 0;
        std::int32_t units = 0;
        /// The broker itself made the change, because clients had to wait.
        bool is_automatic = false;
    };
    struct Status {
        CapacitySettings settings;
        /// How long a client would wait that asks for next to nothing now.
        std::int64_t ingress_wait_ms = 0;
        std::int64_t egress_wait_ms = 0;
        /// In order of time; the newest is last.
        std::deque<Step> steps;
    };
    [[nodiscard]] Status status(Now now);

  private:
    void follow(Now now);
    [[nodiscard]] std::optional<std::int32_t> note_use(const AutoInflate::Use& use, Now now) REQUIRES(mutex_);
    void inflate(std::int32_t from, std::int32_t to);
    void tell(const Step& step);

    const config::CurrentConfig& config_;
    insight::FindingsHub& findings_;
    runtime::OwnChanges& changes_;
    logs::StepSwitch limits_appends_;
    logs::StepSwitch limits_reads_;
    mutable Mutex mutex_{LockRank::shared_capacity};
    bool has_begun_ GUARDED_BY(mutex_) = false;
    CapacitySettings settings_ GUARDED_BY(mutex_);
    CapacityMeter ingress_ GUARDED_BY(mutex_);
    CapacityMeter egress_ GUARDED_BY(mutex_);
    AutoInflate auto_inflate_ GUARDED_BY(mutex_);
    /// The target of the broker's own change in progress, if there is one.
    std::optional<std::int32_t> inflating_to_ GUARDED_BY(mutex_);
    CallPacer commits_ GUARDED_BY(mutex_);
    TrafficCounts counts_ GUARDED_BY(mutex_);
    std::deque<Step> steps_ GUARDED_BY(mutex_);
};

}  // namespace partita::capacity
