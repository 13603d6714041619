#pragma once

#include <functional>
#include <memory>

#include "broker/config/broker_config.h"
#include "broker/topics/catalog_commands.h"

namespace partita::runtime {

/// The catalog's view of the config definitions.
class DefinedConfigRules final : public topics::ConfigRules {
  public:
    explicit DefinedConfigRules(std::function<std::shared_ptr<const config::BrokerConfig>()> broker)
        : broker_(std::move(broker)) {}

    [[nodiscard]] topics::CatalogError validate(const topics::ConfigResource& resource, const topics::ConfigMap& overrides,
                                                const topics::ConfigMap& current) const override;
    [[nodiscard]] bool is_list(topics::ConfigResourceType type, std::string_view name) const override;
    [[nodiscard]] std::optional<std::string> default_value(topics::ConfigResourceType type, std::string_view name) const override;

  private:
    std::function<std::shared_ptr<const config::BrokerConfig>()> broker_;
};

}  // namespace partita::runtime
