#include "broker/addons/schemas/tools/schema_text.h"

#include <algorithm>
#include <utility>

#include "broker/addons/schemas/core/registry_client.h"
#include "broker/addons/schemas/tools/proto_files.h"
#include "protocol/try.h"

namespace partita::schemas {
namespace {

using nlohmann::ordered_json;
using tools::Decoded;
using tools::failed;
using tools::JsonMembers;
using tools::Options;
using tools::Outcome;
using tools::parse_integer;
using tools::Properties;
using tools::read_file;
using tools::Surroundings;
using tools::usage;

constexpr tools::WebPeer kRegistryPeer{
    .what = "schema registry",
    .nobody = "no schema registry",
    .advice = "name its address with --schema-registry",
    .address_option = "--schema-registry",
    .address_form = "http://HOST:PORT or https://HOST:PORT, and the registry's path if it has one",
    .ca_option = "--schema-registry-ca"};

std::unique_ptr<Registry> registry_at(const Surroundings& surroundings, const RegistryPlace& place) {
    const tools::WebService service{.peer = kRegistryPeer, .url = place.url, .login = place.login, .ca_file = place.ca_file};
    return std::make_unique<Registry>(
        [ask = surroundings.ask_web, service](const RegistryRequest& request) -> std::expected<RegistryAnswer, std::string> {
            PARTITA_TRY_ASSIGN(auto answer, ask(service, {.target = request.target, .json = request.json}));
            return RegistryAnswer{.status = answer.status, .body = std::move(answer.body)};
        });
}

/// True if the text begins like a schema of one of the kinds; any other text is the name of a file.
bool is_schema(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) {
        return false;
    }
    text.remove_prefix(begin);
    return text.front() == '{' || text.front() == '[' || text.front() == '"' || text.starts_with("syntax") ||
           text.starts_with("message ");
}

SchemaKind kind_of(std::string_view text) {
    if (JsonSchema::is_meant(text)) {
        return SchemaKind::json;
    }
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const bool is_avro = begin < text.size() && std::string_view("{[\"").contains(text[begin]);
    return is_avro ? SchemaKind::avro : SchemaKind::protobuf;
}

/// Registers the files that a .proto file imports, each under its name as Confluent's serializers do, and then the file.
Outcome<Result<const RegisteredSchema*>> add_proto_file(Registry& registry, const std::string& subject, const std::string& path,
                                                        const std::string& text, std::span<const std::string> import_paths) {
    PARTITA_TRY_ASSIGN(const auto files, read_proto_files(path, text, import_paths));
    std::vector<SchemaReference> added;
    const auto references_of = [&](const ProtoFile& file) {
        std::vector<SchemaReference> references;
        for (const std::string& import : file.imports) {
            references.push_back(*std::ranges::find(added, import, &SchemaReference::name));
        }
        return references;
    };
    for (const ProtoFile& file : std::span(files).first(files.size() - 1)) {
        const auto version = registry.add_version(file.name, SchemaKind::protobuf, file.text, references_of(file));
        if (!version) {
            return failed("cannot register " + file.name + ": " + version.error().message);
        }
        added.push_back({.name = file.name, .subject = file.name, .version = *version});
    }
    return registry.add(subject, SchemaKind::protobuf, text, references_of(files.back()));
}

Outcome<const RegisteredSchema*> choose(Registry& registry, const std::string& subject, const std::string& which,
                                        std::span<const std::string> import_paths) {
    const auto found = [&]() -> Outcome<Result<const RegisteredSchema*>> {
        if (which == "latest") {
            return registry.latest(subject);
        }
        if (const auto id = parse_integer(which)) {
            if (!std::in_range<std::int32_t>(*id)) {
                return usage("the schema id is out of range: " + which);
            }
            return registry.by_id(static_cast<std::int32_t>(*id));
        }
        if (is_schema(which)) {
            return registry.add(subject, kind_of(which), which);
        }
        PARTITA_TRY_ASSIGN(const auto text, read_file(which));
        if (kind_of(text) == SchemaKind::protobuf) {
            return add_proto_file(registry, subject, which, text, import_paths);
        }
        return registry.add(subject, kind_of(text), text);
    }();
    PARTITA_TRY(found);
    if (!*found) {
        return failed("cannot get the schema of " + subject + ": " + found->error().message);
    }
    return **found;
}

}  // namespace

std::optional<RegistryPlace> registry_place(const Options& options, const Properties& properties) {
    const auto property = [&](const char* name) {
        const auto found = properties.find(name);
        return found == properties.end() ? std::string() : found->second;
    };
    RegistryPlace place{.url = options.find("schema-registry").value_or(property("schema.registry.url")),
                        .login = options.find("schema-registry-login").value_or(property("basic.auth.user.info")),
                        .ca_file = options.value("schema-registry-ca")};
    return place.url.empty() ? std::nullopt : std::optional(std::move(place));
}

SchemaDecoder::SchemaDecoder(const Surroundings& surroundings, const RegistryPlace& place, bool decodes_keys)
    : surroundings_(surroundings), decodes_keys_(decodes_keys), registry_(registry_at(surroundings, place)) {}
SchemaDecoder::~SchemaDecoder() = default;

Outcome<void> SchemaDecoder::begin() {
    if (auto greeted = registry_->greet(); !greeted) {
        return failed(std::move(greeted.error().message));
    }
    return {};
}

Outcome<Decoded> SchemaDecoder::decode(const client::FetchedRecord& record) {
    Decoded decoded;
    if (decodes_keys_) {
        PARTITA_TRY_ASSIGN(auto key, decode(record, "key", record.key));
        decoded.key = std::move(key);
    }
    PARTITA_TRY_ASSIGN(auto value, decode(record, "value", record.value));
    decoded.value = std::move(value);
    return decoded;
}

Outcome<std::optional<ordered_json>> SchemaDecoder::decode(const client::FetchedRecord& record, const char* what,
                                                           const std::optional<Bytes>& bytes) {
    if (!bytes) {
        return std::nullopt;
    }
    auto decoded = partita::schemas::decode(*registry_, *bytes);
    if (decoded) {
        return std::move(*decoded);
    }
    if (decoded.error().is_unreachable) {
        return failed(std::move(decoded.error().message));
    }
    if (++failed_ <= kToldMax) {
        surroundings_.complain("The " + std::string(what) + " of " + std::string(record.topic) + "-" +
                               std::to_string(record.partition) + " at offset " + std::to_string(record.offset) +
                               " is shown undecoded: " + decoded.error().message);
    }
    return std::nullopt;
}

void SchemaDecoder::finish() const {
    if (failed_ > kToldMax) {
        surroundings_.complain("... and " + std::to_string(failed_ - kToldMax) + " more");
    }
}

struct SchemaEncoder::Parts {
    std::unique_ptr<Registry> registry;
    struct Side {
        const char* name = "";
        const RegisteredSchema* schema = nullptr;
        std::string message;
    };
    Side key{"key", nullptr, {}};
    Side value{"value", nullptr, {}};
};

SchemaEncoder::SchemaEncoder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SchemaEncoder::~SchemaEncoder() = default;

Outcome<std::unique_ptr<SchemaEncoder>> SchemaEncoder::open(const Surroundings& surroundings, const RegistryPlace& place,
                                                            const std::string& topic, const SchemaChoice& key,
                                                            const SchemaChoice& value,
                                                            std::span<const std::string> import_paths) {
    auto parts = std::make_unique<Parts>();
    parts->registry = registry_at(surroundings, place);
    for (const auto& [side, choice] : {std::pair(&parts->key, &key), std::pair(&parts->value, &value)}) {
        if (choice->which.empty()) {
            continue;
        }
        PARTITA_TRY_ASSIGN(const auto schema, choose(*parts->registry, topic + "-" + side->name, choice->which, import_paths));
        side->schema = schema;
        side->message = choice->message;
    }
    return std::unique_ptr<SchemaEncoder>(new SchemaEncoder(std::move(parts)));
}

std::expected<void, std::string> SchemaEncoder::encode(client::OwnedRecord& record, std::int64_t line) const {
    for (const auto& [side, text] : {std::pair(&parts_->key, &record.key), std::pair(&parts_->value, &record.value)}) {
        if (side->schema == nullptr || !*text) {
            continue;
        }
        const auto wrong = [&](const std::string& what) {
            return std::unexpected("the " + std::string(side->name) + " on line number " + std::to_string(line) + ": " + what);
        };
        auto bytes = partita::schemas::encode(*side->schema, **text, side->message);
        if (!bytes) {
            return wrong(bytes.error());
        }
        *text = std::move(*bytes);
    }
    return {};
}

JsonMembers SchemaEncoder::members() const {
    return {.key_is_json = parts_->key.schema != nullptr, .value_is_json = parts_->value.schema != nullptr};
}

}  // namespace partita::schemas
