#include "broker/addons/schemas/core/registry_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/big_endian.h"
#include "protocol/percent_encoding.h"
#include "protocol/try.h"

namespace partita::schemas {
namespace {

using nlohmann::json;

constexpr std::byte kMagic{0};
constexpr std::size_t kFrameBytes = 5;
constexpr std::size_t kQuotedMax = 200;

std::unexpected<Failure> wrong(std::string message) { return std::unexpected(Failure{.message = std::move(message)}); }

std::string text_of(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int32_t> number_of(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer()) {
        return std::nullopt;
    }
    const auto number = found->get<std::int64_t>();
    return std::in_range<std::int32_t>(number) ? std::optional(static_cast<std::int32_t>(number)) : std::nullopt;
}

Failure refusal_of(const RegistryAnswer& answer, const std::string& target) {
    const json body = json::parse(answer.body, nullptr, false);
    const std::string said = body.is_object() ? text_of(body, "message") : answer.body.substr(0, kQuotedMax);
    const std::string status = "the schema registry answers " + std::to_string(answer.status) + " to " + target;
    // The statuses for "not found" and "not acceptable" concern this schema; all others concern the registry as a whole.
    const bool is_of_schema = answer.status == 200 || answer.status == 404 || answer.status == 409 || answer.status == 422;
    return {.is_unreachable = !is_of_schema, .message = said.empty() ? status : status + ": " + said};
}

}  // namespace

std::expected<std::string, std::string> RegisteredSchema::encode(std::string_view json, std::string_view message) const {
    const auto value = nlohmann::ordered_json::parse(json, nullptr, false);
    if (value.is_discarded()) {
        return std::unexpected("it is not JSON");
    }
    if (const auto* const protobuf = std::get_if<ProtobufSchema>(&text)) {
        return protobuf->encode(value, message);
    }
    const auto* const avro = std::get_if<AvroSchema>(&text);
    if (!message.empty()) {
        return std::unexpected("a schema of " + std::string(avro ? "Avro" : "JSON") + " has no messages");
    }
    if (avro != nullptr) {
        return avro->encode(value);
    }
    return std::string(json);
}

std::expected<nlohmann::ordered_json, std::string> RegisteredSchema::decode(Bytes bytes) const {
    return std::visit([&](const auto& schema) { return schema.decode(bytes); }, text);
}

Result<json> Registry::ask(const RegistryRequest& request) {
    const auto answer = ask_(request);
    if (!answer) {
        return std::unexpected(Failure{.is_unreachable = true, .message = answer.error()});
    }
    json body = json::parse(answer->body, nullptr, false);
    if (answer->status == 200 && body.is_object()) {
        return body;
    }
    return std::unexpected(refusal_of(*answer, request.target));
}

Result<void> Registry::collect(const Json& answer, int depth, std::vector<Reference>& found) {
    const auto references = answer.find("references");
    if (references == answer.end() || !references->is_array()) {
        return {};
    }
    if (depth > AvroSchema::kDepthMax) {
        return wrong("schemas refer to each other without end");
    }
    for (const Json& each : *references) {
        const std::string name = each.is_object() ? text_of(each, "name") : std::string();
        if (name.empty()) {
            return wrong("a reference of the schema has no name");
        }
        if (std::ranges::find(found, name, &Reference::name) != found.end()) {
            continue;
        }
        if (found.size() == kReferencesMax) {
            return wrong("the schema refers to too many others");
        }
        const auto version = number_of(each, "version");
        PARTITA_TRY_ASSIGN(auto schema, ask({"/subjects/" + percent_encoded(text_of(each, "subject")) + "/versions/" +
                                                 (version ? std::to_string(*version) : "latest"),
                                             {}}));
        PARTITA_TRY(collect(schema, depth + 1, found));
        found.push_back({name, text_of(schema, "schema")});
    }
    return {};
}

Result<const RegisteredSchema*> Registry::keep(std::int32_t id, const Json& answer) {
    const auto remember = [&](Result<std::unique_ptr<const RegisteredSchema>> schema) -> Result<const RegisteredSchema*> {
        if (known_.size() >= kSchemasMax) {
            return wrong("more than " + std::to_string(kSchemasMax) + " schemas are in use");
        }
        PARTITA_TRY_ASSIGN(const auto& kept, known_.insert_or_assign(id, std::move(schema)).first->second);
        return kept.get();
    };
    const std::string named = "schema " + std::to_string(id) + ": ";
    const std::string kind = text_of(answer, "schemaType");
    // JSON values are self-contained, even if the schema refers to others.
    if (kind == "JSON") {
        return remember(std::make_unique<const RegisteredSchema>(id, JsonSchema()));
    }
    std::vector<Reference> references;
    PARTITA_TRY(collect(answer, 0, references));
    const std::string text = text_of(answer, "schema");
    if (kind.empty() || kind == "AVRO") {
        std::vector<std::string> texts;
        for (Reference& each : references) {
            texts.push_back(std::move(each.text));
        }
        auto schema = AvroSchema::parse(text, texts);
        if (!schema) {
            return remember(wrong(named + schema.error()));
        }
        return remember(std::make_unique<const RegisteredSchema>(id, std::move(*schema)));
    }
    if (kind == "PROTOBUF") {
        std::vector<ProtobufSchema::Import> imports;
        for (Reference& each : references) {
            imports.push_back({std::move(each.name), std::move(each.text)});
        }
        auto schema = ProtobufSchema::parse(text, imports);
        if (!schema) {
            return remember(wrong(named + schema.error()));
        }
        return remember(std::make_unique<const RegisteredSchema>(id, std::move(*schema)));
    }
    return remember(wrong(named + "its type is " + kind + "; AVRO, JSON and PROTOBUF are supported"));
}

Result<void> Registry::greet() {
    // This answer is short, and every client may ask for it.
    const auto answer = ask_({"/schemas/types", {}});
    if (!answer) {
        return std::unexpected(Failure{.is_unreachable = true, .message = answer.error()});
    }
    if (answer->status != 401 && answer->status < 500) {
        return {};
    }
    return std::unexpected(refusal_of(*answer, "/schemas/types"));
}

Result<const RegisteredSchema*> Registry::by_id(std::int32_t id) {
    if (const auto found = known_.find(id); found != known_.end()) {
        if (!found->second) {
            return std::unexpected(found->second.error());
        }
        return found->second->get();
    }
    const auto answer = ask({"/schemas/ids/" + std::to_string(id), {}});
    if (answer) {
        return keep(id, *answer);
    }
    if (!answer.error().is_unreachable && known_.size() < kSchemasMax) {
        known_.emplace(id, std::unexpected(answer.error()));
    }
    return std::unexpected(answer.error());
}

Result<const RegisteredSchema*> Registry::latest(const std::string& subject) {
    PARTITA_TRY_ASSIGN(const auto answer, ask({"/subjects/" + percent_encoded(subject) + "/versions/latest", {}}));
    const auto id = number_of(answer, "id");
    if (!id) {
        return wrong("the schema registry's answer has no id for the newest schema of " + subject);
    }
    return keep(*id, answer);
}

namespace {

/// The body of a request about a schema.
std::string schema_request(SchemaKind kind, const std::string& text, std::span<const SchemaReference> references) {
    json request{{"schema", text}};
    if (kind != SchemaKind::avro) {
        request["schemaType"] = kind == SchemaKind::json ? "JSON" : "PROTOBUF";
    }
    for (const SchemaReference& each : references) {
        request["references"].push_back({{"name", each.name}, {"subject", each.subject}, {"version", each.version}});
    }
    return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Result<std::int32_t> Registry::register_schema(const std::string& subject, const std::string& request) {
    PARTITA_TRY_ASSIGN(const auto answer, ask({"/subjects/" + percent_encoded(subject) + "/versions", request}));
    const auto id = number_of(answer, "id");
    if (!id) {
        return wrong("the schema registry's answer has no id for a schema of " + subject);
    }
    return *id;
}

Result<const RegisteredSchema*> Registry::add(const std::string& subject, SchemaKind kind, const std::string& text,
                                              std::span<const SchemaReference> references) {
    PARTITA_TRY_ASSIGN(const auto id, register_schema(subject, schema_request(kind, text, references)));
    return by_id(id);
}

Result<std::int32_t> Registry::add_version(const std::string& subject, SchemaKind kind, const std::string& text,
                                           std::span<const SchemaReference> references) {
    const std::string request = schema_request(kind, text, references);
    PARTITA_TRY(register_schema(subject, request));
    // Only newer registries tell the version with the id.
    PARTITA_TRY_ASSIGN(const auto answer, ask({"/subjects/" + percent_encoded(subject), request}));
    const auto version = number_of(answer, "version");
    if (!version) {
        return wrong("the schema registry's answer has no version for the schema of " + subject);
    }
    return *version;
}

std::expected<Framed, std::string> parse_frame(Bytes bytes) {
    if (bytes.size() < kFrameBytes || bytes.front() != kMagic) {
        return std::unexpected("it has no schema id: it does not begin with a 0 byte and the four bytes of an id");
    }
    return Framed{.schema_id = load_big_endian<std::int32_t>(bytes.data() + 1), .payload = bytes.subspan(kFrameBytes)};
}

Result<nlohmann::ordered_json> decode(Registry& registry, Bytes bytes) {
    const auto framed = parse_frame(bytes);
    if (!framed) {
        return wrong(framed.error());
    }
    PARTITA_TRY_ASSIGN(const auto schema, registry.by_id(framed->schema_id));
    auto value = schema->decode(framed->payload);
    if (!value) {
        return wrong("it does not match schema " + std::to_string(framed->schema_id) + ": " + value.error());
    }
    return std::move(*value);
}

std::expected<std::string, std::string> encode(const RegisteredSchema& schema, std::string_view json, std::string_view message) {
    PARTITA_TRY_ASSIGN(const auto encoded, schema.encode(json, message));
    std::string bytes(kFrameBytes, '\0');
    store_big_endian(reinterpret_cast<std::byte*>(bytes.data()) + 1, schema.id);
    return bytes + encoded;
}

}  // namespace partita::schemas
