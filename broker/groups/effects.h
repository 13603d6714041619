#pragma once

#include "broker/coordination/effects.h"
#include "broker/groups/records.h"
#include "broker/groups/results.h"

/// What a call of the coordinator of groups wants to happen. Groups write to no partitions but their own.

namespace partita::groups {

using coordination::ReplyToken;
using Reply = coordination::Reply<Result>;
using Effects = coordination::Effects<Record, Result>;

}  // namespace partita::groups
