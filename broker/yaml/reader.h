#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/yaml/yaml.h"

/// Reads a document strictly: a value of another type, a number out of range and an unknown member are problems, and each names
/// its place and its path. A reader keeps the first problem; reads after it return defaults, so that only the end has to ask for
/// it.
namespace partita::yaml {

class Members;

/// One value of a document. Valid as long as its reader.
class Value {
  public:
    [[nodiscard]] const nlohmann::ordered_json& json() const { return *json_; }
    /// "topics.orders.partitions"; empty for the whole document.
    [[nodiscard]] const std::string& path() const { return path_; }

    /// Keeps a problem with this value: "PATH SENTENCE_END".
    void complain(const std::string& sentence_end) const;

    [[nodiscard]] std::string text() const;
    /// One of these texts; the first one after a problem.
    [[nodiscard]] std::string one_of(std::initializer_list<std::string_view> allowed) const;
    [[nodiscard]] bool flag() const;
    [[nodiscard]] double real(double least, double most) const;
    template <std::integral Number>
    [[nodiscard]] Number integer(Number least, Number most = std::numeric_limits<Number>::max()) const {
        const auto fits = [&](auto value) { return std::cmp_less_equal(least, value) && std::cmp_less_equal(value, most); };
        const bool is_good = json_->is_number_unsigned() ? fits(json_->get<std::uint64_t>())
                                                         : json_->is_number_integer() && fits(json_->get<std::int64_t>());
        if (!is_good) {
            complain("must be a whole number " + (most == std::numeric_limits<Number>::max()
                                                      ? "from " + std::to_string(least) + " on"
                                                      : "from " + std::to_string(least) + " to " + std::to_string(most)));
            return least;
        }
        return json_->get<Number>();
    }
    /// The members of a mapping; none of any other value, which is a problem. The caller calls `Members::finish`, or goes through
    /// `all`.
    [[nodiscard]] Members members() const;
    /// The items of a list; none of any other value, which is a problem.
    [[nodiscard]] std::vector<Value> items() const;
    /// The items of a list, or the value itself if it is not a list.
    [[nodiscard]] std::vector<Value> one_or_more() const;

  private:
    friend class Reader;
    friend class Members;
    struct Context {
        const Document& document;
        std::optional<Problem> problem;
    };
    Value(const nlohmann::ordered_json& json, std::string pointer, std::string path, Context& context)
        : json_(&json), pointer_(std::move(pointer)), path_(std::move(path)), context_(&context) {}

    const nlohmann::ordered_json* json_;
    std::string pointer_;
    std::string path_;
    Context* context_;
};

/// The members of a mapping.
class Members {
  public:
    /// Unset if it is missing.
    [[nodiscard]] std::optional<Value> find(std::string_view name);
    /// A missing member is a problem; the result is then a null value.
    [[nodiscard]] Value get(std::string_view name);
    /// All members, whatever their names.
    [[nodiscard]] std::vector<std::pair<std::string, Value>> all() const;
    /// A member that neither `find` nor `get` asked for is a problem.
    void finish() const;

  private:
    friend class Value;
    explicit Members(const Value& value) : value_(value) {}

    Value value_;
    std::vector<std::string> known_;
};

/// The beginning of a strict reading. The document outlives it.
class Reader {
  public:
    explicit Reader(const Document& document) : context_{document, std::nullopt} {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    [[nodiscard]] Value value() { return {context_.document.value(), "", "", context_}; }
    /// The first problem; unset if there was none.
    [[nodiscard]] const std::optional<Problem>& problem() const { return context_.problem; }

  private:
    Value::Context context_;
};

}  // namespace partita::yaml
