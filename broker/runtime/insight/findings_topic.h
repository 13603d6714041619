#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/runtime/findings/findings_hub.h"
#include "protocol/mutex.h"

namespace partita::runtime {

class Catalog;
class FailureLog;
class PublishedTopics;
class Turn;
class Turns;
class UpkeepBell;

/// Writes every event of a finding to the topic `__partita_expansions`, as one record: the key is the topic that the finding
/// is about, the value the event as JSON (broker/expansion/event_json.h). The topic is an ordinary one of one partition,
/// made for the first event about a topic that has grown, with what was told before; whoever deletes it has it made again by
/// the next. A broker on which nobody adds partitions thus shows the topics that its users made, and no other.
///
/// `partita.events.topic.enable=false` keeps the broker from making it: then the events are on the other channels alone.
class FindingsTopic {
  public:
    static constexpr std::string_view kName = "__partita_expansions";
    /// Events that wait to be written; more are left out, and the log says how many.
    static constexpr std::size_t kWaitingMax = 10'000;
    /// Records of one batch.
    static constexpr std::size_t kBatchRecordsMax = 500;

    struct Surroundings {
        const config::CurrentConfig& config;
        const PublishedTopics& topics;
        Turns& turns;
        Catalog& catalog;
        FindingsHub& findings;
        UpkeepBell& upkeep;
        FailureLog& failures;
    };
    explicit FindingsTopic(const Surroundings& surroundings) : around_(surroundings) {}

    /// Hears of events from now on. The reactors exist.
    void start();
    /// Hears of no more events; what waits for a reactor that does not run any more is not written.
    void stop();

  private:
    struct Line {
        std::string topic;
        std::string json;
    };

    void on_event(const expansion::FindingEvent& event);
    /// On the first reactor.
    void write_waiting();
    /// The events topic exists, or the event is a reason to make it.
    [[nodiscard]] bool is_wanted(std::string_view topic) const;
    [[nodiscard]] bool write(Turn& turn, std::vector<Line> lines);

    const Surroundings around_;
    std::optional<FindingsHub::SubscriptionId> subscription_;

    Mutex mutex_{LockRank::findings_topic};
    std::vector<Line> waiting_ GUARDED_BY(mutex_);
    bool is_posted_ GUARDED_BY(mutex_) = false;
    bool is_wanted_ GUARDED_BY(mutex_) = false;
    std::uint64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::runtime
