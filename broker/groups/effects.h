#pragma once

#include "broker/coordination/effects.h"
#include "broker/groups/records.h"
#include "broker/groups/results.h"

/// The effects that a call of the group coordinator asks for. Groups write only to their own partition.

namespace partita::groups {

using coordination::ReplyToken;
using Reply = coordination::Reply<Result>;
using Effects = coordination::Effects<Record, Result>;

}  // namespace partita::groups
