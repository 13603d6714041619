#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "broker/groups/cluster_view.h"

namespace partita::groups {

/// Why `regex` is invalid, in the words of Kafka's library (RE2/J); unset if it is valid.
[[nodiscard]] std::optional<std::string> regex_complaint(std::string_view regex);

/// An expression that must match a whole name: of a topic, of a transactional id. The time is linear in the name for every
/// expression.
class WholeMatch {
  public:
    /// Empty if the expression is invalid.
    [[nodiscard]] static std::optional<WholeMatch> compile(std::string_view regex);
    ~WholeMatch();
    WholeMatch(WholeMatch&&) noexcept;
    WholeMatch& operator=(WholeMatch&&) noexcept;

    [[nodiscard]] bool matches(std::string_view name) const;

  private:
    struct Compiled;

    explicit WholeMatch(std::unique_ptr<Compiled> compiled);

    std::unique_ptr<Compiled> compiled_;
};

/// The topics whose whole name each expression matches, among those in `among` (null: all). An invalid expression matches
/// nothing. The time is linear in the topics' names for every expression.
[[nodiscard]] std::map<std::string, std::set<std::string>> resolve_regexes(std::span<const std::string> regexes,
                                                                           const ClusterView& cluster, const TopicFilter* among);

}  // namespace partita::groups
