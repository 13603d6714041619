#include "broker/tools/tools.h"

namespace partita::tools {

std::span<const Tool* const> all_tools() {
    static constexpr const Tool* kTools[] = {
        &kAclsTool,        &kApiVersionsTool, &kClusterTool,     &kConfigsTool, &kConsumeTool, &kDelegationTokensTool,
        &kElectionTool,    &kFeaturesTool,    &kGroupListTool,   &kGroupsTool,  &kLogDirsTool, &kOffsetsTool,
        &kPerfConsumeTool, &kPerfProduceTool, &kProduceTool,     &kQuorumTool,  &kQuotasTool,  &kReassignTool,
        &kRecordsTool,     &kTopicsTool,      &kTransactionsTool};
    return kTools;
}

}  // namespace partita::tools
