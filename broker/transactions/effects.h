#pragma once

#include "broker/coordination/effects.h"
#include "broker/transactions/records.h"
#include "broker/transactions/results.h"

/// The effects of a call of the transaction coordinator. Its writes are the markers that end transactions.

namespace partita::transactions {

using coordination::ReplyToken;
using Effects = coordination::Effects<Record, Result>;

}  // namespace partita::transactions
