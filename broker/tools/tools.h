#pragma once

#include "broker/tools/tool.h"

/// The tools, one in each NAME_tool.cc; all_tools.cc lists them.
namespace partita::tools {

extern const Tool kAclsTool;
extern const Tool kApiVersionsTool;
extern const Tool kClusterTool;
extern const Tool kConfigsTool;
extern const Tool kConsumeTool;
extern const Tool kDelegationTokensTool;
extern const Tool kElectionTool;
extern const Tool kFeaturesTool;
extern const Tool kGroupListTool;
extern const Tool kGroupsTool;
extern const Tool kLogDirsTool;
extern const Tool kOffsetsTool;
extern const Tool kPerfConsumeTool;
extern const Tool kPerfProduceTool;
extern const Tool kProduceTool;
extern const Tool kQuorumTool;
extern const Tool kQuotasTool;
extern const Tool kReassignTool;
extern const Tool kRecordsTool;
extern const Tool kTopicsTool;
extern const Tool kTransactionsTool;

}  // namespace partita::tools
