#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/insight/hub/findings_hub.h"
#include "protocol/mutex.h"

namespace partita::logs {
class PublishedTopics;
class Turn;
}  // namespace partita::logs

namespace partita::runtime {
class Catalog;
class OwnChanges;
}  // namespace partita::runtime

namespace partita::insight {

class EventHistory;

/// Writes every event of a finding to the topic `__partita_expansions`, as one record. The key is the topic that the finding is
/// about; the value is the event as JSON (broker/insight/findings/event_json.h). It is an ordinary topic of one partition. The
/// broker makes it for the first event about a topic that has grown, and then writes the earlier events, too. If a client deletes
/// it, the next event makes it again. A broker whose topics never grow thus shows only the topics that its users made.
///
/// With `partita.events.topic.enable=false` the broker neither makes nor writes the topic, and events go only to the other
/// channels.
///
/// A write is not synced, and comes a turn after its event: a killed broker loses the last events, a power failure more.
class FindingsTopic {
  public:
    static constexpr std::string_view kName = "__partita_expansions";
    /// Most events that may wait to be written. Further ones are left out, and the log says how many.
    static constexpr std::size_t kWaitingMax = 10'000;
    /// Most records that one turn writes, as one batch. The rest waits for later turns, so that one turn does not delay other
    /// work for long.
    static constexpr std::size_t kBatchRecordsMax = 100;

    FindingsTopic(const config::CurrentConfig& config, const logs::PublishedTopics& topics, FindingsHub& findings,
                  runtime::OwnChanges& changes)
        : config_(config), topics_(topics), findings_(findings), changes_(changes) {}

    /// The events that are in the topic now; null if it does not exist, or if it is not written any more.
    [[nodiscard]] std::unique_ptr<EventHistory> history() const;
    /// Subscribes to events. The reactors exist already.
    void start();
    /// Unsubscribes. Waiting events are not written if the first reactor does not run any more.
    void stop();

  private:
    struct Line {
        std::string topic;
        std::string json;
    };

    void on_event(const FindingEvent& event);
    /// Drops waiting events: the topic is not made again for what was before.
    void forget();
    /// Writes some of the waiting events. Runs on the first reactor.
    [[nodiscard]] bool write_waiting(logs::Turn& turn, runtime::Catalog& catalog);
    void post();
    /// True if the events topic exists, or if an event about `topic` is a reason to make it.
    [[nodiscard]] bool is_wanted(std::string_view topic) const;
    [[nodiscard]] bool write(logs::Turn& turn, runtime::Catalog& catalog, std::span<const Line> lines);

    const config::CurrentConfig& config_;
    const logs::PublishedTopics& topics_;
    FindingsHub& findings_;
    runtime::OwnChanges& changes_;
    std::optional<FindingsHub::SubscriptionId> subscription_;

    Mutex mutex_{LockRank::findings_topic};
    std::vector<Line> waiting_ GUARDED_BY(mutex_);
    bool is_posted_ GUARDED_BY(mutex_) = false;
    bool is_wanted_ GUARDED_BY(mutex_) = false;
    std::uint64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::insight
