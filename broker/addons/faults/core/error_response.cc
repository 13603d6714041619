#include "broker/addons/faults/core/error_response.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/schema.h"

namespace partita::faults {
namespace {

constexpr std::string_view kErrorFields[] = {"ErrorCode", "PartitionErrorCode"};

/// Names of one thing in requests and in responses.
constexpr std::array<std::string_view, 3> kSynonyms[] = {
    {"Partition", "PartitionIndex", "Index"},
    {"Topic", "Name", "TopicName"},
    {"GroupId", "Group", ""},
    {"Key", "CoordinatorKey", ""},
    {"TransactionalId", "TransactionId", ""},
    {"ResourceName", "Name", ""},
    {"Feature", "Name", ""},
};

bool is_error_field(const Field& field) {
    return field.kind == Kind::int16 && !field.is_array && (field.name == kErrorFields[0] || field.name == kErrorFields[1]);
}

bool is_one_thing(std::string_view left, std::string_view right) {
    if (left == right) {
        return true;
    }
    for (const auto& names : kSynonyms) {
        const auto has = [&](std::string_view name) {
            return !name.empty() && (name == names[0] || name == names[1] || name == names[2]);
        };
        if (has(left) && has(right)) {
            return true;
        }
    }
    return false;
}

std::size_t size_of(Kind kind) {
    switch (kind) {
        case Kind::boolean:
            return sizeof(bool);
        case Kind::int8:
            return sizeof(std::int8_t);
        case Kind::int16:
        case Kind::uint16:
            return sizeof(std::int16_t);
        case Kind::int32:
        case Kind::uint32:
            return sizeof(std::int32_t);
        case Kind::int64:
        case Kind::float64:
            return sizeof(std::int64_t);
        case Kind::uuid:
            return sizeof(Uuid);
        case Kind::string:
            return sizeof(std::string_view);
        case Kind::nullable_string:
            return sizeof(std::optional<std::string_view>);
        case Kind::bytes:
        case Kind::nullable_bytes:
        case Kind::records:
        case Kind::structure:
        case Kind::nullable_structure:
            break;
    }
    return 0;
}

bool is_text(Kind kind) { return kind == Kind::string || kind == Kind::nullable_string; }

std::optional<std::string_view> text_at(Kind kind, const std::byte* value) {
    if (kind == Kind::string) {
        std::string_view text;
        std::memcpy(static_cast<void*>(&text), value, sizeof text);
        return text;
    }
    std::optional<std::string_view> text;
    std::memcpy(static_cast<void*>(&text), value, sizeof text);
    return text;
}

/// False: the kinds are different. A null becomes an empty text where `may_be_null` is false.
bool copy_value(Kind from_kind, const std::byte* from, Kind to_kind, std::byte* to, bool may_be_null) {
    if (is_text(from_kind) && is_text(to_kind)) {
        std::optional<std::string_view> text = text_at(from_kind, from);
        if (!text && !may_be_null) {
            text.emplace();
        }
        if (to_kind == Kind::string) {
            const std::string_view present = text.value_or(std::string_view());
            std::memcpy(to, &present, sizeof present);
        } else {
            std::memcpy(to, &text, sizeof text);
        }
        return true;
    }
    if (from_kind != to_kind || size_of(from_kind) == 0) {
        return false;
    }
    std::memcpy(to, from, size_of(from_kind));
    return true;
}

class Mirror {
  public:
    Mirror(std::int16_t version, ErrorCode error, Arena& arena)
        : version_(version), error_(static_cast<std::int16_t>(error)), is_of_whole_(is_of_whole(error)), arena_(arena) {}

    /// Fills `response`, which has its defaults, and returns true if the error has found a place in it.
    bool fill(const Schema& response_schema, std::byte* response, const Schema* request_schema, const std::byte* request) {
        bool has_own = false;
        for (const Field& field : response_schema.fields) {
            has_own = has_own || (is_error_field(field) && field.versions.contains(version_));
        }
        bool is_inside = false;
        if (request_schema != nullptr && !(has_own && is_of_whole_)) {
            for (const Field& field : response_schema.fields) {
                const bool is_list = field.is_array && field.kind == Kind::structure && field.versions.contains(version_);
                if (is_list && has_error(*field.nested)) {
                    is_inside = fill_list(field, response + field.offset, *request_schema, request) || is_inside;
                }
            }
        }
        for (const Field& field : response_schema.fields) {
            if (is_error_field(field) && field.versions.contains(version_) && !is_inside) {
                std::memcpy(response + field.offset, &error_, sizeof error_);
            }
        }
        return has_own || is_inside;
    }

  private:
    [[nodiscard]] bool has_error(const Schema& schema) const {
        for (const Field& field : schema.fields) {
            const bool is_nested = field.kind == Kind::structure && field.nested != nullptr && field.versions.contains(version_);
            if ((is_error_field(field) && field.versions.contains(version_)) || (is_nested && has_error(*field.nested))) {
                return true;
            }
        }
        return false;
    }

    /// The list of the request that a list of the response answers: that of its name, else the first one that the version has.
    [[nodiscard]] const Field* list_for(const Field& answer, const Schema& request_schema) const {
        const Field* first = nullptr;
        for (const Field& field : request_schema.fields) {
            if (!field.is_array || !field.versions.contains(version_)) {
                continue;
            }
            if (field.name == answer.name) {
                return &field;
            }
            first = first == nullptr ? &field : first;
        }
        return first;
    }

    bool fill_list(const Field& answer, std::byte* place, const Schema& request_schema, const std::byte* request) {
        const Field* asked = list_for(answer, request_schema);
        if (asked == nullptr) {
            return false;
        }
        ArrayBase names;
        std::memcpy(static_cast<void*>(&names), request + asked->offset, sizeof names);
        const Schema& nested = *answer.nested;
        if (names.size <= 0) {
            return false;
        }
        const auto count = static_cast<std::size_t>(names.size);
        auto* entries = static_cast<std::byte*>(arena_.allocate_unlimited(count * nested.size, nested.alignment));
        const bool is_struct = asked->kind == Kind::structure;
        const std::size_t step = is_struct ? asked->nested->size : size_of(asked->kind);
        bool is_placed = false;
        for (std::size_t index = 0; index < count; ++index) {
            std::byte* entry = entries + index * nested.size;
            std::memcpy(entry, nested.defaults, nested.size);
            const auto* name = static_cast<const std::byte*>(names.data) + index * step;
            if (is_struct) {
                copy_names(nested, entry, *asked->nested, name);
                is_placed = fill(nested, entry, asked->nested, name) || is_placed;
            } else {
                name_entry(nested, entry, asked->kind, name);
                is_placed = fill(nested, entry, nullptr, nullptr) || is_placed;
            }
        }
        const ArrayBase filled{entries, names.size};
        std::memcpy(place, &filled, sizeof filled);
        return is_placed;
    }

    void copy_names(const Schema& response_schema, std::byte* response, const Schema& request_schema,
                    const std::byte* request) const {
        for (const Field& field : response_schema.fields) {
            if (field.is_array || is_error_field(field) || !field.versions.contains(version_)) {
                continue;
            }
            for (const Field& asked : request_schema.fields) {
                if (!asked.is_array && asked.versions.contains(version_) && is_one_thing(field.name, asked.name) &&
                    copy_value(asked.kind, request + asked.offset, field.kind, response + field.offset,
                               field.nullable.contains(version_))) {
                    break;
                }
            }
        }
    }

    /// The request names the thing by one value: it is the first one of its kind in the entry.
    void name_entry(const Schema& response_schema, std::byte* response, Kind kind, const std::byte* name) const {
        for (const Field& field : response_schema.fields) {
            if (!field.is_array && !is_error_field(field) && field.name != "ErrorMessage" && field.versions.contains(version_) &&
                copy_value(kind, name, field.kind, response + field.offset, field.nullable.contains(version_))) {
                return;
            }
        }
    }

    std::int16_t version_;
    std::int16_t error_;
    bool is_of_whole_;
    Arena& arena_;
};

}  // namespace

bool is_of_whole(ErrorCode error) {
    constexpr ErrorCode kOfWhole[] = {ErrorCode::coordinator_load_in_progress,
                                      ErrorCode::coordinator_not_available,
                                      ErrorCode::not_coordinator,
                                      ErrorCode::illegal_generation,
                                      ErrorCode::inconsistent_group_protocol,
                                      ErrorCode::invalid_group_id,
                                      ErrorCode::unknown_member_id,
                                      ErrorCode::invalid_session_timeout,
                                      ErrorCode::rebalance_in_progress,
                                      ErrorCode::group_authorization_failed,
                                      ErrorCode::fetch_session_id_not_found,
                                      ErrorCode::invalid_fetch_session_epoch,
                                      ErrorCode::member_id_required,
                                      ErrorCode::fenced_instance_id,
                                      ErrorCode::group_id_not_found,
                                      ErrorCode::fenced_member_epoch,
                                      ErrorCode::stale_member_epoch};
    return std::ranges::find(kOfWhole, error) != std::end(kOfWhole);
}

const void* error_response(const ApiInfo& api, std::int16_t version, const void* request, ErrorCode error, Arena& arena) {
    auto* response = static_cast<std::byte*>(arena.allocate_unlimited(api.response->size, api.response->alignment));
    std::memcpy(response, api.response->defaults, api.response->size);
    // If nothing has room for the error, the response is empty.
    (void)Mirror(version, error, arena).fill(*api.response, response, api.request, static_cast<const std::byte*>(request));
    return response;
}

}  // namespace partita::faults
