#include "broker/addons/capacity/shell/shared_capacity.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/insight/findings/capacity_findings.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/own_changes.h"

namespace partita::capacity {
namespace {

constexpr std::string_view kFindingsSource = "capacity";

Load times(Load unit, std::int64_t units) { return {unit.bytes * units, unit.events * units}; }

/// The rest for a refused client, in milliseconds: until it would no longer be refused, as far as that is known now.
std::int64_t rest_ms(std::int64_t wait_ms, std::int64_t wait_ms_max) {
    return std::clamp<std::int64_t>(wait_ms - wait_ms_max, 1, SharedCapacity::kRefusedRestMsMax);
}

/// False if the catalog cannot be written. `from`: the units for which the change was decided; another client may have set others
/// since.
bool set_units(logs::Turn& turn, runtime::Catalog& catalog, const config::CurrentConfig& config, std::int32_t from,
               std::int32_t to) {
    const auto now_set = config.get();
    if (capacity_settings(*now_set).units != from) {
        return true;
    }
    const std::string broker = std::to_string(now_set->node_id.value);
    const std::string value = std::to_string(to);
    catalog::IncrementalAlterConfigs command;
    catalog::ResourceToAlter& resource = command.resources.emplace_back();
    resource.resource = {catalog::ConfigResourceType::broker, broker};
    resource.changes.push_back(
        {.name = kUnitsConfig, .operation = static_cast<std::int8_t>(catalog::AlterOperation::set), .value = value});
    const auto reply = catalog.change(turn, command);
    return reply && !reply->resources.front().error.failed();
}

}  // namespace

SharedCapacity::SharedCapacity(const config::CurrentConfig& config, insight::FindingsHub& findings, runtime::OwnChanges& changes)
    : config_(config), findings_(findings), changes_(changes) {}

void SharedCapacity::begin(Now now) { follow(now); }

void SharedCapacity::on_topics_changed(const logs::TopicsChange& change) {
    using Kind = catalog::CatalogChange::Kind;
    const bool has_new_settings = std::ranges::any_of(change.changes, [](const catalog::CatalogChange& one) {
        return one.kind == Kind::configs_changed && one.resource_type == catalog::ConfigResourceType::broker;
    });
    if (has_new_settings) {
        follow(change.time);
    }
}

void SharedCapacity::follow(Now now) {
    const CapacitySettings settings = capacity_settings(*config_.get());
    std::optional<Step> step;
    {
        const MutexLock lock(mutex_);
        if (has_begun_ && settings == settings_) {
            return;
        }
        if (has_begun_ && settings.units != settings_.units) {
            step = {.time = now.wall,
                    .units_before = settings_.units,
                    .units = settings.units,
                    .is_automatic = settings.units == inflating_to_};
            steps_.push_back(*step);
            if (steps_.size() > kStepsMax) {
                steps_.pop_front();
            }
        }
        has_begun_ = true;
        inflating_to_.reset();
        settings_ = settings;
        ingress_.set_rate(times(settings.ingress, settings.units), now.monotonic);
        egress_.set_rate(times(settings.egress, settings.units), now.monotonic);
        auto_inflate_.set_rule(settings.inflate);
        limits_appends_.set(settings.is_limited());
        limits_reads_.set(settings.is_limited());
    }
    if (step) {
        tell(*step);
    }
}

void SharedCapacity::tell(const Step& step) {
    const insight::Finding finding =
        insight::capacity_changed({.units_before = step.units_before, .units = step.units, .is_automatic = step.is_automatic});
    // The change is an event without duration, so its finding closes at once.
    findings_.settle(kFindingsSource, std::span(&finding, 1), step.time);
    findings_.settle(kFindingsSource, {}, step.time);
}

std::optional<std::int32_t> SharedCapacity::note_use(const AutoInflate::Use& use, Now now) {
    const auto more = auto_inflate_.note(use, settings_.units, now.monotonic);
    if (more) {
        inflating_to_ = *more;
    }
    return more;
}

void SharedCapacity::inflate(std::int32_t from, std::int32_t to) {
    changes_.post("the capacity could not be raised", [this, from, to](logs::Turn& turn, runtime::Catalog& catalog) {
        const bool is_done = set_units(turn, catalog, config_, from, to);
        if (!is_done) {
            // If a client sets the same number later, that is not the broker's own change.
            const MutexLock lock(mutex_);
            inflating_to_.reset();
        }
        return is_done;
    });
}

SharedCapacity::Admission SharedCapacity::admit_incoming(Load load, std::int64_t wait_ms_max, Now now) {
    Admission admission;
    std::optional<std::int32_t> more;
    std::int32_t units = 0;
    {
        const MutexLock lock(mutex_);
        const auto outcome = ingress_.admit(load, std::max<std::int64_t>(0, wait_ms_max), now.monotonic);
        admission = {outcome.is_taken, outcome.is_taken ? outcome.wait_ms : rest_ms(outcome.wait_ms, wait_ms_max)};
        units = settings_.units;
        more = note_use({.asked = load, .unit = settings_.ingress, .is_ingress = true, .outcome = outcome}, now);
    }
    if (more) {
        inflate(units, *more);
    }
    return admission;
}

void SharedCapacity::give_back_incoming(Load load) {
    const MutexLock lock(mutex_);
    ingress_.give_back(load);
}

SharedCapacity::Admission SharedCapacity::admit_outgoing(Load load, Now now) {
    Admission admission;
    std::optional<std::int32_t> more;
    std::int32_t units = 0;
    {
        const MutexLock lock(mutex_);
        // One batch may exceed what passes in that time. It goes out if no other client waits, or its readers would never
        // advance.
        const std::int64_t wait_ms_max = egress_.owed_ms(now.monotonic) == 0 ? kLongestWaitMs : kFetchWaitMsMax;
        const auto outcome = egress_.admit(load, wait_ms_max, now.monotonic);
        admission = {outcome.is_taken, outcome.is_taken ? outcome.wait_ms : rest_ms(outcome.wait_ms, wait_ms_max)};
        units = settings_.units;
        more = note_use({.asked = load, .unit = settings_.egress, .is_ingress = false, .outcome = outcome}, now);
    }
    if (more) {
        inflate(units, *more);
    }
    return admission;
}

Load SharedCapacity::outgoing_at_once() const {
    const MutexLock lock(mutex_);
    const Load rate = egress_.rate();
    const auto at_once = [](std::int64_t per_second) {
        return per_second == 0 ? 0 : std::max<std::int64_t>(1, per_second * TokenBucket::kDepthMs / 1'000);
    };
    return {at_once(rate.bytes), at_once(rate.events)};
}

std::int64_t SharedCapacity::admit_commit(std::string_view group, std::string_view topic, PartitionIndex partition, Now now) {
    // Names of topics contain no slashes.
    std::string key = std::string(topic) + '/' + std::to_string(partition.value) + '/';
    key += group;
    const MutexLock lock(mutex_);
    return commits_.call(key, settings_.commits_per_second, now.monotonic);
}

void SharedCapacity::note_incoming(std::span<const Ended> topics) {
    const MutexLock lock(mutex_);
    for (const Ended& ended : topics) {
        counts_.note_request(ended.topic, ended.outcome);
        counts_.note_incoming(ended.topic, ended.load);
    }
}

void SharedCapacity::note_outgoing(std::span<const Ended> topics) {
    const MutexLock lock(mutex_);
    for (const Ended& ended : topics) {
        counts_.note_request(ended.topic, ended.outcome);
        counts_.note_outgoing(ended.topic, ended.load);
    }
}

TrafficCounts SharedCapacity::counts() const {
    const MutexLock lock(mutex_);
    return counts_;
}

SharedCapacity::Status SharedCapacity::status(Now now) {
    const MutexLock lock(mutex_);
    return {.settings = settings_,
            .ingress_wait_ms = ingress_.owed_ms(now.monotonic),
            .egress_wait_ms = egress_.owed_ms(now.monotonic),
            .steps = steps_};
}

}  // namespace partita::capacity
