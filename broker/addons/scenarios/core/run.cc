#include "broker/addons/scenarios/core/run.h"

#include <algorithm>
#include <limits>

#include "broker/addons/scenarios/core/answer_members.h"
#include "broker/addons/scenarios/core/counted.h"
#include "protocol/percent_encoding.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;
using Kind = Condition::Kind;

/// A condition that does not hold yet is looked at again after this time, and then less often.
constexpr std::int64_t kFirstPauseMs = 20;
constexpr std::int64_t kPauseMsMax = 500;

constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr int kFirstRefusal = 400;
constexpr int kFirstFailure = 500;

}  // namespace

std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return "ok";
        case Outcome::failed:
            return "FAILED";
        case Outcome::broken:
            return "BROKEN";
        case Outcome::skipped:
            return "skipped";
    }
    return {};
}

Run::Run(const Scenario& scenario, std::int64_t began_wall_ms) : scenario_(scenario), began_wall_ms_(began_wall_ms) {}

bool Run::is_check() const { return step().kind == Step::Kind::wait || step().kind == Step::Kind::assert_; }

// The order of steps ---------------------------------------------------------------------------------

std::optional<Deed> Run::next(std::int64_t now_ms) {
    if (is_over_ || is_busy_) {
        return std::nullopt;
    }
    if (now_ms >= scenario_.time_limit_ms && !is_closing_) {
        give_up(Outcome::failed, "the time limit of the scenario, " + std::to_string(scenario_.time_limit_ms) + " ms, is over",
                now_ms);
    }
    while (!is_closing_ && index_ < scenario_.steps.size()) {
        if (!has_begun_step_) {
            begin_step(now_ms);
        }
        auto deed = is_check() ? next_of_check(now_ms) : next_of_action(now_ms);
        if (deed) {
            is_busy_ = true;
            return deed;
        }
        if (has_begun_step_) {
            // It waits for its next look.
            return std::nullopt;
        }
    }
    if (!is_closing_) {
        is_closing_ = true;
    }
    is_busy_ = true;
    return Ask{{.method = Request::Method::get, .target = "/v1/findings?state=all"}};
}

void Run::begin_step(std::int64_t now_ms) {
    has_begun_step_ = true;
    step_begun_ms_ = now_ms;
    done_ = 0;
    looks_.clear();
    seen_.clear();
    look_again_ms_ = now_ms;
    pause_ms_ = kFirstPauseMs;
    if (is_check()) {
        std::set<Look> looks;
        for (const Condition& condition : step().conditions) {
            looks.merge(looks_of(condition));
        }
        looks_.assign(looks.begin(), looks.end());
    }
}

void Run::end_step(Outcome outcome, std::string message, std::int64_t now_ms) {
    outcomes_.push_back(
        {.text = step().text, .outcome = outcome, .begun_ms = step_begun_ms_, .ended_ms = now_ms, .message = std::move(message)});
    has_begun_step_ = false;
    const bool goes_on = outcome == Outcome::passed || step().kind == Step::Kind::assert_;
    ++index_;
    if (!goes_on || outcome == Outcome::broken) {
        for (; index_ < scenario_.steps.size(); ++index_) {
            outcomes_.push_back({.text = step().text, .outcome = Outcome::skipped, .begun_ms = now_ms, .ended_ms = now_ms});
        }
    }
}

void Run::give_up(Outcome outcome, const std::string& message, std::int64_t now_ms) {
    if (index_ < scenario_.steps.size()) {
        if (!has_begun_step_) {
            begin_step(now_ms);
        }
        end_step(outcome, message, now_ms);
        for (; index_ < scenario_.steps.size(); ++index_) {
            outcomes_.push_back({.text = step().text, .outcome = Outcome::skipped, .begun_ms = now_ms, .ended_ms = now_ms});
        }
    }
    is_closing_ = true;
}

std::int64_t Run::deadline_ms() const {
    // While a deed is being done, only its event matters.
    return is_busy_ ? std::numeric_limits<std::int64_t>::max() : std::min(look_again_ms_, scenario_.time_limit_ms);
}

Outcome Run::outcome() const {
    Outcome worst = Outcome::passed;
    for (const StepOutcome& one : outcomes_) {
        if (one.outcome == Outcome::broken || (one.outcome == Outcome::failed && worst == Outcome::passed)) {
            worst = one.outcome;
        }
    }
    return worst;
}

// Actions --------------------------------------------------------------------------------------------

std::optional<Deed> Run::next_of_action(std::int64_t now_ms) {
    const Step& current = step();
    const Application& application = scenario_.application;
    switch (current.kind) {
        case Step::Kind::load:
            if (done_ == 0) {
                return Write{&current.load};
            }
            break;
        case Step::Kind::start:
            // Before its first start: where will it begin?
            if (!was_started_ && done_ == 0) {
                return Ask{{.method = Request::Method::get, .target = "/v1/groups/" + percent_encoded(application.group)}};
            }
            if (!was_started_ && done_ == 1) {
                return Ask{{.method = Request::Method::get, .target = "/v1/topics/" + percent_encoded(application.topic)}};
            }
            if (!was_started_ || done_ == 0) {
                was_started_ = true;
                done_ = 0;
                return StartInstances{current.instances};
            }
            running_ += current.instances;
            break;
        case Step::Kind::stop:
        case Step::Kind::kill:
            if (done_ == 0) {
                return EndInstances{.kills = current.kind == Step::Kind::kill};
            }
            running_ = 0;
            break;
        case Step::Kind::ask:
            if (done_ < current.requests.size()) {
                return Ask{current.requests[done_]};
            }
            break;
        case Step::Kind::wait:
        case Step::Kind::assert_:
            break;
    }
    end_step(Outcome::passed, {}, now_ms);
    return std::nullopt;
}

void Run::take_beginnings(const ordered_json& group, const ordered_json& topic) {
    if (scenario_.application.begins_at_end) {
        for (const ordered_json& partition : list_of(topic, "partitions")) {
            beginnings_[static_cast<std::int32_t>(number_of(partition, "partition", -1))] = number_of(partition, "end", 0);
        }
    }
    for (const ordered_json& partition : list_of(group, "partitions")) {
        const bool is_input = text_of(partition, "topic") == scenario_.application.topic;
        if (const std::int64_t committed = number_of(partition, "committed", -1); is_input && committed >= 0) {
            beginnings_[static_cast<std::int32_t>(number_of(partition, "partition", -1))] = committed;
        }
    }
}

void Run::take_answer(const Answered& answer, std::int64_t now_ms) {
    const std::string error = text_of(answer.body, "error");
    const std::string reason = error.empty() ? "the broker's HTTP side answered with status " + std::to_string(answer.status)
                                             : "the broker says: " + error;
    if (is_check()) {
        const bool is_known = answer.status == kOk || answer.status == kNotFound;
        if (!is_known) {
            end_step(Outcome::broken, reason, now_ms);
            return;
        }
        seen_[looks_[done_]] = answer.status == kOk ? answer.body : ordered_json();
        ++done_;
        return;
    }
    if (step().kind == Step::Kind::start) {
        if (done_ == 0) {
            group_before_ = answer.status == kOk ? answer.body : ordered_json();
        } else {
            take_beginnings(group_before_, answer.body);
        }
        ++done_;
        return;
    }
    const Request& request = step().requests[done_];
    const bool is_refused = answer.status >= kFirstRefusal && answer.status < kFirstFailure;
    const std::string code = text_of(answer.body, "code");
    if (!request.must_be_refused && answer.status != kOk) {
        end_step(Outcome::broken, reason, now_ms);
    } else if (request.must_be_refused && answer.status == kOk) {
        end_step(Outcome::failed, "the broker did not refuse it", now_ms);
    } else if (request.must_be_refused && (!is_refused || (!request.refusal_code.empty() && request.refusal_code != code))) {
        end_step(Outcome::failed,
                 "the broker refused it with " + (code.empty() ? "status " + std::to_string(answer.status) : code) + ": " + error,
                 now_ms);
    } else {
        ++done_;
    }
}

// Checks ---------------------------------------------------------------------------------------------

std::set<Run::Look> Run::looks_of(const Condition& condition) const {
    const Application& application = scenario_.application;
    const bool has_reports = application.reports == Reports::standard_output || application.reports == Reports::topic;
    std::set<Look> looks;
    switch (condition.kind) {
        case Kind::members:
        case Kind::lag:
            looks.insert({Look::Kind::group, condition.group});
            break;
        case Kind::assigned:
            looks.insert({Look::Kind::group, condition.group});
            looks.insert({Look::Kind::topic, condition.topic});
            return looks;
        case Kind::records:
            looks.insert({Look::Kind::topic, condition.topic});
            return looks;
        case Kind::findings:
            looks.insert({Look::Kind::findings, {}});
            break;
        case Kind::received:
        case Kind::quiet:
            break;
        case Kind::ended:
            return looks;
        case Kind::nothing_lost:
        case Kind::nothing_twice:
        case Kind::order_of_keys:
            if (has_reports) {
                looks.insert({Look::Kind::records, application.topic});
            } else {
                looks.insert({Look::Kind::group, application.group});
                looks.insert({Look::Kind::findings, {}});
                return looks;
            }
            break;
    }
    const bool is_about_reports =
        condition.kind != Kind::members && condition.kind != Kind::lag && condition.kind != Kind::findings;
    if (application.reports == Reports::topic && is_about_reports) {
        looks.insert({Look::Kind::reports, application.report_topic});
    }
    return looks;
}

Deed Run::look(const Look& look) const {
    switch (look.kind) {
        case Look::Kind::group:
            return Ask{{.method = Request::Method::get, .target = "/v1/groups/" + percent_encoded(look.name)}};
        case Look::Kind::topic:
            return Ask{{.method = Request::Method::get, .target = "/v1/topics/" + percent_encoded(look.name)}};
        case Look::Kind::findings:
            return Ask{{.method = Request::Method::get, .target = "/v1/findings?state=all"}};
        case Look::Kind::records:
            return ReadRecords{look.name};
        case Look::Kind::reports:
            return ReadReports{look.name};
    }
    return Ask{};
}

std::optional<Deed> Run::next_of_check(std::int64_t now_ms) {
    if (now_ms < look_again_ms_) {
        return std::nullopt;
    }
    if (done_ < looks_.size()) {
        return look(looks_[done_]);
    }
    settle_check(now_ms);
    return std::nullopt;
}

void Run::settle_check(std::int64_t now_ms) {
    std::string complaints;
    for (const Condition& condition : step().conditions) {
        const std::string one = complaint(condition, now_ms);
        complaints += (complaints.empty() || one.empty() ? "" : "; ") + one;
    }
    const std::int64_t end_ms = step_begun_ms_ + step().time_ms;
    const bool is_wait = step().kind == Step::Kind::wait;
    if (is_wait && complaints.empty()) {
        end_step(Outcome::passed, {}, now_ms);
    } else if (!is_wait && !complaints.empty()) {
        end_step(Outcome::failed, std::move(complaints), now_ms);
    } else if (now_ms >= end_ms) {
        end_step(is_wait ? Outcome::failed : Outcome::passed,
                 is_wait ? "not within " + std::to_string(step().time_ms) + " ms: " + complaints : "", now_ms);
    } else {
        // Look again, and once more at the end.
        look_again_ms_ = std::min(now_ms + pause_ms_, end_ms);
        pause_ms_ = std::min(pause_ms_ * 2, kPauseMsMax);
        done_ = 0;
    }
}

std::string Run::complaint(const Condition& condition, std::int64_t now_ms) const {
    switch (condition.kind) {
        case Kind::members:
        case Kind::lag:
            return complaint_about_group(condition);
        case Kind::assigned:
            return complaint_about_assignment(condition);
        case Kind::records:
            return complaint_about_records(condition);
        case Kind::findings:
            return complaint_about_findings(condition);
        case Kind::received: {
            const auto received = static_cast<std::int64_t>(reports_.size());
            return received >= condition.number ? std::string() : "the application has received " + counted(received, "record");
        }
        case Kind::quiet:
            return now_ms - std::max(last_heard_ms_, step_begun_ms_) >= condition.number
                       ? std::string()
                       : "the application still receives records";
        case Kind::ended:
            return running_ == 0 ? std::string() : counted(running_, "instance") + " still running";
        case Kind::nothing_lost:
        case Kind::nothing_twice:
        case Kind::order_of_keys:
            return complaint_about_delivery(condition);
    }
    return {};
}

std::string Run::complaint_about_group(const Condition& condition) const {
    const ordered_json& group = seen_.at({Look::Kind::group, condition.group});
    if (group.is_null()) {
        const bool is_fine = condition.kind == Kind::members && condition.number == 0;
        return is_fine ? std::string() : "there is no group " + condition.group;
    }
    if (condition.kind == Kind::members) {
        const auto count = static_cast<std::int64_t>(list_of(group, "members").size());
        const std::string state = text_of(group, "state");
        const bool is_settled = state == "Stable" || state == "Empty";
        return count == condition.number && is_settled
                   ? std::string()
                   : "group " + condition.group + " has " + counted(count, "member") + " and is in state " + state;
    }
    std::int64_t lag = 0;
    std::string example;
    for (const ordered_json& partition : list_of(group, "partitions")) {
        if (!condition.topic.empty() && text_of(partition, "topic") != condition.topic) {
            continue;
        }
        // A group without a commit has everything left to read.
        const std::int64_t left = number_of(partition, "lag", number_of(partition, "end", 0));
        lag += left;
        if (left > 0) {
            example = text_of(partition, "topic") + "-" + std::to_string(number_of(partition, "partition", -1)) + " has " +
                      counted(left, "record");
        }
    }
    return lag <= condition.number
               ? std::string()
               : "group " + condition.group + " has " + counted(lag, "record") + " left to read, where " + example;
}

std::string Run::complaint_about_assignment(const Condition& condition) const {
    std::set<std::int64_t> without;
    for (const ordered_json& partition : list_of(seen_.at({Look::Kind::topic, condition.topic}), "partitions")) {
        without.insert(number_of(partition, "partition", -1));
    }
    for (const ordered_json& partition : list_of(seen_.at({Look::Kind::group, condition.group}), "partitions")) {
        if (text_of(partition, "topic") == condition.topic && !text_of(partition, "member_id").empty()) {
            without.erase(number_of(partition, "partition", -1));
        }
    }
    return without.empty() ? std::string()
                           : "group " + condition.group + " has no member for " +
                                 counted(static_cast<std::int64_t>(without.size()), "partition") + " of " + condition.topic +
                                 ", such as " + std::to_string(*without.begin());
}

std::string Run::complaint_about_records(const Condition& condition) const {
    std::int64_t records = 0;
    for (const ordered_json& partition : list_of(seen_.at({Look::Kind::topic, condition.topic}), "partitions")) {
        records += number_of(partition, "end", 0) - number_of(partition, "start", 0);
    }
    return records >= condition.number ? std::string() : "topic " + condition.topic + " has " + counted(records, "record");
}

std::string Run::complaint_about_findings(const Condition& condition) const {
    const ordered_json& all = list_of(seen_.at({Look::Kind::findings, {}}), "findings");
    const auto concerns = [&](const ordered_json& finding) {
        const ordered_json& subject = member(finding, "subject");
        return (condition.topic.empty() || text_of(subject, "topic") == condition.topic) &&
               (condition.group.empty() || text_of(subject, "group") == condition.group);
    };
    const auto told = [](const ordered_json& finding) {
        return "finding " + text_of(finding, "id") + " (" + text_of(finding, "severity") + "): " + text_of(finding, "condition");
    };
    for (const ordered_json& finding : all) {
        const std::string id = text_of(finding, "id");
        const bool is_unwanted = std::ranges::find(condition.absent, id) != condition.absent.end() ||
                                 (!condition.severity.empty() && text_of(finding, "severity") == condition.severity &&
                                  text_of(finding, "state") == "open");
        if (is_unwanted && concerns(finding)) {
            return told(finding);
        }
    }
    for (const std::string& id : condition.present) {
        const bool is_there = std::ranges::any_of(
            all, [&](const ordered_json& finding) { return text_of(finding, "id") == id && concerns(finding); });
        if (!is_there) {
            return "there is no finding " + id;
        }
    }
    return {};
}

std::string Run::complaint_about_delivery(const Condition& condition) const {
    const Application& application = scenario_.application;
    if (application.reports == Reports::commits) {
        // Only the broker knows something: its findings.
        Condition findings{.kind = Kind::findings, .group = application.group, .topic = application.topic};
        findings.absent =
            condition.kind == Kind::order_of_keys ? std::vector<std::string>{"H06"} : std::vector<std::string>{"H20", "H22"};
        const std::string found = complaint_about_findings(findings);
        return !found.empty() || condition.kind == Kind::order_of_keys
                   ? found
                   : complaint_about_group({.kind = Kind::lag, .group = application.group, .topic = application.topic});
    }
    const Delivery delivery = judge(records_, reports_, beginnings_);
    const std::string& text = condition.kind == Kind::nothing_lost    ? delivery.lost_text
                              : condition.kind == Kind::nothing_twice ? delivery.twice_text
                                                                      : delivery.disordered_text;
    return delivery.unknown_text.empty() ? text : delivery.unknown_text;
}

// Events ---------------------------------------------------------------------------------------------

void Run::take_findings(const ordered_json& body) {
    for (const ordered_json& finding : list_of(body, "findings")) {
        const std::int64_t opened_ms = number_of(finding, "opened_ms", began_wall_ms_) - began_wall_ms_;
        marks_.push_back({.time_ms = std::max<std::int64_t>(opened_ms, 0),
                          .text = text_of(finding, "id") + " " + text_of(finding, "title"),
                          .severity = text_of(finding, "severity")});
    }
    std::ranges::stable_sort(marks_, {}, &Mark::time_ms);
}

void Run::take_reports(std::int64_t now_ms) {
    const auto count = static_cast<std::int64_t>(reports_.size());
    if (progress_.empty() ? count > 0 : progress_.back().second != count) {
        last_heard_ms_ = now_ms;
        if (!progress_.empty() && progress_.back().first == now_ms) {
            progress_.back().second = count;
        } else {
            progress_.emplace_back(now_ms, count);
        }
    }
}

void Run::handle(Event event, std::int64_t now_ms) {
    if (is_over_) {
        return;
    }
    if (auto* heard = std::get_if<Heard>(&event)) {
        reports_.insert(reports_.end(), heard->reports.begin(), heard->reports.end());
        take_reports(now_ms);
        if (reports_.size() > kJudgedMax) {
            give_up(Outcome::broken, "the application reported more than " + std::to_string(kJudgedMax) + " records", now_ms);
        }
        return;
    }
    if (const auto* ended = std::get_if<InstanceEnded>(&event)) {
        --running_;
        marks_.push_back({.time_ms = now_ms, .text = "instance " + std::to_string(ended->instance) + " ended " + ended->how});
        if (!ended->is_good && !scenario_.application.may_fail && !is_closing_) {
            last_words_ = ended->last_words;
            give_up(Outcome::failed, "instance " + std::to_string(ended->instance) + " of the application ended " + ended->how,
                    now_ms);
        }
        return;
    }
    if (const auto* stopped = std::get_if<Stopped>(&event)) {
        if (!is_closing_) {
            give_up(Outcome::broken, stopped->message, now_ms);
        }
        is_over_ = true;
        return;
    }
    is_busy_ = false;
    if (is_closing_) {
        // Without the findings only the timeline lacks them; and the deed that a failure interrupted ends here, too.
        const auto* answer = std::get_if<Answered>(&event);
        if (answer != nullptr && member(answer->body, "findings").is_array()) {
            take_findings(answer->body);
            is_over_ = true;
        } else if (std::holds_alternative<Failed>(event)) {
            is_over_ = true;
        }
        return;
    }
    if (const auto* failed = std::get_if<Failed>(&event)) {
        end_step(Outcome::broken, failed->message, now_ms);
    } else if (const auto* answer = std::get_if<Answered>(&event)) {
        take_answer(*answer, now_ms);
    } else if (auto* records = std::get_if<RecordsRead>(&event)) {
        records_ = std::move(records->records);
        ++done_;
    } else if (auto* reports = std::get_if<ReportsRead>(&event)) {
        reports_ = std::move(reports->reports);
        take_reports(now_ms);
        ++done_;
    } else {
        ++done_;
    }
}

}  // namespace partita::scenarios
