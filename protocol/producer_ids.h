#pragma once

#include "protocol/types.h"

namespace partita {

/// The end of possible producer ids. The broker assigns ids in ascending order, from 0 on. At a million a second it would take
/// more than a hundred thousand years to get here.
inline constexpr ProducerId kProducerIdsEnd{std::int64_t{1} << 62};

/// False for an invented id. Code that continues behind the highest id in a log must not believe such an id: the broker would
/// have none left to assign.
[[nodiscard]] constexpr bool may_have_been_given(ProducerId id) { return id >= ProducerId{0} && id < kProducerIdsEnd; }

}  // namespace partita
