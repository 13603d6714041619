#pragma once

#include <utility>

#include "broker/groups/effects.h"

namespace partita::groups {

template <class R>
void reply(Effects& effects, ReplyToken token, R&& result) {
    effects.replies.push_back({token, Result(std::forward<R>(result))});
}

}  // namespace partita::groups
