#include "protocol/compression.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <lz4frame.h>
#include <lz4hc.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/decompression_engines.h"
#include "protocol/try.h"

namespace partita {
namespace {

constexpr std::size_t kCodecs = 5;

/// One idle engine per codec and thread. Nested readers on one thread make a second one temporarily.
thread_local std::array<std::unique_ptr<internal::DecompressionEngine>, kCodecs> idle_engines;

/// How many bytes `decompress` asks for at a time.
constexpr std::size_t kOutputStepBytes = std::size_t{64} << 10;

/// The chunk size that the Java client uses in its framing.
constexpr std::size_t kSnappyChunkBytes = std::size_t{32} << 10;

/// The thread does not keep a zstd compressor that grew beyond this.
constexpr std::size_t kMaxKeptCompressorBytes = std::size_t{8} << 20;

template <auto kFree>
struct Releaser {
    template <class Handle>
    void operator()(Handle* handle) const {
        kFree(handle);
    }
};
using ZstdCompressor = std::unique_ptr<ZSTD_CCtx, Releaser<ZSTD_freeCCtx>>;
using Lz4Compressor = std::unique_ptr<LZ4F_cctx, Releaser<LZ4F_freeCompressionContext>>;

class GzipCompressor {
  public:
    explicit GzipCompressor(int level) : level_(level) {
        constexpr int kLargestWindowGzip = 15 + 16;
        constexpr int kDefaultMemoryLevel = 8;
        const int result = deflateInit2(&stream_, level, Z_DEFLATED, kLargestWindowGzip, kDefaultMemoryLevel, Z_DEFAULT_STRATEGY);
        PARTITA_ASSERT(result == Z_OK, "zlib fails here only without memory");
    }
    ~GzipCompressor() { deflateEnd(&stream_); }
    GzipCompressor(const GzipCompressor&) = delete;
    GzipCompressor& operator=(const GzipCompressor&) = delete;

    [[nodiscard]] int level() const { return level_; }

    void run(Bytes input, std::vector<std::byte>& out) {
        deflateReset(&stream_);
        const std::size_t start = out.size();
        const std::size_t bound = deflateBound(&stream_, static_cast<uLong>(input.size()));
        out.resize(start + bound);
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
        stream_.avail_in = static_cast<uInt>(input.size());
        stream_.next_out = reinterpret_cast<Bytef*>(out.data() + start);
        stream_.avail_out = static_cast<uInt>(bound);
        const int result = deflate(&stream_, Z_FINISH);
        PARTITA_ASSERT(result == Z_STREAM_END, "the output has zlib's own bound");
        out.resize(out.size() - stream_.avail_out);
    }

  private:
    z_stream stream_{};
    int level_;
};

void compress_gzip(int level, Bytes input, std::vector<std::byte>& out) {
    thread_local std::unique_ptr<GzipCompressor> compressor;
    if (!compressor || compressor->level() != level) {
        compressor = std::make_unique<GzipCompressor>(level);
    }
    compressor->run(input, out);
}

void append_big_endian(std::vector<std::byte>& out, std::int32_t value) {
    out.resize(out.size() + sizeof value);
    store_big_endian(out.data() + out.size() - sizeof value, value);
}

void compress_snappy(Bytes input, std::vector<std::byte>& out) {
    constexpr std::string_view kMagic("\x82SNAPPY\0", 8);
    constexpr std::int32_t kVersion = 1;
    const Bytes magic = as_bytes(kMagic);
    out.insert(out.end(), magic.begin(), magic.end());
    append_big_endian(out, kVersion);
    append_big_endian(out, kVersion);
    while (!input.empty()) {
        const Bytes chunk = input.first(std::min(input.size(), kSnappyChunkBytes));
        input = input.subspan(chunk.size());
        const std::size_t length_place = out.size();
        out.resize(length_place + sizeof(std::int32_t) + snappy::MaxCompressedLength(chunk.size()));
        std::size_t written = 0;
        snappy::RawCompress(reinterpret_cast<const char*>(chunk.data()), chunk.size(),
                            reinterpret_cast<char*>(out.data() + length_place + sizeof(std::int32_t)), &written);
        store_big_endian(out.data() + length_place, static_cast<std::int32_t>(written));
        out.resize(length_place + sizeof(std::int32_t) + written);
    }
}

void compress_lz4(int level, Bytes input, std::vector<std::byte>& out) {
    LZ4F_preferences_t preferences{};
    preferences.frameInfo.blockSizeID = LZ4F_max64KB;
    preferences.frameInfo.blockMode = LZ4F_blockIndependent;
    preferences.compressionLevel = level;
    const std::size_t start = out.size();
    out.resize(start + LZ4F_compressFrameBound(input.size(), &preferences));
    // For levels below 3 the library uses the fast compressor, as the description of the level says.
    thread_local Lz4Compressor context = [] {
        LZ4F_cctx* created = nullptr;
        const auto result = LZ4F_createCompressionContext(&created, LZ4F_VERSION);
        PARTITA_ASSERT(!LZ4F_isError(result), "lz4 fails here only without memory");
        return Lz4Compressor(created);
    }();
    std::size_t written = start;
    const auto step = [&](std::size_t result) {
        PARTITA_ASSERT(!LZ4F_isError(result), "the output has lz4's own bound");
        written += result;
    };
    step(LZ4F_compressBegin(context.get(), out.data() + written, out.size() - written, &preferences));
    step(LZ4F_compressUpdate(context.get(), out.data() + written, out.size() - written, input.data(), input.size(), nullptr));
    step(LZ4F_compressEnd(context.get(), out.data() + written, out.size() - written, nullptr));
    out.resize(written);
}

void compress_zstd(int level, Bytes input, std::vector<std::byte>& out) {
    thread_local ZstdCompressor context;
    if (!context) {
        context.reset(ZSTD_createCCtx());
    }
    PARTITA_ASSERT(context != nullptr, "zstd fails here only without memory");
    const std::size_t start = out.size();
    const std::size_t bound = ZSTD_compressBound(input.size());
    out.resize(start + bound);
    const std::size_t written = ZSTD_compressCCtx(context.get(), out.data() + start, bound, input.data(), input.size(), level);
    PARTITA_ASSERT(!ZSTD_isError(written), "the output has zstd's own bound");
    out.resize(start + written);
    // The highest levels take over 100 MiB, which no thread keeps for a next time that may not come.
    if (ZSTD_sizeof_CCtx(context.get()) > kMaxKeptCompressorBytes) {
        context.reset();
    }
}

int level_within(Codec codec, int level) {
    switch (codec) {
        case Codec::none:
        case Codec::snappy:
            return 0;
        case Codec::gzip:
            return level == Z_DEFAULT_COMPRESSION ? level : std::clamp(level, 1, 9);
        case Codec::lz4:
            return std::clamp(level, 1, 17);
        case Codec::zstd:
            return std::clamp(level, ZSTD_minCLevel(), ZSTD_maxCLevel());
    }
    return level;
}

}  // namespace

std::optional<Codec> codec_from_id(int id) {
    if (id < 0 || id > static_cast<int>(Codec::zstd)) {
        return std::nullopt;
    }
    return static_cast<Codec>(id);
}

std::string_view codec_name(Codec codec) {
    switch (codec) {
        case Codec::none:
            return "none";
        case Codec::gzip:
            return "gzip";
        case Codec::snappy:
            return "snappy";
        case Codec::lz4:
            return "lz4";
        case Codec::zstd:
            return "zstd";
    }
    return "unknown";
}

Decompressor::Decompressor(Codec codec, Bytes input, std::size_t limit_bytes)
    : codec_(codec), input_(input), left_before_limit_(limit_bytes) {
    if (codec == Codec::none) {
        return;
    }
    engine_ = std::move(idle_engines[static_cast<std::size_t>(codec)]);
    if (!engine_) {
        engine_ = internal::make_decompression_engine(codec);
    }
    engine_->start(input, limit_bytes);
}

Decompressor::~Decompressor() {
    if (engine_ && !engine_->has_outgrown()) {
        idle_engines[static_cast<std::size_t>(codec_)] = std::move(engine_);
    }
}

std::expected<std::size_t, CompressionError> Decompressor::fail(CompressionError error) {
    error_ = error;
    return std::unexpected(error);
}

std::expected<std::size_t, CompressionError> Decompressor::read(MutableBytes out) {
    PARTITA_ASSERT(!out.empty(), "0 must mean the end of the input");
    if (error_) {
        return std::unexpected(*error_);
    }
    // At the limit it asks for one more byte: only that tells too much from just enough.
    std::byte probe{};
    const bool at_limit = left_before_limit_ == 0;
    const MutableBytes room = at_limit ? MutableBytes(&probe, 1) : out.first(std::min(out.size(), left_before_limit_));
    std::size_t count = 0;
    if (engine_) {
        const auto got = engine_->read(room);
        if (!got) {
            return fail(got.error());
        }
        count = *got;
    } else {
        count = std::min(room.size(), input_.size());
        if (count > 0) {
            std::memcpy(room.data(), input_.data(), count);
        }
        input_ = input_.subspan(count);
    }
    if (at_limit && count > 0) {
        return fail(CompressionError::too_large);
    }
    left_before_limit_ -= count;
    return count;
}

std::expected<void, CompressionError> decompress(Codec codec, Bytes input, std::size_t limit_bytes, std::vector<std::byte>& out) {
    Decompressor decompressor(codec, input, limit_bytes);
    std::size_t filled = out.size();
    while (true) {
        if (out.size() - filled < kOutputStepBytes) {
            out.resize(std::max(filled + kOutputStepBytes, out.size() * 3 / 2));
        }
        const auto got = decompressor.read(MutableBytes(out).subspan(filled));
        if (got) {
            filled += *got;
        }
        if (got && *got > 0) {
            continue;
        }
        out.resize(filled);
        PARTITA_TRY(got);
        return {};
    }
}

int default_compression_level(Codec codec) {
    switch (codec) {
        case Codec::none:
        case Codec::snappy:
            return 0;
        case Codec::gzip:
            return kDefaultGzipLevel;
        case Codec::lz4:
            return kDefaultLz4Level;
        case Codec::zstd:
            return kDefaultZstdLevel;
    }
    return 0;
}

void compress(Codec codec, int level, Bytes input, std::vector<std::byte>& out) {
    const int allowed_level = level_within(codec, level);
    switch (codec) {
        case Codec::none:
            out.insert(out.end(), input.begin(), input.end());
            return;
        case Codec::gzip:
            compress_gzip(allowed_level, input, out);
            return;
        case Codec::snappy:
            compress_snappy(input, out);
            return;
        case Codec::lz4:
            compress_lz4(allowed_level, input, out);
            return;
        case Codec::zstd:
            compress_zstd(allowed_level, input, out);
            return;
    }
}

}  // namespace partita
