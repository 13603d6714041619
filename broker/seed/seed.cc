#include "broker/seed/seed.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "broker/authentication/crypto.h"
#include "protocol/hexadecimal.h"
#include "protocol/try.h"

namespace partita::seed {
namespace {

using nlohmann::ordered_json;
using yaml::Members;
using yaml::Problem;
using yaml::Reader;
using yaml::Value;

constexpr std::int32_t kPartitionsMax = 100'000;

/// SplitMix64: a number that looks random, by its seed and its position alone.
std::uint64_t random_at(std::uint64_t seed, std::uint64_t position) {
    std::uint64_t mixed = seed + (position + 1) * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return mixed ^ (mixed >> 31);
}

/// Puts numbers in place of {n} and {key}.
std::string filled(const std::string& text, std::int64_t number, std::int64_t key) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view rest = std::string_view(text).substr(at);
        if (rest.starts_with("{n}")) {
            result += std::to_string(number);
            at += 3;
        } else if (rest.starts_with("{key}")) {
            result += std::to_string(key);
            at += 5;
        } else {
            result += text[at++];
        }
    }
    return result;
}

/// Bytes of a record: texts are themselves, null is null, and anything else is JSON.
std::optional<std::string> bytes_of(const Value& value) {
    if (value.json().is_null()) {
        return std::nullopt;
    }
    return value.json().is_string() ? value.json().get<std::string>() : value.json().dump();
}

/// The bytes of the member NAME, NAME_base64 or NAME_hex. Unset if the record has no such member.
std::optional<std::optional<std::string>> bytes_member(Members& members, const std::string& name) {
    std::optional<std::optional<std::string>> bytes;
    const auto take = [&](const Value& value, std::optional<std::string> taken) {
        if (bytes) {
            value.complain("says again what " + name + " is");
        }
        bytes = std::move(taken);
    };
    if (const auto plain = members.find(name)) {
        take(*plain, bytes_of(*plain));
    }
    if (const auto base64 = members.find(name + "_base64")) {
        auto decoded = authentication::from_base64(base64->text());
        if (!decoded) {
            base64->complain("must be base64");
        }
        take(*base64, std::move(decoded));
    }
    if (const auto hex = members.find(name + "_hex")) {
        std::string decoded;
        if (!decode_hexadecimal(hex->text(), decoded)) {
            hex->complain("must be hexadecimal");
        }
        take(*hex, std::move(decoded));
    }
    return bytes;
}

/// Headers as a mapping of names to texts, or as a list of {key, value}.
std::vector<std::pair<std::string, std::optional<std::string>>> read_headers(Members& members) {
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    const auto given = members.find("headers");
    if (!given) {
        return headers;
    }
    if (given->json().is_object()) {
        for (const auto& [name, value] : given->members().all()) {
            headers.emplace_back(name, bytes_of(value));
        }
        return headers;
    }
    for (const Value& item : given->items()) {
        Members header = item.members();
        const std::string name = header.get("key").text();
        headers.emplace_back(name, bytes_member(header, "value").value_or(std::nullopt));
        header.finish();
    }
    return headers;
}

SeedPlace read_place(Members& members) {
    SeedPlace place;
    if (const auto partition = members.find("partition"); partition && !partition->json().is_null()) {
        place.partition = partition->integer<std::int32_t>(0, kPartitionsMax - 1);
    }
    if (const auto name = members.find("partitioner")) {
        const std::string text = name->text();
        place.partitioner = partitioners::find_partitioner(text);
        if (!place.partitioner) {
            std::string near;
            for (const std::string_view one : partitioners::similar_partitioners(text)) {
                near += (near.empty() ? "; did you mean " : ", ") + std::string(one);
            }
            name->complain("is unknown" + (near.empty() ? std::string("; `partita partitioner --list` lists all") : near + "?"));
        } else if (place.partition) {
            name->complain("has no effect on a record that names its partition");
        }
    }
    if (const auto known = members.find("known_partitions")) {
        place.known_partitions = known->integer<std::int32_t>(1, kPartitionsMax);
    }
    return place;
}

std::optional<std::int64_t> read_timestamp(Members& members) {
    const auto timestamp = members.find("timestamp");
    return timestamp && !timestamp->json().is_null() ? std::optional(timestamp->integer<std::int64_t>(0)) : std::nullopt;
}

std::string read_topic_name(Members& members) {
    const Value topic = members.get("topic");
    std::string name = topic.json().is_null() ? std::string() : topic.text();
    if (topic.json().is_string() && name.empty()) {
        topic.complain("must not be empty");
    }
    return name;
}

SeedRecord read_record(const Value& value) {
    Members members = value.members();
    SeedRecord record;
    record.topic = read_topic_name(members);
    record.key = bytes_member(members, "key").value_or(std::nullopt);
    auto bytes = bytes_member(members, "value");
    if (!bytes) {
        value.complain("needs value (null for a tombstone), value_base64, value_hex or generate");
    }
    record.value = std::move(bytes).value_or(std::nullopt);
    record.headers = read_headers(members);
    record.place = read_place(members);
    record.timestamp_ms = read_timestamp(members);
    // `partita consume --json` writes it; the cluster gives a new one.
    static_cast<void>(members.find("offset"));
    members.finish();
    return record;
}

std::variant<SeedRecord, SeedGenerator> read_record_or_generator(const Value& value) {
    if (value.json().is_object() && value.json().contains("generate")) {
        return read_generator(value);
    }
    return read_record(value);
}

SeedTopic read_topic(const std::string& name, const Value& value) {
    SeedTopic topic{.name = name};
    if (name.empty()) {
        value.complain("must have a name");
    }
    if (value.json().is_null()) {
        return topic;
    }
    if (value.json().is_number()) {
        topic.partitions = value.integer<std::int32_t>(1, kPartitionsMax);
        return topic;
    }
    Members members = value.members();
    if (const auto partitions = members.find("partitions")) {
        topic.partitions = partitions->integer<std::int32_t>(1, kPartitionsMax);
    }
    if (const auto factor = members.find("replication_factor")) {
        topic.replication_factor = factor->integer<std::int16_t>(1);
    }
    if (const auto configs = members.find("configs")) {
        for (const auto& [config, setting] : configs->members().all()) {
            if (setting.json().is_structured() || setting.json().is_null()) {
                setting.complain("must be a text, a number, true or false");
            }
            topic.configs.emplace_back(config, bytes_of(setting).value_or(""));
        }
    }
    members.finish();
    return topic;
}

/// 500, earliest, latest or 25%.
SeedOffset read_offset(const Value& value) {
    using Kind = SeedOffset::Kind;
    if (value.json().is_number()) {
        return {Kind::number, value.integer<std::int64_t>(0)};
    }
    const std::string text = value.json().is_string() ? value.text() : std::string();
    if (text == "earliest" || text == "latest") {
        return {text == "earliest" ? Kind::earliest : Kind::latest};
    }
    std::int64_t share = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
    if (error == std::errc() && std::string_view(end, text.data() + text.size()) == "%" && share >= 0 && share <= 100) {
        return {Kind::percent, share};
    }
    value.complain("must be an offset, earliest, latest, or a share such as 25%");
    return {Kind::earliest};
}

void read_group(const std::string& group, const Value& value, std::vector<SeedCommit>& commits) {
    if (group.empty()) {
        value.complain("must have a name");
    }
    for (const auto& [topic, offsets] : value.members().all()) {
        if (!offsets.json().is_object()) {
            commits.push_back({group, topic, std::nullopt, read_offset(offsets)});
            continue;
        }
        for (const auto& [name, offset] : offsets.members().all()) {
            std::int32_t partition = 0;
            const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), partition);
            if (error != std::errc() || end != name.data() + name.size() || partition < 0) {
                offset.complain("must stand behind the number of a partition");
            }
            commits.push_back({group, topic, partition, read_offset(offset)});
        }
    }
}

}  // namespace

SeedRecord SeedGenerator::record(std::int64_t number) const {
    const auto position = static_cast<std::uint64_t>(number);
    const std::int64_t key_number =
        keys > 0 ? static_cast<std::int64_t>(random_at(seed, position) % static_cast<std::uint64_t>(keys)) : 0;
    SeedRecord record{.topic = topic,
                      .key = keys > 0 ? std::optional(filled(key, number, key_number)) : std::nullopt,
                      .value = filled(value, number, key_number),
                      .headers = headers,
                      .place = place,
                      .timestamp_ms = timestamp_ms ? std::optional(*timestamp_ms + every_ms * number) : std::nullopt};
    std::string& bytes = *record.value;
    bytes.reserve(static_cast<std::size_t>(value_bytes));
    for (std::uint64_t index = 0; std::cmp_less(bytes.size(), value_bytes); ++index) {
        constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz012345";
        for (std::uint64_t bits = random_at(seed ^ position << 20, index), i = 0;
             i < 12 && std::cmp_less(bytes.size(), value_bytes); ++i, bits >>= 5) {
            bytes += kLetters[bits & 31];
        }
    }
    return record;
}

std::int64_t SeedOffset::within(std::int64_t start, std::int64_t end) const {
    switch (kind) {
        case Kind::number:
            return value;
        case Kind::earliest:
            return start;
        case Kind::latest:
            return end;
        case Kind::percent:
            // Without an overflow.
            return start + (end - start) / 100 * value + (end - start) % 100 * value / 100;
    }
    return start;
}

Seed read_seed(const Value& value) {
    Seed seed;
    Members members = value.members();
    if (const auto topics = members.find("topics")) {
        for (const auto& [name, topic] : topics->members().all()) {
            seed.topics.push_back(read_topic(name, topic));
        }
    }
    if (const auto records = members.find("records")) {
        for (const Value& record : records->items()) {
            seed.records.push_back(read_record_or_generator(record));
        }
    }
    if (const auto groups = members.find("groups")) {
        for (const auto& [name, group] : groups->members().all()) {
            read_group(name, group, seed.commits);
        }
    }
    members.finish();
    return seed;
}

std::expected<Seed, Problem> read_seed(std::string_view text) {
    PARTITA_TRY_ASSIGN(const auto document, yaml::parse(text, kSeedLimits));
    Reader reader(document);
    Seed seed = read_seed(reader.value());
    if (reader.problem()) {
        return std::unexpected(*reader.problem());
    }
    return seed;
}

std::expected<Seed, Problem> read_seed_line(std::string_view line) {
    auto json = ordered_json::parse(line, nullptr, false);
    if (!json.is_object()) {
        return std::unexpected(Problem{std::nullopt, "not a JSON object"});
    }
    const yaml::Document document(std::move(json));
    Reader reader(document);
    Seed seed;
    if (document.value().contains("topic") || document.value().contains("generate")) {
        seed.records.push_back(read_record_or_generator(reader.value()));
    } else {
        seed = read_seed(reader.value());
    }
    if (reader.problem()) {
        return std::unexpected(*reader.problem());
    }
    return seed;
}

SeedGenerator read_generator(const Value& value) {
    Members members = value.members();
    SeedGenerator generator;
    generator.topic = read_topic_name(members);
    generator.count = members.get("generate").integer<std::int64_t>(1, SeedGenerator::kRecordsMax);
    if (const auto keys = members.find("keys")) {
        generator.keys = keys->integer<std::int64_t>(0, SeedGenerator::kRecordsMax);
    }
    if (const auto seed = members.find("seed")) {
        generator.seed = seed->integer<std::uint64_t>(0);
    }
    if (const auto key = members.find("key")) {
        generator.key = key->text();
        if (generator.keys == 0) {
            key->complain("has no effect without keys, the number of them");
        }
    }
    if (const auto text = members.find("value")) {
        generator.value = bytes_of(*text).value_or("");
        if (text->json().is_null()) {
            text->complain("must be a text, or a value that becomes JSON");
        }
    }
    if (const auto bytes = members.find("value_bytes")) {
        generator.value_bytes = bytes->integer<std::int64_t>(0, SeedGenerator::kValueBytesMax);
    }
    generator.headers = read_headers(members);
    generator.place = read_place(members);
    generator.timestamp_ms = read_timestamp(members);
    if (const auto every = members.find("every_ms")) {
        constexpr std::int64_t kDayMs = 86'400'000;
        generator.every_ms = every->integer<std::int64_t>(0, kDayMs);
        if (!generator.timestamp_ms) {
            every->complain("has no effect without timestamp, the time of the first record");
        }
    }
    members.finish();
    return generator;
}

std::expected<std::int32_t, std::string> Placer::place(const SeedRecord& record, std::int32_t partitions) {
    const SeedPlace& place = record.place;
    const auto missing = [&](std::int32_t partition) {
        return std::unexpected("topic " + record.topic + " has " + std::to_string(partitions) +
                               " partitions, and none with the number " + std::to_string(partition));
    };
    if (place.partition) {
        return *place.partition < partitions ? std::expected<std::int32_t, std::string>(*place.partition)
                                             : missing(*place.partition);
    }
    const std::int32_t known = place.known_partitions.value_or(partitions);
    if (known > partitions) {
        return missing(known - 1);
    }
    const auto key = record.key ? std::optional(as_bytes(*record.key)) : std::nullopt;
    static const auto kJava = partitioners::find_partitioner("java");
    if (const auto chosen = partitioners::partition_of(place.partitioner ? *place.partitioner : *kJava, key, known)) {
        return chosen->value;
    }
    return static_cast<std::int32_t>(next_++ % static_cast<std::uint32_t>(known));
}

}  // namespace partita::seed
