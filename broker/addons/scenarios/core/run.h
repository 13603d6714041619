#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "broker/addons/scenarios/core/delivery.h"
#include "broker/addons/scenarios/core/scenario.h"

/// A scenario as it happens: a state machine that says what to do next, and what came of it. It has neither a clock nor a socket:
/// events come in with the time, and at most one deed at a time goes out.
namespace partita::scenarios {

// Deeds. Each is answered by one event of its own kind, or by `Failed`.

/// Write this; answered by Done.
struct Write {
    const seed::Seed* seed = nullptr;
};
/// Start this many instances more; answered by Done.
struct StartInstances {
    std::int32_t count = 0;
};
/// End all instances, and wait until they are gone; answered by Done.
struct EndInstances {
    bool kills = false;
};
/// Send this request; answered by Answered.
struct Ask {
    Request request;
};
/// Read all committed records of the topic; answered by RecordsRead.
struct ReadRecords {
    std::string topic;
};
/// Read all reports in the topic; answered by ReportsRead.
struct ReadReports {
    std::string topic;
};
using Deed = std::variant<Write, StartInstances, EndInstances, Ask, ReadRecords, ReadReports>;

// Events.

struct Done {};
/// The deed is impossible, for this reason.
struct Failed {
    std::string message;
};
struct Answered {
    int status = 0;
    /// Discarded if the answer is no JSON.
    nlohmann::ordered_json body;
};
struct RecordsRead {
    std::vector<TopicRecord> records;
};
struct ReportsRead {
    std::vector<Report> reports;
};
/// Not an answer: the application said this on its standard output.
struct Heard {
    std::vector<Report> reports;
};
/// Not an answer: an instance ended, although nobody asked it to.
struct InstanceEnded {
    std::int32_t instance = 0;
    /// "with exit code 1", "by signal 9".
    std::string how;
    bool is_good = false;
    /// The end of its output.
    std::string last_words;
};
/// Not an answer: the run cannot go on, because the broker ended or a person stopped it.
struct Stopped {
    std::string message;
};
using Event = std::variant<Done, Failed, Answered, RecordsRead, ReportsRead, Heard, InstanceEnded, Stopped>;

enum class Outcome : std::uint8_t {
    passed,
    failed,   ///< An assertion, or a wait: the application does not do what the scenario asks.
    broken,   ///< The scenario could not be played.
    skipped,  ///< Something before it failed.
};
/// "ok", "FAILED", "BROKEN", "skipped".
[[nodiscard]] std::string_view to_string(Outcome outcome);

/// A step that is over.
struct StepOutcome {
    std::string text;
    Outcome outcome{};
    /// Milliseconds since the scenario began.
    std::int64_t begun_ms = 0;
    std::int64_t ended_ms = 0;
    /// Why it failed.
    std::string message;
};

/// Something that happened beside the steps.
struct Mark {
    std::int64_t time_ms = 0;
    std::string text;
    /// The severity of a finding: "block", "warn" or "info". Empty for other marks.
    std::string severity;
};

class Run {
  public:
    /// The scenario outlives the run. `began_wall_ms`: milliseconds since 1970 at time 0 of the run.
    Run(const Scenario& scenario, std::int64_t began_wall_ms);

    // All times are milliseconds since the scenario began.

    /// The deed to do now; none if one is being done, or while the run waits.
    [[nodiscard]] std::optional<Deed> next(std::int64_t now_ms);
    void handle(Event event, std::int64_t now_ms);
    /// After `next` had no deed: when to call it again, if no event comes before.
    [[nodiscard]] std::int64_t deadline_ms() const;
    [[nodiscard]] bool is_over() const { return is_over_; }

    [[nodiscard]] Outcome outcome() const;
    [[nodiscard]] const std::vector<StepOutcome>& steps() const { return outcomes_; }
    [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
    /// When the application was heard: milliseconds and how many records were reported by then, for each change.
    [[nodiscard]] const std::vector<std::pair<std::int64_t, std::int64_t>>& progress() const { return progress_; }
    /// The end of the output of an instance that failed; empty if none did.
    [[nodiscard]] const std::string& last_words() const { return last_words_; }

  private:
    /// An observation that conditions need.
    struct Look {
        enum class Kind : std::uint8_t { group, topic, findings, records, reports };
        Kind kind{};
        std::string name;

        friend auto operator<=>(const Look&, const Look&) = default;
    };

    [[nodiscard]] const Step& step() const { return scenario_.steps[index_]; }
    [[nodiscard]] bool is_check() const;
    void begin_step(std::int64_t now_ms);
    void end_step(Outcome outcome, std::string message, std::int64_t now_ms);
    void give_up(Outcome outcome, const std::string& message, std::int64_t now_ms);
    [[nodiscard]] std::optional<Deed> next_of_action(std::int64_t now_ms);
    [[nodiscard]] std::optional<Deed> next_of_check(std::int64_t now_ms);
    [[nodiscard]] Deed look(const Look& look) const;
    void settle_check(std::int64_t now_ms);
    void take_answer(const Answered& answer, std::int64_t now_ms);
    void take_beginnings(const nlohmann::ordered_json& group, const nlohmann::ordered_json& topic);
    void take_findings(const nlohmann::ordered_json& body);
    void take_reports(std::int64_t now_ms);

    [[nodiscard]] std::set<Look> looks_of(const Condition& condition) const;
    /// Empty if it holds; else why it does not.
    [[nodiscard]] std::string complaint(const Condition& condition, std::int64_t now_ms) const;
    [[nodiscard]] std::string complaint_about_group(const Condition& condition) const;
    [[nodiscard]] std::string complaint_about_assignment(const Condition& condition) const;
    [[nodiscard]] std::string complaint_about_records(const Condition& condition) const;
    [[nodiscard]] std::string complaint_about_findings(const Condition& condition) const;
    [[nodiscard]] std::string complaint_about_delivery(const Condition& condition) const;

    const Scenario& scenario_;
    const std::int64_t began_wall_ms_;
    bool is_over_ = false;
    bool is_busy_ = false;
    /// The run has judged all steps, and looks at the findings for its timeline.
    bool is_closing_ = false;
    std::size_t index_ = 0;
    bool has_begun_step_ = false;
    std::int64_t step_begun_ms_ = 0;
    /// How many deeds of the step are done.
    std::size_t done_ = 0;

    // For the current check: looks to take, what they saw, and the time of the next ones.
    std::vector<Look> looks_;
    std::map<Look, nlohmann::ordered_json> seen_;
    std::vector<TopicRecord> records_;
    std::int64_t look_again_ms_ = 0;
    std::int64_t pause_ms_ = 0;

    // About the application.
    bool was_started_ = false;
    std::int32_t running_ = 0;
    Beginnings beginnings_;
    nlohmann::ordered_json group_before_;
    std::vector<Report> reports_;
    std::int64_t last_heard_ms_ = 0;
    std::string last_words_;

    std::vector<StepOutcome> outcomes_;
    std::vector<Mark> marks_;
    std::vector<std::pair<std::int64_t, std::int64_t>> progress_;
};

}  // namespace partita::scenarios
