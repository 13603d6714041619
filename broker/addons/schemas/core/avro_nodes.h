#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// What a schema of Avro says, with its names resolved.
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
    /// What a union calls it: the whole name of a record, enum or fixed, and the word of any other type.
    std::string name;
    std::vector<Field> fields;
    std::vector<std::string> symbols;
    /// Of an array or map.
    const Node* item = nullptr;
    std::vector<const Node*> branches;
    std::size_t fixed_bytes = 0;
};

/// Reads schemas. Nodes point to each other, and live as long as this does.
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
    /// A node of a new name; the error tells what is wrong with the name.
    [[nodiscard]] std::expected<Node*, std::string> define(const Json& json, const std::string& space, Type type);
    [[nodiscard]] Node* make(Type type, std::string name);

    std::deque<Node> nodes_;
    std::map<std::string, const Node*, std::less<>> names_;
};

}  // namespace partita::schemas::avro
