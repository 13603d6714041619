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

/// Why `regex` is not a valid expression, in the words of Kafka's library (RE2/J); unset when it is valid.
[[nodiscard]] std::optional<std::string> regex_complaint(std::string_view regex);

/// An expression for whole names: of topics, of transactional ids. Time is linear in a name, whatever the expression is.
class WholeMatch {
  public:
    /// Empty when it is not valid.
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

/// The topics whose whole name each expression matches, of those that `among` has (null: of all). An expression that is not valid
/// matches nothing. Time is linear in the topics' names for each expression, whatever the expression is.
[[nodiscard]] std::map<std::string, std::set<std::string>> resolve_regexes(std::span<const std::string> regexes,
                                                                           const ClusterView& cluster, const TopicFilter* among);

}  // namespace partita::groups
