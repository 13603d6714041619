#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "broker/runtime/loop/reply.h"
#include "broker/runtime/loop/send_pace.h"

namespace partita::runtime {

/// The fate of one reply between its handler and its client, if it does not simply leave: the test bench damages replies, and
/// sends them badly.
struct ReplyTreatment {
    /// Changes the reply when it is ready; may be empty.
    std::function<void(Reply&)> change = {};
    /// The client receives it once more, right behind itself.
    bool is_sent_twice = false;
    /// The reply leaves at this pace.
    std::optional<SendPace> pace = {};
    /// Only so many bytes of it leave. Then the connection is reset, without the end that its protocol has.
    std::optional<std::size_t> reset_after_bytes = {};
};

/// Applies the parts that change the reply itself.
void treat(const ReplyTreatment& treatment, Reply& reply);

/// Brings the parts of the reply that lie in files into its own bytes, as a copy. Returns false and leaves the reply as it is if
/// it has more than `bytes_max` bytes, or if a file cannot be read.
[[nodiscard]] bool gather(Reply& reply, std::size_t bytes_max);

/// Keeps the first `bytes` bytes of the reply, with those from files.
void cut(Reply& reply, std::size_t bytes);

}  // namespace partita::runtime
