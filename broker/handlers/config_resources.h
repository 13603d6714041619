#pragma once

#include <expected>
#include <optional>
#include <string_view>
#include <vector>

#include "broker/access/permission.h"
#include "broker/catalog/commands.h"
#include "broker/config/describe_configs.h"
#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// DescribeConfigs for a group, a client metrics subscription or the broker's loggers. Groups and subscriptions need not exist:
/// without configs of their own they have the defaults.
[[nodiscard]] std::expected<std::vector<config::ConfigEntry>, config::ConfigError> describe_other_resource(
    runtime::RequestContext& context, const catalog::ConfigResource& resource, const config::DescribeOptions& options);

/// The error for a client without the permission `operation` (`describe_configs` or `alter_configs`) on the resource's configs.
/// NONE for a client with it, and for unknown types of resources, which the caller refuses with another error.
[[nodiscard]] ErrorCode refusal_of_configs(const runtime::RequestContext& context, const catalog::ConfigResource& resource,
                                           access::Operation operation);

/// The error if a listener rejects settings of this broker that a request would change. No error for other resources, nor if the
/// catalog will refuse the change anyway. May read files, so call this before the catalog: it must not wait for files under its
/// lock.
[[nodiscard]] catalog::CatalogError objection_of_listeners(runtime::RequestContext& context,
                                                           const catalog::ResourceToAlter& resource);
/// The same check for a request that replaces all settings.
[[nodiscard]] catalog::CatalogError objection_of_listeners(runtime::RequestContext& context,
                                                           const catalog::ResourceToReplace& resource);

/// IncrementalAlterConfigs for the broker's loggers, whose levels are not in the catalog.
[[nodiscard]] catalog::CatalogError alter_broker_loggers(runtime::RequestContext& context,
                                                         const catalog::ResourceToAlter& resource, bool validate_only);

}  // namespace partita::handlers
