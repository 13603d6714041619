#pragma once

#include "broker/access/permission.h"

namespace partita::handlers {

/// The permission to delete a topic. Kafka first checks DELETE on the cluster. The cluster has no such operation, so only an ACL
/// for ALL grants it.
inline constexpr access::Need kDeleteTopicOrInCluster{access::kDeleteTopic,
                                                      {access::Operation::erase, access::ResourceType::cluster}};

}  // namespace partita::handlers
