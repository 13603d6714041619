#pragma once

#include "protocol/types.h"

namespace partita {

/// Producer ids are given out in ascending order, from 0 on. From here on nobody was ever given one: at a million a second that
/// takes more than a hundred thousand years.
inline constexpr ProducerId kProducerIdsEnd{std::int64_t{1} << 62};

/// False for an id that somebody made up. Whoever goes on behind the highest id that a log shows must not believe it: there would
/// be none left to give out.
[[nodiscard]] constexpr bool may_have_been_given(ProducerId id) { return id >= ProducerId{0} && id < kProducerIdsEnd; }

}  // namespace partita
