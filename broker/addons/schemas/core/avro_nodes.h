#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The nodes of an Avro schema, with its names resolved.
namespace partita::schemas::avro {

enum class Type : std::uint8_t {
    null,
    boolean,
    int_,
    long_,
    float_,
    double_,
    bytes,
    string,
    record,
    enum_,
    array,
    map,
    fixed,
    union_,
};

struct Node;

struct Field {
    std::string name;
    const Node* node = nullptr;
};

struct Node {
    Type type = Type::null;
    /// The name of this type in a union: the full name of a record, enum or fixed, and the type's word for any other.
    std::string name;
    std::vector<Field> fields;
    std::vector<std::string> symbols;
    /// The element type of an array or map.
    const Node* item = nullptr;
    std::vector<const Node*> branches;
    std::size_t fixed_bytes = 0;
};

/// Reads schemas. Nodes point to each other, and live as long as this object.
class Nodes {
  public:
    /// Later texts may use the names of earlier ones. The error is for people.
    [[nodiscard]] std::expected<const Node*, std::string> add(std::string_view text);

  private:
    using Json = nlohmann::json;
    using Found = std::expected<const Node*, std::string>;

    [[nodiscard]] Found read(const Json& json, const std::string& space, int depth);
    [[nodiscard]] Found read_object(const Json& json, const std::string& space, int depth);
    [[nodiscard]] Found read_union(const Json& json, const std::string& space, int depth);
    [[nodiscard]] Found read_record(const Json& json, const std::string& space, int depth);
    [[nodiscard]] Found read_enum(const Json& json, const std::string& space);
    [[nodiscard]] Found read_fixed(const Json& json, const std::string& space);
    [[nodiscard]] Found find(const std::string& name, const std::string& space) const;
    /// Adds a node with a new name; the error names the fault of the name.
    [[nodiscard]] std::expected<Node*, std::string> define(const Json& json, const std::string& space, Type type);
    [[nodiscard]] Node* make(Type type, std::string name);

    std::deque<Node> nodes_;
    std::map<std::string, const Node*, std::less<>> names_;
};

}  // namespace partita::schemas::avro
