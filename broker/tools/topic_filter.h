#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "broker/catalog/catalog.h"
#include "broker/groups/topic_regex.h"

namespace partita::tools {

/// A selection of topics on a line: expressions, separated by commas.
class TopicFilter {
  public:
    /// The error is Kafka's text.
    [[nodiscard]] static std::expected<TopicFilter, std::string> parse(std::string_view text);

    [[nodiscard]] bool allows(std::string_view topic, bool excludes_internal) const {
        return match_.matches(topic) && !(excludes_internal && catalog::is_internal_topic(topic));
    }

  private:
    explicit TopicFilter(groups::WholeMatch match) : match_(std::move(match)) {}

    groups::WholeMatch match_;
};

}  // namespace partita::tools
