#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "broker/addons/scenarios/core/topic_changes.h"

/// A review of changed partition counts: which topics would grow, and what that would do, as Markdown for a pull request.
namespace partita::scenarios {

/// A wish against a cluster.
struct TopicChange {
    enum class Kind : std::uint8_t {
        unchanged,
        creation,  ///< the cluster has no such topic
        growth,
        shrinking,  ///< impossible
        removal,
        renewal,
        unknown,  ///< the file does not know the count
    };
    Kind kind{};
    TopicWish wish;
    /// The present number of partitions; 0 if the topic does not exist.
    std::int32_t from = 0;
};

/// Compares wishes with the topics of a cluster. Two different counts for one topic stay two changes.
[[nodiscard]] std::vector<TopicChange> compare(const std::vector<TopicWish>& wishes,
                                               const std::map<std::string, std::int32_t>& topics);

/// A change with its plan, if it is a growth.
struct ReviewedChange {
    TopicChange change;
    /// In the form of `partita plan --json`; null: none.
    nlohmann::ordered_json plan;
    /// The plan as `partita plan` prints it; empty: none.
    std::string plan_text;
};

enum class FailOn : std::uint8_t { warn, block };

/// Whether a change must not go on as it is. Shrinking and renewal never may; a growth without a verdict neither.
[[nodiscard]] bool is_at_risk(const ReviewedChange& change, FailOn fail_on);

/// The review. `against`: "the cluster at localhost:9092".
[[nodiscard]] std::string review_markdown(const std::vector<ReviewedChange>& changes, const std::string& against, FailOn fail_on);

}  // namespace partita::scenarios
