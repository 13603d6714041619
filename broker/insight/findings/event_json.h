#pragma once

#include <string>

#include "broker/insight/findings/finding_json.h"
#include "broker/insight/findings/findings_board.h"

/// Events of findings as JSON, one line each: the same on the topic `__partita_expansions`, on /v1/events and from
/// `partita watch`.
///
///     {"schema": 1, "sequence": 17, "event": "opened",         or "updated", "closed"; counts from the start of the broker
///      "displaced": true,                                      only in "closed": it still holds, a worse one took its place
///      "seen": true,                                           only in "closed": a person marked the harm as seen
///      "time_ms": 1763730000000, "opened_ms": 1763730000000,
///      "finding": {...}}                                       see finding_json.h
///
/// Later versions may add members; those above keep name, type and meaning.
namespace partita::insight {

inline constexpr int kEventSchemaVersion = 1;

/// Without a newline.
[[nodiscard]] std::string event_json(const FindingEvent& event, KeyStyle style);

/// An open finding, for lists: the finding with "state" ("open"), "opened_ms", "changed_ms" and "largest_count".
[[nodiscard]] nlohmann::ordered_json open_finding_json(const OpenFinding& open, KeyStyle style);
/// A finding that is over, for lists: the finding with "state" ("over"), "opened_ms", "closed_ms", "largest_count" and "ended"
/// ("over", "seen", "stopped").
[[nodiscard]] nlohmann::ordered_json ended_finding_json(const EndedFinding& ended, KeyStyle style);

}  // namespace partita::insight
