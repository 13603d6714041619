#pragma once

#include "broker/coordination/effects.h"
#include "broker/transactions/records.h"
#include "broker/transactions/results.h"

/// What a call of the coordinator of transactions wants to happen. Its writes are the markers that end transactions.

namespace partita::transactions {

using coordination::ReplyToken;
using Effects = coordination::Effects<Record, Result>;

}  // namespace partita::transactions
