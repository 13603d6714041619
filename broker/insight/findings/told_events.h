#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/findings_board.h"

/// Reads events of findings back from their JSON (event_json.h), and works out what an earlier run of the broker left. Pure.
namespace partita::insight {

/// The event; null if the text is not one. Clients may write to the topic of events, too, so any text may come. Keys come back
/// as they were, and names of clients as they are shown.
[[nodiscard]] std::optional<FindingEvent> parse_event(std::string_view json);

/// The last state of each finding by its events. A finding is known by its id, its subject and when it opened.
class ToldEvents {
  public:
    /// Most findings that are followed at a time. Beyond that harm and the newest stay.
    static constexpr std::size_t kFollowedMax = 2 * FindingsBoard::kOpenMax;

    /// Takes the next event, as JSON.
    void take(std::string_view json);
    /// The findings that the events leave. Those that are open by their last event were so when the broker stopped. Harm goes on,
    /// and a danger counts as over.
    [[nodiscard]] PastFindings take_past();

  private:
    struct Told {
        OpenFinding open;
        /// The time of the last event.
        TimestampMs time;
    };
    void forget_some();
    void end(const Told& told, EndedFinding::How how);

    std::map<std::string, Told> told_;
    std::vector<EndedFinding> ended_;
};

}  // namespace partita::insight
