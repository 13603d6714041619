#pragma once

#include <string_view>

#include "broker/groups/cluster_view.h"
#include "broker/handlers/access_audit.h"
#include "broker/handlers/authorize.h"

namespace partita::handlers {

/// The topics that the client of a request may know: those with DESCRIBE TOPIC. Only for APIs whose rows list this permission.
class DescribableTopics final : public groups::TopicFilter {
  public:
    explicit DescribableTopics(const runtime::RequestContext& context) : context_(context) {}

    [[nodiscard]] bool has(std::string_view topic) const override {
        return authorize_quietly(context_, access::kDescribeTopic, topic);
    }
    /// Null if the client may know all topics.
    [[nodiscard]] const groups::TopicFilter* or_all() const {
        return context_.services.authorizer.allows_everything() ? nullptr : this;
    }

  private:
    const runtime::RequestContext& context_;
};

}  // namespace partita::handlers
