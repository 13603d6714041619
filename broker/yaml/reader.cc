#include "broker/yaml/reader.h"

#include <algorithm>

#include "protocol/edit_distance.h"

namespace partita::yaml {
namespace {

using nlohmann::ordered_json;

/// Longer texts are cut where a sentence repeats them.
constexpr std::size_t kShownBytesMax = 64;

const ordered_json kNone;

std::string shown(std::string_view text) {
    return text.size() > kShownBytesMax ? std::string(text.substr(0, kShownBytesMax)) + "..." : std::string(text);
}

std::string joined(const auto& names) {
    std::string text;
    for (const auto& name : names) {
        text += (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

}  // namespace

void Value::complain(const std::string& sentence_end) const {
    if (!context_->problem) {
        context_->problem = Problem{context_->document.place_of(pointer_),
                                    (path_.empty() ? std::string("the document") : shown(path_)) + " " + sentence_end};
    }
}

std::string Value::text() const {
    if (!json_->is_string()) {
        complain("must be a text");
        return {};
    }
    return json_->get<std::string>();
}

std::string Value::one_of(std::initializer_list<std::string_view> allowed) const {
    if (!json_->is_string() || std::ranges::find(allowed, json_->get_ref<const std::string&>()) == allowed.end()) {
        complain("must be one of: " + joined(allowed));
        return std::string(*allowed.begin());
    }
    return json_->get<std::string>();
}

bool Value::flag() const {
    if (!json_->is_boolean()) {
        complain("must be true or false");
        return false;
    }
    return json_->get<bool>();
}

double Value::real(double least, double most) const {
    if (!json_->is_number() || json_->get<double>() < least || json_->get<double>() > most) {
        complain("must be a number from " + ordered_json(least).dump() + " to " + ordered_json(most).dump());
        return least;
    }
    return json_->get<double>();
}

Members Value::members() const {
    if (!json_->is_object()) {
        complain("must be a mapping");
        return Members(Value(kNone, pointer_, path_, *context_));
    }
    return Members(*this);
}

std::vector<Value> Value::items() const {
    std::vector<Value> values;
    if (!json_->is_array()) {
        complain("must be a list");
        return values;
    }
    for (std::size_t index = 0; index < json_->size(); ++index) {
        values.push_back(Value((*json_)[index], below(pointer_, index), path_ + "[" + std::to_string(index) + "]", *context_));
    }
    return values;
}

std::vector<Value> Value::one_or_more() const { return json_->is_array() ? items() : std::vector{*this}; }

std::optional<Value> Members::find(std::string_view name) {
    known_.emplace_back(name);
    const auto found = value_.json_->find(name);
    if (found == value_.json_->end()) {
        return std::nullopt;
    }
    return Value(*found, below(value_.pointer_, name), (value_.path_.empty() ? "" : value_.path_ + ".") + std::string(name),
                 *value_.context_);
}

Value Members::get(std::string_view name) {
    if (auto found = find(name)) {
        return *found;
    }
    if (value_.json_->is_object()) {
        value_.complain("needs " + std::string(name));
    }
    return Value(kNone, value_.pointer_, value_.path_, *value_.context_);
}

std::vector<std::pair<std::string, Value>> Members::all() const {
    std::vector<std::pair<std::string, Value>> members;
    if (value_.json_->is_object()) {
        for (const auto& [name, json] : value_.json_->items()) {
            members.emplace_back(name, Value(json, below(value_.pointer_, name),
                                             (value_.path_.empty() ? "" : value_.path_ + ".") + name, *value_.context_));
        }
    }
    return members;
}

void Members::finish() const {
    for (const auto& [name, member] : all()) {
        if (std::ranges::find(known_, name) == known_.end()) {
            const std::vector<std::string_view> known(known_.begin(), known_.end());
            const auto near = nearest(name, known);
            member.complain("is unknown here" +
                            (near ? "; did you mean " + std::string(*near) + "?" : "; allowed: " + joined(known_)));
        }
    }
}

}  // namespace partita::yaml
