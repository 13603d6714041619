#include "protocol/found_errors.h"

#include <algorithm>
#include <memory>
#include <span>

#include "protocol/codec_member.h"

namespace partita {
namespace {

using codec_detail::as;
using codec_detail::value_size;

constexpr std::string_view kErrorCode = "ErrorCode";
constexpr std::string_view kErrorMessage = "ErrorMessage";

/// The places of the error codes in a struct. A struct without error codes, in itself or below, has no search.
struct Search {
    const Schema* schema = nullptr;
    const Field* code = nullptr;
    std::vector<std::pair<const Field*, std::unique_ptr<Search>>> below;
};

std::unique_ptr<Search> make_search(const Schema& schema) {
    auto search = std::make_unique<Search>();
    search->schema = &schema;
    for (const Field& field : schema.fields) {
        if (field.kind == Kind::int16 && !field.is_array && field.name == kErrorCode) {
            search->code = &field;
        } else if (field.nested != nullptr) {
            if (auto below = make_search(*field.nested)) {
                search->below.emplace_back(&field, std::move(below));
            }
        }
    }
    return search->code == nullptr && search->below.empty() ? nullptr : std::move(search);
}

/// The search of an API's response; null for a response without error codes.
const Search* search_of(const ApiInfo& api) {
    static const std::vector<std::unique_ptr<Search>> searches = [] {
        std::vector<std::unique_ptr<Search>> all;
        for (const ApiInfo& one : all_apis()) {
            const auto place = static_cast<std::size_t>(one.key);
            all.resize(std::max(all.size(), place + 1));
            all[place] = make_search(*one.response);
        }
        return all;
    }();
    return searches[static_cast<std::size_t>(api.key)].get();
}

const std::byte* member_bytes(const void* message, const Field& field) {
    return static_cast<const std::byte*>(codec_detail::member(message, field));
}

/// Calls `enter(search, struct)` for each struct with an error code, in itself or below, and `leave()` after the structs below
/// it. If `enter` returns false, the walk ends.
template <class Enter, class Leave>
bool walk(const Search& search, const void* message, std::int16_t version, Enter& enter, Leave& leave) {
    const bool goes_on = enter(search, message);
    for (auto below = search.below.begin(); goes_on && below != search.below.end(); ++below) {
        const auto& [field, inner] = *below;
        if (!field->versions.contains(version)) {
            continue;
        }
        const auto* value = member_bytes(message, *field);
        if (field->is_array) {
            const auto array = as<ArrayBase>(value);
            const std::size_t size = value_size(field->kind, field->nested);
            const auto* element = static_cast<const std::byte*>(array.data);
            for (std::int32_t index = 0; index < array.size; ++index, element += size) {
                if (!walk(*inner, element, version, enter, leave)) {
                    return false;
                }
            }
        } else {
            const void* object = field->kind == Kind::nullable_structure ? as<const void*>(value) : value;
            if (object != nullptr && !walk(*inner, object, version, enter, leave)) {
                return false;
            }
        }
    }
    leave();
    return goes_on;
}

ErrorCode code_of(const Search& search, const void* message, std::int16_t version) {
    return search.code == nullptr || !search.code->versions.contains(version)
               ? ErrorCode::none
               : as<ErrorCode>(member_bytes(message, *search.code));
}

bool is_text(const Field& field) { return field.kind == Kind::string || field.kind == Kind::nullable_string; }

/// True for names, ids and indexes, which distinguish the struct from its neighbours.
bool tells_what_it_is_about(const Field& field) {
    if (field.is_array) {
        return false;
    }
    if (is_text(field)) {
        return field.name != kErrorMessage;
    }
    const bool is_index = field.name.ends_with("Index") || field.name == "Partition" || field.name == "PartitionId";
    return field.kind == Kind::uuid || (field.kind == Kind::int32 && is_index);
}

std::string text_of_member(const Field& field, const void* message) {
    constexpr std::size_t kTextBytesMax = 256;
    const auto* value = member_bytes(message, field);
    if (is_text(field)) {
        return std::string(codec_detail::text_of(field.kind, value).value_or("").substr(0, kTextBytesMax));
    }
    if (field.kind == Kind::uuid) {
        return as<Uuid>(value).is_zero() ? std::string() : as<Uuid>(value).to_string();
    }
    return std::to_string(as<std::int32_t>(value));
}

}  // namespace

bool has_error(const ApiInfo& api, const void* response, std::int16_t version) {
    const Search* search = search_of(api);
    if (search == nullptr) {
        return false;
    }
    auto enter = [&](const Search& at, const void* message) { return code_of(at, message, version) == ErrorCode::none; };
    auto leave = [] {};
    return !walk(*search, response, version, enter, leave);
}

FoundErrors find_errors(const ApiInfo& api, const void* response, std::int16_t version) {
    FoundErrors found;
    const Search* search = search_of(api);
    if (search == nullptr) {
        return found;
    }
    std::vector<std::pair<const Search*, const void*>> around;
    auto enter = [&](const Search& at, const void* message) {
        around.emplace_back(&at, message);
        const ErrorCode code = code_of(at, message, version);
        if (code == ErrorCode::none) {
            return true;
        }
        if (++found.count > FoundErrors::kKeptMax) {
            return true;
        }
        FoundError& error = found.kept.emplace_back();
        error.code = code;
        for (const auto& [one, object] : around) {
            for (const Field& field : one->schema->fields) {
                if (field.name == kErrorMessage && object == message && field.versions.contains(version)) {
                    error.message = text_of_member(field, object);
                } else if (tells_what_it_is_about(field) && field.versions.contains(version)) {
                    if (std::string text = text_of_member(field, object); !text.empty()) {
                        error.about.emplace_back(field.name, std::move(text));
                    }
                }
            }
        }
        return true;
    };
    auto leave = [&] { around.pop_back(); };
    walk(*search, response, version, enter, leave);
    return found;
}

}  // namespace partita
