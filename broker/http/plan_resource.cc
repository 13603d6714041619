// GET /v1/topics/T/expansion?to=M: the effects of growing T to M partitions. docs/expansion.md has the JSON.
//
//   partitioner=NAME   instead of what the data shows
//   records=K          the newest K records only
//   since=MS           records from this time on only, milliseconds since 1970
//   hash_keys=1        keys are shown as hashes
//   keys=1             every distinct key with its old and new partition, tab separated, instead of the plan
//   stream=1           JSON lines: {"progress": ...} while it reads, {"keys": ...} with keys=1, and at last {"plan": ...}

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/jobs.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/local/local_topics.h"
#include "broker/insight/plan/plan_json.h"
#include "broker/insight/shell/topic_plan.h"
#include "broker/runtime/growth/local_plan.h"
#include "protocol/try.h"
#include "schedule/clock.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kProgressEveryMs = 100;

struct PlanWish {
    std::string topic;
    std::int64_t to = 0;
    insight::PlanOptions options;
    std::optional<std::int64_t> since_ms;
    insight::KeyStyle style = insight::KeyStyle::text;
    bool lists_keys = false;
    bool streams = false;
};

/// The request as a wish, or a sentence that says what is wrong.
std::expected<PlanWish, std::string> parse_wish(const Request& request) {
    PlanWish wish;
    wish.topic = request.path.at(2);
    const auto to = request.parameter("to");
    const auto target = to ? parse_number(*to) : std::nullopt;
    if (!target) {
        return std::unexpected("the new partition count is missing: ?to=M");
    }
    wish.to = *target;
    PARTITA_TRY_ASSIGN(wish.options.records_max, number_parameter(request, "records", {.least = 1}));
    PARTITA_TRY_ASSIGN(wish.since_ms, number_parameter(request, "since", {}));
    if (const auto name = request.parameter("partitioner")) {
        wish.options.partitioner = partitioners::find_partitioner(*name);
        if (!wish.options.partitioner) {
            std::string sentence = "unknown partitioner " + std::string(*name);
            for (const std::string_view similar : partitioners::similar_partitioners(*name)) {
                sentence +=
                    (sentence.find("; did you mean ") == std::string::npos ? "; did you mean " : ", ") + std::string(similar);
            }
            return std::unexpected(sentence + "; 'partita partitioner --list' lists all");
        }
    }
    wish.style = is_set(request, "hash_keys") ? insight::KeyStyle::hashed : insight::KeyStyle::text;
    wish.lists_keys = is_set(request, "keys");
    wish.streams = is_set(request, "stream");
    return wish;
}

std::string line(const ordered_json& object) {
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// Reads, judges and answers, on the job's thread.
class PlanJob {
  public:
    PlanJob(const Surroundings& surroundings, ExchangePointer exchange, PlanWish wish, insight::PlannedTopic facts)
        : services_(surroundings.services),
          jobs_(surroundings.plans),
          identity_(surroundings.identity),
          exchange_(std::move(exchange)),
          wish_(std::move(wish)),
          facts_(std::move(facts)) {}

    void run() {
        if (wish_.since_ms) {
            wish_.options.since = insight::offsets_since(services_.topics, wish_.topic, TimestampMs{*wish_.since_ms});
        }
        if (wish_.streams) {
            exchange_->begin(Status::ok, kJsonLines);
        }
        const auto outcome =
            runtime::run_local_plan(services_.insight.plan_sources, std::move(facts_), wish_.options,
                                    [this](std::int64_t done, std::int64_t total) { return report(done, total); });
        if (!outcome) {
            fail(outcome.error());
        } else if (wish_.lists_keys) {
            list_keys(*outcome);
        } else if (wish_.streams) {
            end_with({{"plan", json_of(outcome->plan)}});
        } else {
            exchange_->respond(Status::ok, kJson, line(json_of(outcome->plan)));
        }
    }

  private:
    [[nodiscard]] ordered_json json_of(const insight::Plan& plan) const {
        ordered_json json = insight::plan_json(plan, wish_.style);
        json["broker"] = identity_.json();
        return json;
    }

    bool report(std::int64_t done, std::int64_t total) {
        if (exchange_->is_gone() || jobs_.is_stopping()) {
            return false;
        }
        const Instant now = services_.clock.now().monotonic;
        if (!wish_.streams || total == 0 || now - last_report_ < kProgressEveryMs) {
            return true;
        }
        last_report_ = now;
        return exchange_->write(line({{"progress", {{"done", done}, {"total", total}}}}));
    }

    void fail(const insight::PlanError& error) {
        // After a cancellation no client waits for the answer, unless the server stops.
        const std::string sentence = error.failure == insight::PlanFailure::cancelled ? "the broker is stopping" : error.message;
        if (wish_.streams) {
            end_with({{"error", sentence}});
        } else {
            respond_error(*exchange_,
                          error.failure == insight::PlanFailure::cancelled ? Status::unavailable : Status::internal_error,
                          sentence);
        }
    }

    void list_keys(const insight::PlanOutcome& outcome) {
        if (!wish_.streams) {
            exchange_->begin(Status::ok, kTabSeparated);
        }
        insight::write_key_lines(*outcome.census, wish_.style, [this](std::string_view lines) {
            return exchange_->write(wish_.streams ? line({{"keys", lines}}) : std::string(lines));
        });
        if (wish_.streams) {
            end_with({{"plan", json_of(outcome.plan)}});
        } else {
            exchange_->end();
        }
    }

    void end_with(const ordered_json& last) {
        // A client that is gone needs no last line.
        (void)exchange_->write(line(last));
        exchange_->end();
    }

    const runtime::Services& services_;
    Jobs& jobs_;
    const BrokerIdentity& identity_;
    ExchangePointer exchange_;
    PlanWish wish_;
    insight::PlannedTopic facts_;
    Instant last_report_{};
};

}  // namespace

void serve_plan(const Surroundings& surroundings, const ExchangePointer& exchange) {
    auto wish = parse_wish(exchange->request());
    if (!wish) {
        respond_error(*exchange, Status::bad_request, wish.error());
        return;
    }
    // The job reads from the disk; this does not.
    auto facts = insight::plan_facts(surroundings.services.insight.plan_sources.facts(), wish->topic, wish->to);
    if (!facts) {
        const bool unknown = facts.error().kind == insight::PlanFactsError::Kind::unknown_topic;
        respond_error(*exchange, unknown ? Status::not_found : Status::bad_request, facts.error().message);
        return;
    }
    auto job = std::make_shared<PlanJob>(surroundings, exchange, std::move(*wish), std::move(*facts));
    if (!surroundings.plans.start([job] { job->run(); })) {
        respond_error(*exchange, Status::unavailable, "other plans are in progress; try again in a moment");
    }
}

}  // namespace partita::http
