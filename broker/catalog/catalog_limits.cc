#include "broker/catalog/catalog_limits.h"

#include <charconv>
#include <string>
#include <utility>

namespace partita::catalog {
namespace {

/// True for topics that a client asked for; the others do not count.
bool counts(const Topic& topic) { return !topic.internal && !is_internal_topic(topic.name); }

std::string at_most(const CatalogLimits& limits, std::int64_t number, std::string_view of_what) {
    return limits.of.value + " has at most " + std::to_string(number) + " " + std::string(of_what);
}

/// True if records would be kept for longer than allowed. The value has already been checked to be a number.
bool keeps_too_long(const ConfigMap& configs, std::int64_t retention_ms_max) {
    const auto found = configs.find("retention.ms");
    if (found == configs.end()) {
        return false;
    }
    std::int64_t retention_ms = 0;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), retention_ms);
    return retention_ms < 0 || retention_ms > retention_ms_max;
}

CatalogError keeps_at_most(const CatalogLimits& limits) {
    return {ErrorCode::invalid_config,
            limits.of.value + " keeps records for at most " + std::to_string(limits.retention_ms) + " ms (retention.ms)"};
}

}  // namespace

LimitedCommand::LimitedCommand(const CatalogSnapshot& catalog, const std::optional<CatalogLimits>& limits)
    : limits_(limits ? &*limits : nullptr) {
    if (limits_ == nullptr) {
        return;
    }
    for (const Topic& topic : catalog.topics()) {
        if (!counts(topic)) {
            continue;
        }
        ++topics_;
        partitions_ += topic.partition_count;
    }
}

CatalogError LimitedCommand::partitions_problem(std::int32_t count, std::int64_t added) const {
    if (count > limits_->partitions_of_topic) {
        return {ErrorCode::invalid_partitions, at_most(*limits_, limits_->partitions_of_topic, "partitions in a topic")};
    }
    if (partitions_ + added > limits_->partitions) {
        return {ErrorCode::policy_violation, at_most(*limits_, limits_->partitions, "partitions in all topics together")};
    }
    return {};
}

CatalogError LimitedCommand::admit(const Topic& made) {
    if (limits_ == nullptr || !counts(made)) {
        return {};
    }
    if (CatalogError problem = partitions_problem(made.partition_count, made.partition_count); problem.failed()) {
        return problem;
    }
    if (topics_ >= limits_->topics) {
        return {ErrorCode::policy_violation, at_most(*limits_, limits_->topics, "topics")};
    }
    if (keeps_too_long(made.configs, limits_->retention_ms)) {
        return keeps_at_most(*limits_);
    }
    ++topics_;
    partitions_ += made.partition_count;
    return {};
}

CatalogError LimitedCommand::admit_growth(const Topic& grown, std::int32_t count) {
    if (limits_ == nullptr || !counts(grown)) {
        return {};
    }
    if (!limits_->adds_partitions) {
        return {ErrorCode::policy_violation, limits_->of.value + " does not add partitions to a topic"};
    }
    const std::int64_t added = std::int64_t{count} - grown.partition_count;
    if (CatalogError problem = partitions_problem(count, added); problem.failed()) {
        return problem;
    }
    partitions_ += added;
    return {};
}

CatalogError retention_problem(const std::optional<CatalogLimits>& limits, std::string_view topic, const ConfigMap& configs) {
    if (!limits || is_internal_topic(topic) || !keeps_too_long(configs, limits->retention_ms)) {
        return {};
    }
    return keeps_at_most(*limits);
}

}  // namespace partita::catalog
