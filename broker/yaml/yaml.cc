#include "broker/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <system_error>

#include "protocol/try.h"

namespace partita::yaml {
namespace {

using nlohmann::ordered_json;

Place place_of_mark(const YAML::Mark& mark) {
    return mark.is_null()
               ? Place{}
               : Place{.line = static_cast<std::size_t>(mark.line) + 1, .column = static_cast<std::size_t>(mark.column) + 1};
}

bool is_of(std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

constexpr std::string_view kDigits = "0123456789";

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` of the core schema.
bool is_real(std::string_view text) {
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        text.remove_prefix(1);
    }
    const std::size_t exponent = text.find_first_of("eE");
    if (exponent != std::string_view::npos) {
        std::string_view digits = text.substr(exponent + 1);
        if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) {
            digits.remove_prefix(1);
        }
        if (!is_of(digits, kDigits)) {
            return false;
        }
        text = text.substr(0, exponent);
    }
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view rest = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
    const bool is_whole_good = whole.empty() ? is_of(rest, kDigits) : is_of(whole, kDigits);
    return is_whole_good && (rest.empty() || is_of(rest, kDigits));
}

/// A whole number in this base; null if it is larger than JSON's numbers here.
std::optional<ordered_json> whole_number(std::string_view digits, int base, bool is_negative) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
    if (error != std::errc() || end != digits.data() + digits.size() || (is_negative && number > kMost)) {
        return std::nullopt;
    }
    return is_negative      ? ordered_json(-static_cast<std::int64_t>(number))
           : number > kMost ? ordered_json(number)
                            : ordered_json(static_cast<std::int64_t>(number));
}

/// The value of a plain scalar, by the core schema. The error is a sentence.
std::expected<ordered_json, std::string> plain_value(const std::string& text) {
    if (text == "true" || text == "True" || text == "TRUE") {
        return true;
    }
    if (text == "false" || text == "False" || text == "FALSE") {
        return false;
    }
    std::string_view digits = text;
    const bool is_negative = digits.starts_with('-');
    if (is_negative || digits.starts_with('+')) {
        digits.remove_prefix(1);
    }
    std::optional<ordered_json> number;
    bool is_whole = true;
    if (is_of(digits, kDigits)) {
        number = whole_number(digits, 10, is_negative);
    } else if (text.starts_with("0x") && is_of(std::string_view(text).substr(2), "0123456789abcdefABCDEF")) {
        number = whole_number(std::string_view(text).substr(2), 16, false);
    } else if (text.starts_with("0o") && is_of(std::string_view(text).substr(2), "01234567")) {
        number = whole_number(std::string_view(text).substr(2), 8, false);
    } else {
        is_whole = false;
    }
    if (is_whole) {
        return number ? std::expected<ordered_json, std::string>(*number)
                      : std::unexpected("the number " + text + " is too large; quote it if it is a text");
    }
    if (is_real(text)) {
        // `from_chars` takes no leading sign or point.
        const std::string padded = digits.starts_with('.') ? "0" + std::string(digits) : std::string(digits);
        double real = 0;
        const auto [end, error] = std::from_chars(padded.data(), padded.data() + padded.size(), real);
        const bool has_room =
            error == std::errc() && std::isfinite(real) && (end == padded.data() + padded.size() || *end == '.');
        return has_room ? std::expected<ordered_json, std::string>(is_negative ? -real : real)
                        : std::unexpected("the number " + text + " is out of range; quote it if it is a text");
    }
    for (const std::string_view none : {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}) {
        if (digits == none) {
            return std::unexpected(text + " is no number here; quote it if it is a text");
        }
    }
    return text;
}

bool is_utf8(const std::string& text) {
    if (std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; })) {
        return true;
    }
    try {
        // Only whether it throws counts.
        static_cast<void>(ordered_json(text).dump());
        return true;
    } catch (const ordered_json::exception&) {
        return false;
    }
}

std::string depth_sentence(const Limits& limits) {
    return "more than " + std::to_string(limits.depth_max) + " lists and mappings within each other";
}

std::size_t count_of(const ordered_json& value) {
    std::size_t count = 1;
    if (value.is_structured()) {
        for (const ordered_json& item : value) {
            count += count_of(item);
        }
    }
    return count;
}

/// Ends a parse out of the library's calls; `parse_all` catches it.
struct Refused {
    Problem problem;
};
[[noreturn]] void refuse(Place place, std::string message) { throw Refused{{place, std::move(message)}}; }

/// Builds values from the library's events.
class Builder final : public YAML::EventHandler {
  public:
    explicit Builder(const Limits& limits) : limits_(limits) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents.size() == limits_.documents_max) {
            refuse(place_of_mark(mark), "more than " + std::to_string(limits_.documents_max) + " documents");
        }
        anchors_.clear();
        places_.clear();
    }
    void OnDocumentEnd() override { documents.emplace_back(std::move(root_), std::exchange(places_, {})); }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { put(place_of_mark(mark), anchor, nullptr); }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const Place place = place_of_mark(mark);
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            refuse(place, "an alias stands within what its anchor names");
        }
        const ordered_json copy = found->second;
        // `put` counts the value itself.
        count(place, count_of(copy) - 1);
        if (depth_of(copy) + frames_.size() > limits_.depth_max) {
            refuse_depth(place);
        }
        put(place, 0, copy);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
        const Place place = place_of_mark(mark);
        if (!is_utf8(value)) {
            refuse(place, "the text is not UTF-8");
        }
        if (is_key_next()) {
            check_tag(place, tag, {"?", "!", "tag:yaml.org,2002:str"});
            take_key(place, value);
            return;
        }
        check_tag(place, tag, {"?", "!", "tag:yaml.org,2002:str"});
        if (tag != "?") {
            put(place, anchor, value);
            return;
        }
        auto plain = plain_value(value);
        if (!plain) {
            refuse(place, std::move(plain.error()));
        }
        put(place, anchor, std::move(*plain));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        check_tag(place_of_mark(mark), tag, {"?", "!", "tag:yaml.org,2002:seq"});
        open(place_of_mark(mark), anchor, ordered_json::array());
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        check_tag(place_of_mark(mark), tag, {"?", "!", "tag:yaml.org,2002:map"});
        open(place_of_mark(mark), anchor, ordered_json::object());
    }
    void OnMapEnd() override { close(); }

    std::vector<Document> documents;

  private:
    /// A list or mapping that is not complete.
    struct Frame {
        ordered_json value;
        std::string pointer;
        YAML::anchor_t anchor = 0;
        /// The key whose value comes next.
        std::optional<std::string> key;
    };

    static void check_tag(Place place, const std::string& tag, std::initializer_list<std::string_view> known) {
        if (!tag.empty() && std::ranges::find(known, tag) == known.end()) {
            refuse(place, "the tag " + tag + " is unknown; use none");
        }
    }
    static std::size_t depth_of(const ordered_json& value) {
        std::size_t deepest = 0;
        if (value.is_structured()) {
            for (const ordered_json& item : value) {
                deepest = std::max(deepest, depth_of(item));
            }
        }
        return deepest + (value.is_structured() ? 1 : 0);
    }
    [[noreturn]] void refuse_depth(Place place) const { refuse(place, depth_sentence(limits_)); }

    void count(Place place, std::size_t more) {
        values_ += more;
        if (values_ > limits_.values_max) {
            refuse(place, "more than " + std::to_string(limits_.values_max) + " values, with those of aliases");
        }
    }

    [[nodiscard]] bool is_key_next() const { return !frames_.empty() && frames_.back().value.is_object() && !frames_.back().key; }
    void take_key(Place place, const std::string& key) {
        Frame& frame = frames_.back();
        if (frame.value.contains(key)) {
            refuse(place, "the key " + key + " stands here twice");
        }
        if (frame.value.size() == limits_.keys_max) {
            refuse(place, "more than " + std::to_string(limits_.keys_max) + " keys in one mapping");
        }
        frame.key = key;
        // Until its value comes: a complaint about an unknown key is one about the key's place.
        key_place_ = place;
    }

    /// The pointer of the value that comes next, whose place this keeps.
    std::string begin(Place place) {
        count(place, 1);
        if (is_key_next()) {
            refuse(place, "a key must be a text or a number");
        }
        std::string pointer;
        if (!frames_.empty()) {
            const Frame& frame = frames_.back();
            pointer = frame.key ? below(frame.pointer, *frame.key) : below(frame.pointer, frame.value.size());
            place = frame.key ? key_place_ : place;
        }
        places_.insert_or_assign(pointer, place);
        return pointer;
    }
    void attach(YAML::anchor_t anchor, ordered_json value) {
        if (anchor != 0) {
            anchors_.insert_or_assign(anchor, value);
        }
        if (frames_.empty()) {
            root_ = std::move(value);
        } else if (frames_.back().key) {
            frames_.back().value[*frames_.back().key] = std::move(value);
            frames_.back().key.reset();
        } else {
            frames_.back().value.push_back(std::move(value));
        }
    }
    void put(Place place, YAML::anchor_t anchor, ordered_json value) {
        // Only what has parts needs its pointer.
        static_cast<void>(begin(place));
        attach(anchor, std::move(value));
    }
    void open(Place place, YAML::anchor_t anchor, ordered_json empty) {
        if (frames_.size() == limits_.depth_max) {
            refuse_depth(place);
        }
        std::string pointer = begin(place);
        frames_.push_back({.value = std::move(empty), .pointer = std::move(pointer), .anchor = anchor, .key = std::nullopt});
    }
    void close() {
        Frame frame = std::move(frames_.back());
        frames_.pop_back();
        attach(frame.anchor, std::move(frame.value));
    }

    const Limits& limits_;
    std::vector<Frame> frames_;
    ordered_json root_;
    std::map<std::string, Place> places_;
    std::map<YAML::anchor_t, ordered_json> anchors_;
    std::size_t values_ = 0;
    Place key_place_;
};

/// The library's texts for people: "bad file" is about nothing that they gave.
std::string message_of(const YAML::ParserException& problem) {
    return problem.msg.empty() ? std::string("this is no YAML") : problem.msg;
}

}  // namespace

std::string Problem::text() const {
    return place ? "line " + std::to_string(place->line) + ", column " + std::to_string(place->column) + ": " + message : message;
}

std::optional<Place> Document::place_of(std::string pointer) const {
    if (places_.empty()) {
        return std::nullopt;
    }
    while (true) {
        if (const auto found = places_.find(pointer); found != places_.end()) {
            return found->second;
        }
        if (pointer.empty()) {
            return std::nullopt;
        }
        pointer.resize(pointer.rfind('/') == std::string::npos ? 0 : pointer.rfind('/'));
    }
}

std::string below(const std::string& pointer, std::string_view name) {
    std::string longer = pointer + "/";
    for (const char letter : name) {
        longer += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
    }
    return longer;
}
std::string below(const std::string& pointer, std::size_t index) { return pointer + "/" + std::to_string(index); }

std::expected<std::vector<Document>, Problem> parse_all(std::string_view text, const Limits& limits) {
    if (text.size() > limits.bytes_max) {
        return std::unexpected(Problem{std::nullopt, "the text has " + std::to_string(text.size()) + " bytes; at most " +
                                                         std::to_string(limits.bytes_max) + " are allowed"});
    }
    // Nearly every JSON text is YAML, but for some escapes.
    bool is_too_deep = false;
    const auto is_kept = [&](int depth, ordered_json::parse_event_t event, const ordered_json& /*parsed*/) {
        using Event = ordered_json::parse_event_t;
        is_too_deep |=
            (event == Event::array_start || event == Event::object_start) && std::cmp_greater_equal(depth, limits.depth_max);
        return !is_too_deep;
    };
    if (auto json = ordered_json::parse(text, is_kept, false); is_too_deep && ordered_json::accept(text)) {
        return std::unexpected(Problem{std::nullopt, depth_sentence(limits)});
    } else if (!json.is_discarded() && !is_too_deep) {
        std::vector<Document> documents;
        documents.emplace_back(std::move(json));
        return documents;
    }
    Builder builder(limits);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (Refused& refused) {
        return std::unexpected(std::move(refused.problem));
    } catch (const YAML::ParserException& problem) {
        return std::unexpected(Problem{place_of_mark(problem.mark), message_of(problem)});
    }
    return std::move(builder.documents);
}

std::expected<Document, Problem> parse(std::string_view text, const Limits& limits) {
    PARTITA_TRY_ASSIGN(auto documents, parse_all(text, limits));
    if (documents.size() != 1) {
        return std::unexpected(Problem{documents.empty() ? std::nullopt : documents[1].place_of(""),
                                       documents.empty() ? "the text is empty" : "only one document is allowed"});
    }
    return std::move(documents.front());
}

}  // namespace partita::yaml
