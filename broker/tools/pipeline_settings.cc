#include "broker/tools/pipeline_settings.h"

#include <algorithm>
#include <limits>

#include "broker/tools/text.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr std::int64_t kIntegerMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();
/// More requests under way could be stored in another order.
constexpr std::size_t kIdempotentInFlightMax = 5;

std::unexpected<Ending> invalid_value(const std::string& name, const std::string& value, const std::string& why) {
    return refused("Invalid value " + value + " for configuration " + name + ": " + why);
}

std::optional<std::string> property(const Properties& properties, const std::string& name) {
    const auto found = properties.find(name);
    return found == properties.end() ? std::nullopt : std::optional(trimmed(found->second));
}

Outcome<std::int64_t> number_property(const Properties& properties, const std::string& name, std::int64_t otherwise,
                                      std::int64_t least, std::int64_t most) {
    const auto text = property(properties, name);
    if (!text) {
        return otherwise;
    }
    const auto number = parse_integer(*text);
    if (!number || *number > most || *number < -most - 1) {
        return invalid_value(name, *text, most == kIntegerMax ? "Not a number of type INT" : "Not a number of type LONG");
    }
    if (*number < least) {
        return invalid_value(name, std::to_string(*number), "Value must be at least " + std::to_string(least));
    }
    return *number;
}

Outcome<void> read_codec(const Properties& properties, client::PipelineSettings& settings) {
    constexpr std::pair<std::string_view, Codec> kCodecs[] = {
        {"none", Codec::none}, {"gzip", Codec::gzip}, {"snappy", Codec::snappy}, {"lz4", Codec::lz4}, {"zstd", Codec::zstd}};
    const std::string name = property(properties, "compression.type").value_or("none");
    const auto known = std::ranges::find(kCodecs, name, &std::pair<std::string_view, Codec>::first);
    if (known == std::end(kCodecs)) {
        return invalid_value("compression.type", name, "String must be one of: none, gzip, snappy, lz4, zstd");
    }
    settings.codec = known->second;
    const std::string level = "compression." + name + ".level";
    if (properties.contains(level)) {
        PARTITA_TRY_ASSIGN(const auto number, number_property(properties, level, 0, -kIntegerMax, kIntegerMax));
        settings.compression_level = static_cast<int>(number);
    }
    return {};
}

Outcome<void> read_acks(const Properties& properties, client::PipelineSettings& settings) {
    const auto acks = property(properties, "acks");
    if (acks && *acks != "all" && *acks != "-1" && *acks != "0" && *acks != "1") {
        return invalid_value("acks", *acks, "String must be one of: all, -1, 0, 1");
    }
    settings.acks = !acks || *acks == "all" || *acks == "-1" ? std::int16_t{-1}
                    : *acks == "1"                           ? std::int16_t{1}
                                                             : std::int16_t{0};
    const auto idempotence = property(properties, "enable.idempotence");
    if (idempotence && *idempotence != "true" && *idempotence != "false") {
        return invalid_value("enable.idempotence", *idempotence, "Expected value to be either true or false");
    }
    const bool is_transactional = !settings.transactional_id.empty();
    if (is_transactional && idempotence == "false") {
        return refused("Cannot set a transactional.id without also enabling idempotence.");
    }
    const bool must = is_transactional || idempotence == "true";
    if (must && settings.acks != -1) {
        return refused(
            "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.");
    }
    if (must && settings.in_flight_max > kIdempotentInFlightMax) {
        return refused("Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer.");
    }
    settings.is_idempotent = idempotence != "false" && settings.acks == -1 && settings.in_flight_max <= kIdempotentInFlightMax;
    return {};
}

}  // namespace

Outcome<client::PipelineSettings> pipeline_settings_of(const Properties& properties) {
    client::PipelineSettings settings;
    PARTITA_TRY_ASSIGN(const auto batch, number_property(properties, "batch.size", 16384, 0, kIntegerMax));
    PARTITA_TRY_ASSIGN(const auto asked_linger, number_property(properties, "linger.ms", 5, 0, kLongMax));
    // Like Kafka's producer, which lets a batch wait for the largest int at most.
    const auto linger = std::min<std::int64_t>(asked_linger, std::numeric_limits<std::int32_t>::max());
    PARTITA_TRY_ASSIGN(const auto in_flight,
                       number_property(properties, "max.in.flight.requests.per.connection", 5, 1, kIntegerMax));
    PARTITA_TRY_ASSIGN(const auto request_bytes, number_property(properties, "max.request.size", 1024 * 1024, 0, kIntegerMax));
    PARTITA_TRY_ASSIGN(const auto buffer, number_property(properties, "buffer.memory", 32 * 1024 * 1024, 0, kLongMax));
    PARTITA_TRY_ASSIGN(const auto delivery, number_property(properties, "delivery.timeout.ms", 120'000, 0, kIntegerMax));
    PARTITA_TRY_ASSIGN(const auto request_ms, number_property(properties, "request.timeout.ms", 30'000, 0, kIntegerMax));
    PARTITA_TRY_ASSIGN(const auto transaction, number_property(properties, "transaction.timeout.ms", 60'000, 0, kIntegerMax));
    if (properties.contains("delivery.timeout.ms") && delivery < linger + request_ms) {
        return refused("delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms");
    }
    settings.batch_bytes = static_cast<std::size_t>(batch);
    settings.linger_ms = linger;
    settings.in_flight_max = static_cast<std::size_t>(in_flight);
    settings.request_bytes_max = static_cast<std::size_t>(request_bytes);
    settings.buffer_bytes_max = static_cast<std::size_t>(buffer);
    settings.delivery_timeout_ms = delivery;
    settings.request_timeout_ms = request_ms;
    settings.transaction_timeout_ms = transaction;
    settings.transactional_id = property(properties, "transactional.id").value_or("");
    PARTITA_TRY(read_codec(properties, settings));
    PARTITA_TRY(read_acks(properties, settings));
    return settings;
}

Outcome<std::int64_t> max_block_ms_of(const Properties& properties) {
    return number_property(properties, "max.block.ms", 60'000, 0, kLongMax);
}

}  // namespace partita::tools
