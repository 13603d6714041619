#include "protocol/decompression_engines.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <lz4frame.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"

namespace partita::internal {
namespace {

using ReadResult = std::expected<std::size_t, CompressionError>;
constexpr auto kCorrupt = std::unexpected<CompressionError>(CompressionError::corrupt);

/// zlib counts in unsigned ints, so larger counts are cut to their maximum.
unsigned int zlib_count(std::size_t bytes) {
    return static_cast<unsigned int>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned int>::max()));
}

class GzipEngine final : public DecompressionEngine {
  public:
    GzipEngine() {
        constexpr int kLargestWindowGzipOnly = 15 + 16;
        const int result = inflateInit2(&stream_, kLargestWindowGzipOnly);
        PARTITA_ASSERT(result == Z_OK, "zlib fails here only without memory");
    }
    ~GzipEngine() override { inflateEnd(&stream_); }

    void start(Bytes input, std::size_t) override {
        inflateReset(&stream_);
        input_ = input;
        finished_ = false;
    }

    ReadResult read(MutableBytes out) override {
        std::size_t written = 0;
        while (!finished_ && written < out.size()) {
            const MutableBytes room = out.subspan(written);
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input_.data()));
            stream_.avail_in = zlib_count(input_.size());
            stream_.next_out = reinterpret_cast<Bytef*>(room.data());
            stream_.avail_out = zlib_count(room.size());
            const auto in_before = stream_.avail_in;
            const auto out_before = stream_.avail_out;
            const int result = inflate(&stream_, Z_NO_FLUSH);
            const std::size_t consumed = in_before - stream_.avail_in;
            const std::size_t produced = out_before - stream_.avail_out;
            input_ = input_.subspan(consumed);
            written += produced;
            if (result == Z_STREAM_END) {
                // It decodes a further member, and ignores any other bytes behind a member (as in Java).
                finished_ = !(input_.size() >= 2 && input_[0] == std::byte{0x1f} && input_[1] == std::byte{0x8b});
                if (!finished_) {
                    inflateReset(&stream_);
                }
            } else if (result != Z_OK || (consumed == 0 && produced == 0)) {
                return kCorrupt;
            }
        }
        return written;
    }

    bool has_outgrown() const override { return false; }

  private:
    z_stream stream_{};
    Bytes input_;
    bool finished_ = false;
};

/// The Java framing: 8 magic bytes, version, lowest compatible version, then chunks.
constexpr std::size_t kSnappyFramingMagicBytes = 8;
constexpr char kSnappyFramingMagic[] = "\x82SNAPPY";  // 7 characters and the terminating zero.
static_assert(sizeof kSnappyFramingMagic == kSnappyFramingMagicBytes);
constexpr std::size_t kSnappyFramingHeaderBytes = 16;
constexpr std::int32_t kSnappyFramingVersion = 1;

/// Snappy's densest element makes 64 bytes out of 3. A block that declares a larger factor is invalid, and is refused before
/// memory is allocated for it.
constexpr std::size_t kSnappyMaxRatio = 64;

class SnappyEngine final : public DecompressionEngine {
  public:
    void start(Bytes input, std::size_t max_output_bytes) override {
        input_ = input;
        block_.clear();
        block_read_ = 0;
        budget_ = max_output_bytes;
        framed_ = has_framing_magic(input);
        raw_done_ = false;
        header_pending_ = framed_;
    }

    ReadResult read(MutableBytes out) override {
        while (block_read_ == block_.size()) {
            PARTITA_TRY_ASSIGN(const auto more, framed_ ? next_chunk() : next_raw());
            if (!more) {
                return std::size_t{0};
            }
        }
        const std::size_t count = std::min(out.size(), block_.size() - block_read_);
        std::memcpy(out.data(), block_.data() + block_read_, count);
        block_read_ += count;
        return count;
    }

    bool has_outgrown() const override { return block_.capacity() > kMaxKeptBlockBytes; }

  private:
    static constexpr std::size_t kMaxKeptBlockBytes = std::size_t{256} << 10;

    static bool has_framing_magic(Bytes bytes) {
        return bytes.size() >= kSnappyFramingMagicBytes &&
               std::memcmp(bytes.data(), kSnappyFramingMagic, kSnappyFramingMagicBytes) == 0;
    }

    std::expected<bool, CompressionError> next_raw() {
        if (raw_done_) {
            return false;
        }
        raw_done_ = true;
        return expand(input_);
    }

    std::expected<bool, CompressionError> next_chunk() {
        // Streams may be concatenated; each begins with the framing's header.
        while (header_pending_ || has_framing_magic(input_)) {
            if (input_.size() < kSnappyFramingHeaderBytes) {
                return kCorrupt;
            }
            const auto lowest_compatible = load_big_endian<std::int32_t>(input_.data() + 12);
            if (load_big_endian<std::int32_t>(input_.data() + 8) < kSnappyFramingVersion ||
                lowest_compatible > kSnappyFramingVersion) {
                return kCorrupt;
            }
            input_ = input_.subspan(kSnappyFramingHeaderBytes);
            header_pending_ = false;
        }
        if (input_.empty()) {
            return false;
        }
        if (input_.size() < sizeof(std::int32_t)) {
            return kCorrupt;
        }
        const auto length = load_big_endian<std::int32_t>(input_.data());
        input_ = input_.subspan(sizeof(std::int32_t));
        if (length < 0 || static_cast<std::size_t>(length) > input_.size()) {
            return kCorrupt;
        }
        const Bytes chunk = input_.first(static_cast<std::size_t>(length));
        input_ = input_.subspan(chunk.size());
        return expand(chunk);
    }

    std::expected<bool, CompressionError> expand(Bytes chunk) {
        const auto* data = reinterpret_cast<const char*>(chunk.data());
        std::size_t size = 0;
        if (!snappy::GetUncompressedLength(data, chunk.size(), &size)) {
            return kCorrupt;
        }
        if (size > chunk.size() * kSnappyMaxRatio) {
            return kCorrupt;
        }
        if (size > budget_) {
            return std::unexpected(CompressionError::too_large);
        }
        budget_ -= size;
        block_.resize(size);
        block_read_ = 0;
        if (!snappy::RawUncompress(data, chunk.size(), reinterpret_cast<char*>(block_.data()))) {
            block_.clear();
            return kCorrupt;
        }
        return true;
    }

    Bytes input_;
    std::vector<std::byte> block_;
    std::size_t block_read_ = 0;
    std::size_t budget_ = 0;
    bool framed_ = false;
    bool raw_done_ = false;
    bool header_pending_ = false;
};

class Lz4Engine final : public DecompressionEngine {
  public:
    Lz4Engine() {
        const auto result = LZ4F_createDecompressionContext(&context_, LZ4F_VERSION);
        PARTITA_ASSERT(!LZ4F_isError(result), "lz4 fails here only without memory");
    }
    ~Lz4Engine() override { LZ4F_freeDecompressionContext(context_); }

    void start(Bytes input, std::size_t) override {
        LZ4F_resetDecompressionContext(context_);
        input_ = input;
        finished_ = false;
        well_formed_ = is_frame_that_kafka_reads(input);
        large_blocks_ = well_formed_ && block_size_id(input) > LZ4F_max256KB;
    }

    ReadResult read(MutableBytes out) override {
        if (!well_formed_) {
            return kCorrupt;
        }
        std::size_t written = 0;
        while (!finished_ && written < out.size()) {
            std::size_t produced = out.size() - written;
            std::size_t consumed = input_.size();
            const auto hint = LZ4F_decompress(context_, out.data() + written, &produced, input_.data(), &consumed, nullptr);
            if (LZ4F_isError(hint)) {
                return kCorrupt;
            }
            input_ = input_.subspan(consumed);
            written += produced;
            finished_ = hint == 0;
            if (!finished_ && consumed == 0 && produced == 0) {
                return kCorrupt;
            }
        }
        return written;
    }

    bool has_outgrown() const override { return large_blocks_; }

  private:
    static constexpr std::size_t kDescriptorBytes = 6;  // Magic, flags, block descriptor.

    static unsigned block_size_id(Bytes frame) { return (std::to_integer<unsigned>(frame[5]) >> 4) & 0x7u; }

    /// Kafka's own reader accepts version 1 with independent blocks and no dictionary. A frame that it could not read must not
    /// enter the log, since Kafka's consumers could not read it either.
    static bool is_frame_that_kafka_reads(Bytes frame) {
        if (frame.size() < kDescriptorBytes) {
            return false;
        }
        std::uint32_t magic;
        std::memcpy(&magic, frame.data(), sizeof magic);
        if constexpr (std::endian::native == std::endian::big) {
            magic = std::byteswap(magic);
        }
        const auto flags = std::to_integer<unsigned>(frame[4]);
        const bool version_1 = (flags >> 6) == 1;
        const bool independent_blocks = (flags & 0x20u) != 0;
        const bool reserved = (flags & 0x03u) != 0;
        return magic == 0x184d2204u && version_1 && independent_blocks && !reserved;
    }

    LZ4F_dctx* context_ = nullptr;
    Bytes input_;
    bool finished_ = false;
    bool well_formed_ = false;
    bool large_blocks_ = false;
};

class ZstdEngine final : public DecompressionEngine {
  public:
    ZstdEngine() : context_(ZSTD_createDCtx()) {
        PARTITA_ASSERT(context_ != nullptr, "zstd fails here only without memory");
        const auto result = ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxZstdWindowLog);
        PARTITA_ASSERT(!ZSTD_isError(result), "the window bound is one that zstd supports");
    }
    ~ZstdEngine() override { ZSTD_freeDCtx(context_); }

    void start(Bytes input, std::size_t) override {
        ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
        input_ = input;
        // Empty input is not a frame; only the end of a frame is an end.
        at_frame_end_ = false;
    }

    ReadResult read(MutableBytes out) override {
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        ZSTD_inBuffer input{input_.data(), input_.size(), 0};
        while (output.pos < output.size && !(at_frame_end_ && input.pos == input.size)) {
            const std::size_t in_before = input.pos;
            const std::size_t out_before = output.pos;
            const std::size_t hint = ZSTD_decompressStream(context_, &output, &input);
            if (ZSTD_isError(hint)) {
                return kCorrupt;
            }
            at_frame_end_ = hint == 0;
            if (!at_frame_end_ && input.pos == in_before && output.pos == out_before) {
                return kCorrupt;
            }
        }
        input_ = input_.subspan(input.pos);
        return output.pos;
    }

    bool has_outgrown() const override { return ZSTD_sizeof_DCtx(context_) > kMaxKeptContextBytes; }

  private:
    /// The thread keeps a context for the levels that clients use by default (windows up to 2 MiB).
    static constexpr std::size_t kMaxKeptContextBytes = std::size_t{3} << 20;

    ZSTD_DCtx* context_;
    Bytes input_;
    bool at_frame_end_ = false;
};

}  // namespace

std::unique_ptr<DecompressionEngine> make_decompression_engine(Codec codec) {
    switch (codec) {
        case Codec::none:
            break;
        case Codec::gzip:
            return std::make_unique<GzipEngine>();
        case Codec::snappy:
            return std::make_unique<SnappyEngine>();
        case Codec::lz4:
            return std::make_unique<Lz4Engine>();
        case Codec::zstd:
            return std::make_unique<ZstdEngine>();
    }
    PARTITA_ASSERT(false, "uncompressed input needs no engine");
    return nullptr;
}

}  // namespace partita::internal
