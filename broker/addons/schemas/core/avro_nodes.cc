#include "broker/addons/schemas/core/avro_nodes.h"

#include <array>
#include <set>
#include <utility>

#include "broker/addons/schemas/core/avro.h"
#include "protocol/try.h"

namespace partita::schemas::avro {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 8> kPrimitives = {{
    {"null", Type::null},
    {"boolean", Type::boolean},
    {"int", Type::int_},
    {"long", Type::long_},
    {"float", Type::float_},
    {"double", Type::double_},
    {"bytes", Type::bytes},
    {"string", Type::string},
}};

bool is_letter(char letter) { return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') || letter == '_'; }

/// Names of any language are in use, so it refuses only names that would be ambiguous.
bool is_name(std::string_view name) {
    if (name.empty() || (!is_letter(name.front()) && static_cast<unsigned char>(name.front()) < 0x80)) {
        return false;
    }
    return name.find_first_of(" \t\n\"'`.") == std::string_view::npos;
}

std::unexpected<std::string> wrong(std::string what) { return std::unexpected("invalid schema: " + std::move(what)); }

std::string member(const nlohmann::json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::expected<const Node*, std::string> Nodes::add(std::string_view text) {
    if (text.size() > AvroSchema::kTextBytesMax) {
        return wrong("it is longer than 1 MiB");
    }
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
        // A schema of one primitive type may also come without quotes.
        json = std::string(text);
    }
    return read(json, "", 0);
}

Nodes::Found Nodes::read(const Json& json, const std::string& space, int depth) {
    if (depth > AvroSchema::kDepthMax) {
        return wrong("it is nested deeper than " + std::to_string(AvroSchema::kDepthMax));
    }
    if (json.is_string()) {
        const auto name = json.get<std::string>();
        for (const auto& [word, type] : kPrimitives) {
            if (name == word) {
                return make(type, name);
            }
        }
        return find(name, space);
    }
    if (json.is_array()) {
        return read_union(json, space, depth);
    }
    if (json.is_object()) {
        return read_object(json, space, depth);
    }
    return wrong("a type is neither a name nor a list nor an object");
}

Nodes::Found Nodes::read_object(const Json& json, const std::string& space, int depth) {
    const auto type = json.find("type");
    if (type == json.end()) {
        return wrong("an object has no type");
    }
    // {"type": {"type": ...}} means the same as its inner part.
    if (!type->is_string()) {
        return read(*type, space, depth + 1);
    }
    const auto word = type->get<std::string>();
    if (word == "record" || word == "error") {
        return read_record(json, space, depth);
    }
    if (word == "enum") {
        return read_enum(json, space);
    }
    if (word == "fixed") {
        return read_fixed(json, space);
    }
    if (word == "array" || word == "map") {
        const char* const what = word == "array" ? "items" : "values";
        const auto inner = json.find(what);
        if (inner == json.end()) {
            return wrong("type " + word + " has no " + what);
        }
        PARTITA_TRY_ASSIGN(const auto item, read(*inner, space, depth + 1));
        Node* const node = make(word == "array" ? Type::array : Type::map, word);
        node->item = item;
        return node;
    }
    return read(*type, space, depth + 1);
}

Nodes::Found Nodes::read_union(const Json& json, const std::string& space, int depth) {
    std::vector<const Node*> branches;
    std::set<std::string_view> seen;
    for (const Json& each : json) {
        PARTITA_TRY_ASSIGN(const auto branch, read(each, space, depth + 1));
        if (branch->type == Type::union_) {
            return wrong("a union is a branch of a union");
        }
        if (!seen.insert(branch->name).second) {
            return wrong("a union has " + branch->name + " twice");
        }
        branches.push_back(branch);
    }
    Node* const node = make(Type::union_, "union");
    node->branches = std::move(branches);
    return node;
}

Nodes::Found Nodes::read_record(const Json& json, const std::string& space, int depth) {
    PARTITA_TRY_ASSIGN(const auto defined, define(json, space, Type::record));
    Node* const node = defined;
    const std::size_t dot = node->name.rfind('.');
    const std::string inner_space = dot == std::string::npos ? "" : node->name.substr(0, dot);
    const auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array()) {
        return wrong("record " + node->name + " has no fields");
    }
    std::set<std::string> seen;
    for (const Json& each : *fields) {
        const std::string name = each.is_object() ? member(each, "name") : std::string();
        if (!is_name(name)) {
            return wrong("record " + node->name + " has a field without a name");
        }
        if (!seen.insert(name).second) {
            return wrong("record " + node->name + " has field " + name + " twice");
        }
        const auto type = each.find("type");
        if (type == each.end()) {
            return wrong("field " + name + " of record " + node->name + " has no type");
        }
        PARTITA_TRY_ASSIGN(const auto found, read(*type, inner_space, depth + 1));
        node->fields.push_back({name, found});
    }
    return node;
}

Nodes::Found Nodes::read_enum(const Json& json, const std::string& space) {
    PARTITA_TRY_ASSIGN(const auto defined, define(json, space, Type::enum_));
    const auto symbols = json.find("symbols");
    if (symbols == json.end() || !symbols->is_array()) {
        return wrong("enum " + defined->name + " has no symbols");
    }
    std::set<std::string> seen;
    for (const Json& each : *symbols) {
        if (!each.is_string() || !seen.insert(each.get<std::string>()).second) {
            return wrong("a symbol of enum " + defined->name + " is not a string or occurs twice");
        }
        defined->symbols.push_back(each.get<std::string>());
    }
    return defined;
}

Nodes::Found Nodes::read_fixed(const Json& json, const std::string& space) {
    PARTITA_TRY_ASSIGN(const auto defined, define(json, space, Type::fixed));
    const auto size = json.find("size");
    if (size == json.end() || !size->is_number_unsigned()) {
        return wrong("fixed " + defined->name + " has no size");
    }
    defined->fixed_bytes = size->get<std::size_t>();
    return defined;
}

Nodes::Found Nodes::find(const std::string& name, const std::string& space) const {
    const bool is_whole = name.contains('.') || space.empty();
    const auto found = names_.find(is_whole ? name : space + "." + name);
    if (found == names_.end()) {
        return wrong(name + " is not defined");
    }
    return found->second;
}

std::expected<Node*, std::string> Nodes::define(const Json& json, const std::string& space, Type type) {
    std::string name = member(json, "name");
    const std::size_t dot = name.rfind('.');
    if (!is_name(std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1))) {
        return wrong("a type has no name");
    }
    if (dot == std::string::npos) {
        const std::string own_space = json.contains("namespace") ? member(json, "namespace") : space;
        if (!own_space.empty()) {
            name = own_space + "." + name;
        }
    }
    Node* const node = make(type, name);
    if (!names_.emplace(std::move(name), node).second) {
        return wrong(node->name + " is defined twice");
    }
    return node;
}

Node* Nodes::make(Type type, std::string name) {
    nodes_.push_back({});
    nodes_.back().type = type;
    nodes_.back().name = std::move(name);
    return &nodes_.back();
}

}  // namespace partita::schemas::avro
