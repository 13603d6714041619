#include "broker/addons/scenarios/core/report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "protocol/printable.h"
#include "protocol/xml_text.h"

namespace partita::scenarios {
namespace {

std::string fixed(double value, int digits) {
    std::array<char, 64> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
    return error == std::errc() ? std::string(text.data(), end) : "0";
}

std::string seconds(std::int64_t time_ms, int digits = 2) { return fixed(static_cast<double>(time_ms) / 1000, digits); }

std::string escaped(const std::string& text) { return xml_text(printable(text)); }

/// The same with line ends.
std::string escaped_lines(const std::string& text) {
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        out += escaped(text.substr(begin, end - begin)) + "\n";
        begin = end + 1;
    }
    return out;
}

std::int64_t count_of(const Run& run, Outcome outcome) { return std::ranges::count(run.steps(), outcome, &StepOutcome::outcome); }

std::int64_t end_of(const Run& run) {
    std::int64_t end_ms = 1;
    for (const StepOutcome& step : run.steps()) {
        end_ms = std::max(end_ms, step.ended_ms);
    }
    return end_ms;
}

std::string attribute(const char* name, const std::string& value) { return " " + std::string(name) + "=\"" + value + "\""; }

constexpr double kWidth = 900;
constexpr double kLabels = 400;
constexpr double kRow = 20;
constexpr double kHead = 40;
constexpr double kMargin = 16;
constexpr double kCurve = 60;
/// Longer labels are cut; the whole text is in the tooltip.
constexpr std::size_t kLabelBytesMax = 62;

constexpr const char* kStyle =
    "svg { --text: #1c1c28; --soft: #63637a; --line: #c9c9d8; --good: #3f9d63; --bad: #d23c3c; --note: #5b5bd6; --warn: #e0662f; "
    "font: 11px system-ui, sans-serif; fill: var(--text); background: #fff }\n"
    "@media (prefers-color-scheme: dark) { svg { --text: #ececf4; --soft: #a0a0b6; --line: #4b4b60; --good: #5cc487; --bad: "
    "#f06a6a; --note: #8e8ef5; --warn: #f08a55; background: #191923 } }\n"
    ".head { font-size: 13px; font-weight: 600 } .soft { fill: var(--soft) } .grid { stroke: var(--line); stroke-width: 1 }\n"
    ".ok { fill: var(--good) } .FAILED, .BROKEN, .block { fill: var(--bad) } .skipped { fill: var(--line) } .warn { fill: "
    "var(--warn) } .info, .mark { fill: var(--note) } .curve { fill: none; stroke: var(--note); stroke-width: 1.5 }\n";

/// Cut between two characters.
std::string label_of(const std::string& text) {
    if (text.size() <= kLabelBytesMax) {
        return text;
    }
    std::size_t end = kLabelBytesMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
        --end;
    }
    return text.substr(0, end) + "...";
}

class Picture {
  public:
    Picture(const Scenario& scenario, const Run& run) : scenario_(scenario), run_(run), end_ms_(end_of(run)) {}

    [[nodiscard]] std::string svg() {
        const double steps_bottom = kHead + kRow * static_cast<double>(run_.steps().size());
        const bool has_curve = !run_.progress().empty();
        const double marks_top = steps_bottom + (has_curve ? kCurve + 2 * kRow : kRow);
        const double bottom = marks_top + kRow * static_cast<double>(run_.marks().size());
        body_ += words(0, 14, "head", scenario_.name + ": " + (run_.outcome() == Outcome::passed ? "passed" : "failed"));
        grid(bottom);
        double top = kHead;
        for (const StepOutcome& step : run_.steps()) {
            row(top, step.text, step.text + (step.message.empty() ? "" : ": " + step.message), step.begun_ms, step.ended_ms,
                std::string(to_string(step.outcome)));
            top += kRow;
        }
        if (has_curve) {
            curve(steps_bottom + kRow);
        }
        top = marks_top;
        for (const Mark& mark : run_.marks()) {
            row(top, mark.text, mark.text, mark.time_ms, mark.time_ms, mark.severity.empty() ? "mark" : mark.severity);
            top += kRow;
        }
        const std::string label =
            escaped(scenario_.name + ": " + std::to_string(run_.steps().size()) + " steps in " + seconds(end_ms_) + " s");
        return "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
               attribute("viewBox", fixed(-kMargin, 0) + " " + fixed(-kMargin, 0) + " " + fixed(kWidth + 2 * kMargin, 0) + " " +
                                        fixed(bottom + 2 * kMargin, 0)) +
               attribute("width", fixed(kWidth + 2 * kMargin, 0)) + attribute("height", fixed(bottom + 2 * kMargin, 0)) +
               " role=\"img\"" + attribute("aria-label", label) + ">\n<title>" + label + "</title>\n<style>\n" + kStyle +
               "</style>\n" + body_ + "</svg>\n";
    }

  private:
    [[nodiscard]] double x_of(std::int64_t time_ms) const {
        const double share = static_cast<double>(std::clamp<std::int64_t>(time_ms, 0, end_ms_)) / static_cast<double>(end_ms_);
        return kLabels + share * (kWidth - kLabels);
    }
    [[nodiscard]] static std::string words(double x, double y, const std::string& kind, const std::string& text) {
        return "<text" + attribute("x", fixed(x, 1)) + attribute("y", fixed(y, 1)) + attribute("class", kind) + ">" +
               escaped(text) + "</text>\n";
    }
    void grid(double bottom) {
        constexpr int kLines = 4;
        for (int line = 0; line <= kLines; ++line) {
            const std::int64_t time_ms = end_ms_ * line / kLines;
            const std::string x = fixed(x_of(time_ms), 1);
            body_ += "<line" + attribute("class", "grid") + attribute("x1", x) + attribute("x2", x) +
                     attribute("y1", fixed(kHead - 4, 1)) + attribute("y2", fixed(bottom, 1)) + "/>\n";
            body_ += "<text" + attribute("x", x) + attribute("y", fixed(kHead - 8, 1)) + attribute("class", "soft") +
                     attribute("text-anchor", line == kLines ? "end"
                                              : line == 0    ? "start"
                                                             : "middle") +
                     ">" + seconds(time_ms) + " s</text>\n";
        }
    }
    void row(double top, const std::string& label, const std::string& tip, std::int64_t begun_ms, std::int64_t ended_ms,
             const std::string& kind) {
        constexpr double kWidthMin = 3;
        const double x = std::min(x_of(begun_ms), kWidth - kWidthMin);
        const double width = std::max(x_of(ended_ms) - x, kWidthMin);
        body_ += "<g><title>" + escaped(tip) + "</title>" + words(0, top + 13, "label", label_of(label)) + "<rect" +
                 attribute("class", kind) + attribute("x", fixed(x, 1)) + attribute("y", fixed(top + 4, 1)) +
                 attribute("width", fixed(width, 1)) + attribute("height", fixed(kRow - 8, 1)) + "/></g>\n";
    }
    void curve(double top) {
        const std::int64_t most = run_.progress().back().second;
        std::string points = fixed(kLabels, 1) + "," + fixed(top + kCurve, 1);
        double last_y = top + kCurve;
        double last_x = -1;
        for (const auto& [time_ms, count] : run_.progress()) {
            const double x = x_of(time_ms);
            const double y = top + kCurve - kCurve * static_cast<double>(count) / static_cast<double>(most);
            // A point for each pixel is enough.
            if (x - last_x >= 1 || count == most) {
                points += " " + fixed(x, 1) + "," + fixed(last_y, 1) + " " + fixed(x, 1) + "," + fixed(y, 1);
                last_x = x;
                last_y = y;
            }
        }
        points += " " + fixed(kWidth, 1) + "," + fixed(last_y, 1);
        body_ += words(0, top + kCurve / 2, "label", std::to_string(most) + " records received by the application");
        body_ += "<polyline" + attribute("class", "curve") + attribute("points", points) + "/>\n";
    }

    const Scenario& scenario_;
    const Run& run_;
    const std::int64_t end_ms_;
    std::string body_;
};

}  // namespace

std::string step_text(const StepOutcome& step) {
    char begun[32];
    std::snprintf(begun, sizeof begun, "%8s s  %-8s ", seconds(step.begun_ms).c_str(),
                  std::string(to_string(step.outcome)).c_str());
    constexpr std::int64_t kToldMs = 100;
    const std::int64_t took_ms = step.ended_ms - step.begun_ms;
    std::string text = begun + printable(step.text) + (took_ms >= kToldMs ? "  (" + seconds(took_ms) + " s)" : "") + "\n";
    if (!step.message.empty()) {
        text += std::string(21, ' ') + printable(step.message) + "\n";
    }
    return text;
}

std::string end_text(const Scenario& scenario, const Run& run) {
    std::string text;
    for (const Mark& mark : run.marks()) {
        char time[32];
        std::snprintf(time, sizeof time, "%8s s  ", seconds(mark.time_ms).c_str());
        text += time + (mark.severity.empty() ? std::string() : "finding  ") + printable(mark.text) +
                (mark.severity.empty() ? "" : " (" + mark.severity + ")") + "\n";
    }
    if (!run.last_words().empty()) {
        text += "The output of the application ends with:\n";
        text += run.last_words() + (run.last_words().ends_with('\n') ? "" : "\n");
    }
    const Outcome outcome = run.outcome();
    text += printable(scenario.name) + ": ";
    if (outcome == Outcome::passed) {
        return text + "passed, " + std::to_string(run.steps().size()) + " steps in " + seconds(end_of(run)) + " s\n";
    }
    return text + (outcome == Outcome::failed ? "failed" : "could not be played") + ", " +
           std::to_string(count_of(run, Outcome::passed)) + " of " + std::to_string(run.steps().size()) + " steps are good\n";
}

std::string junit_xml(const Scenario& scenario, const Run& run) {
    const std::string name = escaped(scenario.name);
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite" + attribute("name", name) +
                       attribute("tests", std::to_string(run.steps().size())) +
                       attribute("failures", std::to_string(count_of(run, Outcome::failed))) +
                       attribute("errors", std::to_string(count_of(run, Outcome::broken))) +
                       attribute("skipped", std::to_string(count_of(run, Outcome::skipped))) +
                       attribute("time", seconds(end_of(run), 3)) + ">\n";
    std::size_t number = 0;
    for (const StepOutcome& step : run.steps()) {
        text += "<testcase" + attribute("classname", name) +
                attribute("name", std::to_string(++number) + ". " + escaped(step.text)) +
                attribute("time", seconds(step.ended_ms - step.begun_ms, 3));
        switch (step.outcome) {
            case Outcome::passed:
                text += "/>\n";
                continue;
            case Outcome::failed:
                text += "><failure" + attribute("message", escaped(step.message)) + "/>";
                break;
            case Outcome::broken:
                text += "><error" + attribute("message", escaped(step.message)) + "/>";
                break;
            case Outcome::skipped:
                text += "><skipped/>";
                break;
        }
        text += "</testcase>\n";
    }
    if (!run.last_words().empty()) {
        text += "<system-out>" + escaped_lines(run.last_words()) + "</system-out>\n";
    }
    return text + "</testsuite>\n</testsuites>\n";
}

std::string timeline_svg(const Scenario& scenario, const Run& run) { return Picture(scenario, run).svg(); }

}  // namespace partita::scenarios
