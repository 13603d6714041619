// Serves one CreatePartitions request. See expansions.h; the order of the steps is in expansion_steps.h.

#include <algorithm>
#include <map>
#include <set>

#include "broker/config/log_setup.h"
#include "broker/insight/local/local_topics.h"
#include "broker/insight/plan/lineage.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/insight/shell/topic_plan.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/growth/expansion_facts.h"
#include "broker/runtime/growth/expansions.h"
#include "broker/runtime/growth/topic_sample.h"
#include "schedule/clock.h"

namespace partita::runtime {
namespace {

using Kind = ExpansionStep::Kind;

void set_error(catalog::CreatePartitionsResult& reply, std::string_view topic, catalog::CatalogError error) {
    const auto answer = std::ranges::find(reply.topics, topic, &catalog::ExpandedTopic::name);
    if (answer != reply.topics.end()) {
        answer->error = std::move(error);
    }
}

/// Identifies the client, because a client confirms a refused request by repeating it. Kafka's tools are a new process for every
/// request, so neither connection nor process identifies them. Java numbers the clients of a process ("adminclient-7"), so the
/// number is left off.
std::string requester(const catalog::RequestOrigin& origin) {
    std::string_view client_id = origin.client_id;
    client_id = client_id.substr(0, client_id.find_last_not_of("0123456789") + 1);
    std::string text;
    for (const std::string_view part : {std::string_view(origin.principal), client_id, std::string_view(origin.software_name),
                                        std::string_view(origin.software_version), std::string_view(origin.address)}) {
        text += part;
        text += '\n';
    }
    return text;
}

}  // namespace

/// A request in progress. Judgements are kept by topic for one attempt. The next attempt does not repeat wishes that were
/// answered.
class Expansions::Attempt {
  public:
    Attempt(Expansions& expansions, const ExpansionRequest& request)
        : facts_(expansions.facts_), expansions_(expansions), request_(request), command_(request.command()) {}

    [[nodiscard]] ExpansionReply run();

  private:
    friend class Steps;

    struct Judged {
        WantedGrowth growth;
        GrowthVerdict verdict;
        AlignedJoins joins;
        bool has_keys = false;
        /// With validate_only: the text about an expansion that would succeed. Null in mode faithful, as with Kafka.
        std::optional<std::string> advice;
    };

    void look_ahead();
    void judge_wanted();
    void judge_one(const GrowthFacts& facts, const WantedGrowth& growth);
    [[nodiscard]] bool has_moved(const catalog::CatalogSnapshot& catalog) const;
    /// Answers refused wishes, and finds the topics that may grow. False if a topic changed in the catalog since the attempt
    /// began.
    [[nodiscard]] bool decide();
    void confirm_refused(Now now);
    void give_advice();
    void keep_accepted();

    const insight::LocalPlanSources& facts_;
    Expansions& expansions_;
    const ExpansionRequest& request_;
    catalog::CreatePartitions command_;
    /// The answer of the request's first decision; later decisions answer for the remaining topics.
    std::optional<catalog::CreatePartitionsResult> answer_;
    std::set<std::string, std::less<>> confirmed_;

    // The state of one attempt.
    std::vector<catalog::TopicPointer> seen_;
    std::map<std::string, Judged, std::less<>> judged_;
    std::vector<GrowingTopic> growing_;
};

/// Carries out the steps in the broker.
class Expansions::Steps final : public ExpansionActions {
  public:
    Steps(Attempt& attempt, Now now) : attempt_(attempt), expansions_(attempt.expansions_), now_(now) {}

    [[nodiscard]] StepOutcome take(const ExpansionStep& step) override;
    void undo(const ExpansionStep& step) override;

  private:
    [[nodiscard]] StepOutcome lock_catalog();
    void watch_readers(const GrowingTopic& topic);
    void tell(const GrowingTopic& topic);
    /// The groups with offsets from before the growth to read, if no fence waits for them.
    [[nodiscard]] std::vector<insight::UnreadAtGrowth> unread_at(const GrowingTopic& topic) const;

    Attempt& attempt_;
    Expansions& expansions_;
    const Now now_;
    std::optional<Catalog::Section> section_;
    catalog::Effects effects_;
};

ExpansionReply Expansions::expand(const ExpansionRequest& request) { return Attempt(*this, request).run(); }

ExpansionReply Expansions::Attempt::run() {
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        look_ahead();
        judge_wanted();
        if (!decide()) {
            continue;
        }
        if (growing_.empty() || request_.validate_only) {
            give_advice();
            return {std::move(*answer_), false};
        }
        Steps steps(*this, facts_.clock.now());
        switch (carry_out(steps_of(growing_), steps)) {
            case StepOutcome::done:
                return {std::move(*answer_), false};
            case StepOutcome::failed:
                return {std::move(*answer_), true};
            case StepOutcome::moved:
                break;
        }
    }
    const std::string reason = "The catalog, or the groups that read the topic, changed " + std::to_string(kAttemptsMax) +
                               " times while the request was judged; try again.";
    catalog::CreatePartitionsResult reply = answer_ ? std::move(*answer_) : catalog::CreatePartitionsResult();
    for (const catalog::TopicToExpand& wish : command_.topics) {
        if (!answer_) {
            reply.topics.push_back({std::string(wish.name), {}});
        }
        set_error(reply, wish.name, {ErrorCode::request_timed_out, reason});
    }
    return {std::move(reply), false};
}

void Expansions::Attempt::look_ahead() {
    seen_.clear();
    judged_.clear();
    growing_.clear();
    const std::shared_ptr<const logs::TopicTable> table = facts_.cluster.parts().topics.table();
    for (catalog::TopicToExpand& wish : command_.topics) {
        wish.judged = nullptr;
        const catalog::TopicPointer& topic = seen_.emplace_back(table->catalog->share_topic(wish.name));
        // If a wish adds more than one request may add, the catalog refuses it in any case.
        if (topic && wish.count > topic->partition_count &&
            std::int64_t{wish.count} - topic->partition_count <= catalog::kMaxRecordsPerRequest) {
            judged_[std::string(wish.name)].growth = {topic, wish.count};
        }
    }
}

void Expansions::Attempt::judge_wanted() {
    std::vector<WantedGrowth> wanted;
    for (const auto& [name, judged] : judged_) {
        wanted.push_back(judged.growth);
    }
    const Now now = facts_.clock.now();
    logs::DrainedPositions drained;
    for (std::size_t first = 0; first < wanted.size(); first += kGrowthsPerPass) {
        const auto part = std::span(wanted).subspan(first, std::min(kGrowthsPerPass, wanted.size() - first));
        const std::vector<GrowthFacts> gathered = gather_growth_facts(facts_, part, wanted, drained, now);
        for (std::size_t index = 0; index < part.size(); ++index) {
            judge_one(gathered[index], part[index]);
        }
    }
    for (catalog::TopicToExpand& wish : command_.topics) {
        if (const auto judged = judged_.find(wish.name); judged != judged_.end()) {
            wish.judged = &judged->second.verdict.judged;
        }
    }
}

void Expansions::Attempt::judge_one(const GrowthFacts& facts, const WantedGrowth& growth) {
    Judged& judged = judged_.find(growth.topic->name)->second;
    judged.verdict = judge_growth(facts, request_.requested_by);
    if (judged.verdict.may_be_confirmed && confirmed_.contains(growth.topic->name)) {
        confirm(judged.verdict);
    }
    if (request_.validate_only) {
        if (facts.mode != config::ExpansionMode::faithful) {
            judged.advice = insight::plan_sentence(facts.planned);
        }
        return;
    }
    judged.joins = aligned_joins(facts);
    const std::shared_ptr<const logs::TopicState> state = facts_.cluster.parts().topics.table()->share(growth.topic->id);
    judged.has_keys = state && topic_has_keys(*state);
}

bool Expansions::Attempt::has_moved(const catalog::CatalogSnapshot& catalog) const {
    // Topics are immutable: a changed or deleted topic has a different pointer. Changes of other topics count as if they came
    // later.
    for (std::size_t index = 0; index < command_.topics.size(); ++index) {
        if (catalog.share_topic(command_.topics[index].name) != seen_[index]) {
            return true;
        }
    }
    return false;
}

bool Expansions::Attempt::decide() {
    const Now now = facts_.clock.now();
    Catalog::Section section(expansions_.catalog_);
    if (has_moved(section.snapshot())) {
        return false;
    }
    catalog::CreatePartitions look = command_;
    look.validate_only = true;
    catalog::CreatePartitionsResult result = section.decide(now, look).result;
    if (!answer_) {
        answer_ = std::move(result);
        // Quotas must count a request once, however often it is decided.
        command_.client.is_charged = true;
    } else {
        for (catalog::ExpandedTopic& topic : result.topics) {
            set_error(*answer_, topic.name, std::move(topic.error));
        }
    }
    if (!request_.validate_only) {
        confirm_refused(now);
        keep_accepted();
    }
    return true;
}

void Expansions::Attempt::confirm_refused(Now now) {
    for (const catalog::TopicToExpand& wish : command_.topics) {
        const auto judged = judged_.find(wish.name);
        if (judged == judged_.end() || !judged->second.verdict.may_be_confirmed) {
            continue;
        }
        const auto answer = std::ranges::find(answer_->topics, wish.name, &catalog::ExpandedTopic::name);
        // Kafka's own rules come first: a wish that they refuse needs no confirmation.
        if (answer->error == judged->second.verdict.judged.refusal &&
            expansions_.confirmations_.confirm(wish.name, wish.count, requester(request_.requested_by), now.monotonic)) {
            confirmed_.emplace(wish.name);
            confirm(judged->second.verdict);
            answer->error = {};
        }
    }
}

void Expansions::Attempt::keep_accepted() {
    std::map<std::string_view, const catalog::CatalogError*> errors;
    for (const catalog::ExpandedTopic& topic : answer_->topics) {
        errors.emplace(topic.name, &topic.error);
    }
    std::vector<catalog::TopicToExpand> accepted;
    std::vector<catalog::TopicPointer> seen;
    for (std::size_t index = 0; index < command_.topics.size(); ++index) {
        catalog::TopicToExpand& wish = command_.topics[index];
        if (errors.at(wish.name)->failed()) {
            continue;
        }
        growing_.push_back({seen_[index], wish.count, *wish.judged});
        seen.push_back(std::move(seen_[index]));
        accepted.push_back(std::move(wish));
    }
    command_.topics = std::move(accepted);
    seen_ = std::move(seen);
}

void Expansions::Attempt::give_advice() {
    for (catalog::ExpandedTopic& topic : answer_->topics) {
        const auto judged = judged_.find(topic.name);
        if (request_.validate_only && !topic.error.failed() && judged != judged_.end()) {
            topic.error.message = judged->second.advice;
        }
    }
}

StepOutcome Expansions::Steps::take(const ExpansionStep& step) {
    const GrowingTopic& topic = attempt_.growing_[step.topic];
    const auto done_if = [](bool is_done) { return is_done ? StepOutcome::done : StepOutcome::failed; };
    switch (step.kind) {
        case Kind::seed:
            return done_if(expansions_.seed(topic, now_));
        case Kind::sync_seeds:
            return done_if(expansions_.sync_seeds(topic));
        case Kind::look_for_new_readers:
            return has_new_readers(expansions_.facts_.cluster.parts().groups, *topic.before, topic.seeded_groups())
                       ? StepOutcome::moved
                       : StepOutcome::done;
        case Kind::lock_catalog:
            return lock_catalog();
        case Kind::claim_partitions:
            return done_if(section_->claim(effects_, now_));
        case Kind::write_catalog:
            return done_if(section_->write(effects_, now_));
        case Kind::open_fence:
            expansions_.fences_.open(section_->claimed(topic.before->id), now_);
            return StepOutcome::done;
        case Kind::publish:
            section_->publish(effects_, now_);
            return StepOutcome::done;
        case Kind::unlock_catalog:
            section_.reset();
            return StepOutcome::done;
        case Kind::watch_readers:
            watch_readers(topic);
            return StepOutcome::done;
        case Kind::tell:
            tell(topic);
            return StepOutcome::done;
    }
    return StepOutcome::done;
}

void Expansions::Steps::undo(const ExpansionStep& step) {
    if (step.kind == Kind::seed) {
        expansions_.take_back_seeds(attempt_.growing_[step.topic], now_);
    } else if (step.kind == Kind::claim_partitions) {
        section_->release_claims();
    } else if (step.kind == Kind::lock_catalog) {
        section_.reset();
    }
}

StepOutcome Expansions::Steps::lock_catalog() {
    section_.emplace(expansions_.catalog_);
    if (attempt_.has_moved(section_->snapshot())) {
        return StepOutcome::moved;
    }
    auto decision = section_->decide(now_, attempt_.command_);
    // Decide again: settings may have changed, and a confirmed wish may add too much for one request.
    std::set<std::string, std::less<>> refused;
    for (catalog::ExpandedTopic& topic : decision.result.topics) {
        if (topic.error.failed()) {
            set_error(*attempt_.answer_, topic.name, std::move(topic.error));
            refused.insert(topic.name);
        }
    }
    if (!refused.empty()) {
        std::erase_if(attempt_.command_.topics, [&](const catalog::TopicToExpand& wish) { return refused.contains(wish.name); });
        return StepOutcome::moved;
    }
    effects_ = std::move(decision.effects);
    return StepOutcome::done;
}

void Expansions::Steps::watch_readers(const GrowingTopic& topic) {
    const AlignedJoins& joins = attempt_.judged_.find(topic.before->name)->second.joins;
    expansions_.readers_.topic_grew(insight::grown_topic(*section_->claimed(topic.before->id).topic, joins, true));
}

std::vector<insight::UnreadAtGrowth> Expansions::Steps::unread_at(const GrowingTopic& topic) const {
    std::vector<insight::UnreadAtGrowth> unread;
    // The topic may have been deleted since.
    const auto state = expansions_.facts_.cluster.parts().topics.table()->share(topic.before->id);
    if (state == nullptr || state->topic->expansions.empty() || !state->topic->expansions.back()->circumstances) {
        return unread;
    }
    const catalog::ExpansionCircumstances& circumstances = *state->topic->expansions.back()->circumstances;
    const bool is_held = circumstances.mode == config::expansion_mode_name(config::ExpansionMode::fenced);
    for (const catalog::GroupAtCut& group : circumstances.groups) {
        if (group.lag > 0 && !is_held) {
            unread.push_back({group.group_id, group.lag});
        }
    }
    return unread;
}

void Expansions::Steps::tell(const GrowingTopic& topic) {
    if (attempt_.judged_.find(topic.before->name)->second.has_keys) {
        log::warning("expansion", insight::expansion_warning(topic.before->name, topic.before->partition_count, topic.new_count,
                                                             unread_at(topic)));
    } else {
        log::info("expansion", "topic without keys expanded",
                  {{"topic", topic.before->name}, {"from", topic.before->partition_count}, {"to", topic.new_count}});
    }
}

}  // namespace partita::runtime
