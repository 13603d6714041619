#pragma once

#include "tests/interop/clients/cpp/agent.h"

/// The admin calls. librdkafka++ has none of its own: programs in C++ use the C interface through Handle::c_ptr().
namespace admin {

void add_calls(agent::Operations& operations);

}  // namespace admin
