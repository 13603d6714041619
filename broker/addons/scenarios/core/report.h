#pragma once

#include <string>

#include "broker/addons/scenarios/core/run.h"

/// Reports about a run, for people and for programs.
namespace partita::scenarios {

/// "   0.12 s  ok       grow orders to 8 partitions  (0.05 s)": a line for a step that is over, and one more for a message.
[[nodiscard]] std::string step_text(const StepOutcome& step);
/// The end of the timeline: findings and other marks, then the verdict. Without the steps.
[[nodiscard]] std::string end_text(const Scenario& scenario, const Run& run);
/// A JUnit file: a test case for each step.
[[nodiscard]] std::string junit_xml(const Scenario& scenario, const Run& run);
/// The timeline as a complete SVG file, for light and dark surroundings: a bar for each step, how many records the application
/// had received, and the findings.
[[nodiscard]] std::string timeline_svg(const Scenario& scenario, const Run& run);

}  // namespace partita::scenarios
