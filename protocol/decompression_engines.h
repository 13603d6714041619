#pragma once

#include <expected>
#include <memory>

#include "protocol/compression.h"

namespace partita::internal {

/// One codec's streaming decoder. Belongs to one `Decompressor` at a time.
class DecompressionEngine {
  public:
    virtual ~DecompressionEngine() = default;

    /// Prepares for new input. `max_output_bytes` lets a codec refuse by a declared size what could not
    /// be handed out anyway.
    virtual void start(Bytes input, std::size_t max_output_bytes) = 0;

    /// Fills at most `out`; 0 at the end of the input.
    [[nodiscard]] virtual std::expected<std::size_t, CompressionError> read(MutableBytes out) = 0;

    /// Whether unusual input made it grow so far that it is better thrown away than kept for the thread.
    [[nodiscard]] virtual bool has_outgrown() const = 0;
};

/// `codec` is not `none`.
[[nodiscard]] std::unique_ptr<DecompressionEngine> make_decompression_engine(Codec codec);

}  // namespace partita::internal
