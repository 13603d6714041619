#include "broker/tools/tools.h"

namespace partita::tools {

std::span<const Tool* const> all_tools() {
    static constexpr const Tool* kTools[] = {&kApiVersionsTool, &kClusterTool, &kConfigsTool, &kConsumeTool, &kGroupsTool,
                                             &kLogDirsTool,     &kOffsetsTool, &kProduceTool, &kRecordsTool, &kTopicsTool};
    return kTools;
}

}  // namespace partita::tools
