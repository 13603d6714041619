#pragma once

#include <cstdint>
#include <string_view>

#include "broker/assignors/assignment.h"
#include "broker/config/group_config.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/share/commands.h"
#include "broker/share/share_sessions.h"
#include "protocol/error_code.h"

/// Parts that the APIs of share groups (KIP-932) have in common.

namespace partita::handlers {

/// False if the cluster's feature `share.version` is off; share groups are then refused with UNSUPPORTED_VERSION.
[[nodiscard]] bool share_groups_are_enabled(logs::Turn& turn);

/// The settings in force for a share group: its own, else the broker's.
struct ShareSettings {
    share::ShareLimits limits;
    bool is_committed = false;
    config::OffsetReset reset;
};
[[nodiscard]] ShareSettings share_settings(logs::Turn& turn, const config::CurrentConfig& config, std::string_view group_id);

/// True for an id that a member of a share group may have.
[[nodiscard]] bool is_share_member_id(const std::optional<std::string_view>& member_id);

/// Begins the state of partitions in the share coordinator, creating its topic if the topic is missing, and tells the group.
/// `starts` gives each partition's start offset, in their order; empty: not known yet. Returns the first error.
[[nodiscard]] ErrorCode initialize_share_state(logs::Turn& turn, const runtime::ShareServices& services,
                                               std::string_view group_id, const assignors::Assignment& partitions,
                                               std::int32_t group_epoch, std::span<const Offset> starts = {});

/// Deletes the state of partitions in the share coordinator, and tells the group. Returns the first error.
[[nodiscard]] ErrorCode delete_share_state(logs::Turn& turn, const runtime::ShareServices& services, std::string_view group_id,
                                           const assignors::Assignment& partitions);

/// Gives back what the member of an ended session holds, and puts the group's partitions aside if nobody uses them now.
void give_back(logs::Turn& turn, const runtime::ShareServices& services, const share::ShareSessions::Ended& ended);

}  // namespace partita::handlers
