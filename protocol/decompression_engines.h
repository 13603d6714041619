#pragma once

#include <expected>
#include <memory>

#include "protocol/compression.h"

namespace partita::internal {

/// The streaming decoder of one codec. Belongs to one `Decompressor` at a time.
class DecompressionEngine {
  public:
    virtual ~DecompressionEngine() = default;

    /// Prepares for new input. `max_output_bytes` lets a codec refuse input at once when it declares a larger size.
    virtual void start(Bytes input, std::size_t max_output_bytes) = 0;

    /// Writes at most as many bytes as fit into `out` and returns how many: 0 at the end of the input.
    [[nodiscard]] virtual std::expected<std::size_t, CompressionError> read(MutableBytes out) = 0;

    /// True when unusual input made the engine so large that the thread should not keep it.
    [[nodiscard]] virtual bool has_outgrown() const = 0;
};

/// `codec` is not `none`.
[[nodiscard]] std::unique_ptr<DecompressionEngine> make_decompression_engine(Codec codec);

}  // namespace partita::internal
