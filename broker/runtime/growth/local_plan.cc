#include "broker/runtime/growth/local_plan.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "broker/insight/local/local_cluster.h"
#include "broker/insight/local/local_topics.h"
#include "broker/insight/local/log_record_counter.h"
#include "broker/insight/local/log_scan_source.h"
#include "broker/insight/plan/plan_protection.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/topic_plan.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/growth/refusals.h"
#include "schedule/clock.h"

namespace partita::runtime {
namespace {

using insight::PlannedTopic;

/// A plan reads the whole log anyway. Counting what groups have not read may therefore cost more than in the look that runs every
/// second.
constexpr std::size_t kCountedBytesMax = std::size_t{32} << 20;

insight::ProtectionFacts protection_facts(const insight::LocalPlanSources& sources, const logs::TopicState& topic,
                                          const PlannedTopic& facts, logs::DrainedPositions& drained) {
    const config::ExpansionMode mode = topic.config->expansion_mode;
    insight::ProtectionFacts known{.protection = mode == config::ExpansionMode::guarded  ? insight::Protection::guarded
                                                 : mode == config::ExpansionMode::fenced ? insight::Protection::fenced
                                                                                         : insight::Protection::none,
                                   .refusals = refusals(sources, topic, facts.new_count, drained, sources.clock.now())};
    for (const insight::ProducerReport& report : sources.keys.producers(topic.topic->id)) {
        if (report.keyed_records == 0 || report.verdict.habit == insight::KeyHabit::ignores_keys) {
            continue;
        }
        known.producers.push_back({insight::to_string(report.identity),
                                   std::max<std::int64_t>(0, facts.now.value - report.last_seen.value), report.is_closed});
    }
    const bool has_deleted = std::ranges::any_of(
        facts.partitions, [](const insight::PartitionFacts& partition) { return partition.log_start > Offset{0}; });
    const std::int64_t age_ms = facts.now.value - topic.topic->created_time.value;
    known.may_miss_producers = has_deleted && sources.keys.watched_for_ms(sources.clock.now().monotonic) <
                                                  std::min(age_ms, insight::TopicWatch::kWritingMs);
    return known;
}

}  // namespace

std::expected<insight::PlanOutcome, insight::PlanError> run_local_plan(const insight::LocalPlanSources& sources,
                                                                       PlannedTopic facts, const insight::PlanOptions& options,
                                                                       const insight::PlanProgress& progress) {
    const std::shared_ptr<const logs::TopicTable> table = sources.cluster.parts().topics.table();
    const logs::TopicState* topic = table->find(facts.name);
    if (topic == nullptr || topic->partitions.size() < facts.partitions.size()) {
        return std::unexpected(
            insight::PlanError{insight::PlanFailure::source_failed, "topic " + facts.name + " was deleted meanwhile"});
    }
    std::vector<std::shared_ptr<PartitionLog>> logs;
    for (const std::shared_ptr<logs::Partition>& partition : topic->partitions) {
        logs.push_back(partition->log);
    }
    logs::DrainedPositions drained;
    insight::skip_undeliverable(*topic, drained, facts.groups);
    insight::LogRecordCounter counts(*topic, kCountedBytesMax);
    count_unread(counts, facts);
    insight::LogScanSource source(std::move(logs));
    auto outcome = insight::run_plan(facts, source, options, progress);
    if (outcome) {
        insight::protect_plan(outcome->plan, protection_facts(sources, *topic, facts, drained));
    }
    return outcome;
}

}  // namespace partita::runtime
