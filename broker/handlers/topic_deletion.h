#pragma once

#include "broker/access/permission.h"

namespace partita::handlers {

/// What deleting a topic needs. Kafka asks for DELETE on the cluster first, which no cluster knows: only an ACL for ALL gives it.
inline constexpr access::Need kDeleteTopicOrInCluster{access::kDeleteTopic,
                                                      {access::Operation::erase, access::ResourceType::cluster}};

}  // namespace partita::handlers
