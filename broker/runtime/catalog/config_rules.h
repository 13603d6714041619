#pragma once

#include <functional>
#include <memory>

#include "broker/catalog/commands.h"
#include "broker/config/broker_config.h"

namespace partita::runtime {

/// The rules of configs for the catalog, from the config definitions.
class DefinedConfigRules final : public catalog::ConfigRules {
  public:
    explicit DefinedConfigRules(std::function<std::shared_ptr<const config::BrokerConfig>()> broker)
        : broker_(std::move(broker)) {}

    [[nodiscard]] catalog::CatalogError validate(const catalog::ConfigResource& resource, const catalog::ConfigMap& overrides,
                                                 const catalog::ConfigMap& current) const override;
    [[nodiscard]] bool is_list(catalog::ConfigResourceType type, std::string_view name) const override;
    [[nodiscard]] std::optional<std::string> default_value(catalog::ConfigResourceType type,
                                                           std::string_view name) const override;

  private:
    std::function<std::shared_ptr<const config::BrokerConfig>()> broker_;
};

}  // namespace partita::runtime
