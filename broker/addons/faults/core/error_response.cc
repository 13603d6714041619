#include "broker/addons/faults/core/error_response.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/codec_member.h"
#include "protocol/schema.h"

namespace partita::faults {
namespace {

using codec_detail::as;
using codec_detail::member;
using codec_detail::put;
using codec_detail::text_of;
using codec_detail::value_size;

constexpr std::string_view kErrorFields[] = {"ErrorCode", "PartitionErrorCode"};

/// Members that are -1 beside an error, and not zero as by the message's definition.
constexpr std::string_view kUnknownFields[] = {"HighWatermark", "LastStableOffset", "LogStartOffset", "BaseOffset", "NodeId",
                                               "Port",          "ProducerEpoch",    "CommittedOffset"};

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

bool is_text(Kind kind) { return kind == Kind::string || kind == Kind::nullable_string; }

bool is_plain(Kind kind) { return kind <= Kind::uuid; }

/// False: the kinds are different. A null becomes an empty text where `may_be_null` is false.
bool copy_value(Kind from_kind, const void* from, Kind to_kind, void* to, bool may_be_null) {
    if (is_text(from_kind) && is_text(to_kind)) {
        const std::optional<std::string_view> text = text_of(from_kind, from);
        if (to_kind == Kind::string) {
            put(to, text.value_or(std::string_view()));
        } else {
            put(to, text || may_be_null ? text : std::optional<std::string_view>(std::string_view()));
        }
        return true;
    }
    if (from_kind != to_kind || !is_plain(from_kind)) {
        return false;
    }
    std::memcpy(to, from, value_size(from_kind, nullptr));
    return true;
}

class Mirror {
  public:
    Mirror(std::int16_t version, ErrorCode error, Arena& arena)
        : version_(version), error_(static_cast<std::int16_t>(error)), is_of_whole_(is_of_whole(error)), arena_(arena) {}

    /// Fills `response`, which has its defaults, and returns true if the error has found a place in it.
    bool fill(const Schema& response_schema, void* response, const Schema* request_schema, const void* request) {
        bool has_own = false;
        for (const Field& field : response_schema.fields) {
            has_own = has_own || (is_error_field(field) && field.versions.contains(version_));
        }
        bool is_inside = false;
        if (request_schema != nullptr && !(has_own && is_of_whole_)) {
            for (const Field& field : response_schema.fields) {
                const bool is_list = field.is_array && field.kind == Kind::structure && field.versions.contains(version_);
                if (is_list && has_error(*field.nested)) {
                    is_inside = fill_list(field, member(response, field), *request_schema, request) || is_inside;
                }
            }
        }
        for (const Field& field : response_schema.fields) {
            if (is_error_field(field) && field.versions.contains(version_) && !is_inside) {
                put(member(response, field), error_);
                put_unknown(response_schema, response);
            }
        }
        return has_own || is_inside;
    }

  private:
    void put_unknown(const Schema& schema, void* message) const {
        for (const Field& field : schema.fields) {
            if (field.is_array || !field.versions.contains(version_) ||
                std::ranges::find(kUnknownFields, field.name) == std::end(kUnknownFields)) {
                continue;
            }
            if (field.kind == Kind::int64) {
                put(member(message, field), std::int64_t{-1});
            } else if (field.kind == Kind::int32) {
                put(member(message, field), std::int32_t{-1});
            } else if (field.kind == Kind::int16) {
                put(member(message, field), std::int16_t{-1});
            }
        }
    }
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

    bool fill_list(const Field& answer, void* place, const Schema& request_schema, const void* request) {
        const Field* asked = list_for(answer, request_schema);
        if (asked == nullptr) {
            return false;
        }
        const auto names = as<ArrayBase>(member(request, *asked));
        const Schema& nested = *answer.nested;
        if (names.size <= 0) {
            return false;
        }
        const auto count = static_cast<std::size_t>(names.size);
        auto* entries = static_cast<std::byte*>(arena_.allocate_unlimited(count * nested.size, nested.alignment));
        const bool is_struct = asked->kind == Kind::structure;
        const std::size_t step = value_size(asked->kind, asked->nested);
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
        put(place, ArrayBase{entries, names.size});
        return is_placed;
    }

    void copy_names(const Schema& response_schema, void* response, const Schema& request_schema, const void* request) const {
        for (const Field& field : response_schema.fields) {
            if (field.is_array || is_error_field(field) || !field.versions.contains(version_)) {
                continue;
            }
            for (const Field& asked : request_schema.fields) {
                if (!asked.is_array && asked.versions.contains(version_) && is_one_thing(field.name, asked.name) &&
                    copy_value(asked.kind, member(request, asked), field.kind, member(response, field),
                               field.nullable.contains(version_))) {
                    break;
                }
            }
        }
    }

    /// The request names the thing by one value: it is the first one of its kind in the entry.
    void name_entry(const Schema& response_schema, void* response, Kind kind, const void* name) const {
        for (const Field& field : response_schema.fields) {
            if (!field.is_array && !is_error_field(field) && field.name != "ErrorMessage" && field.versions.contains(version_) &&
                copy_value(kind, name, field.kind, member(response, field), field.nullable.contains(version_))) {
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

void* error_response(const ApiInfo& api, std::int16_t version, const void* request, ErrorCode error, Arena& arena) {
    void* response = arena.allocate_unlimited(api.response->size, api.response->alignment);
    std::memcpy(response, api.response->defaults, api.response->size);
    // If nothing has room for the error, the response is empty.
    (void)Mirror(version, error, arena).fill(*api.response, response, api.request, request);
    return response;
}

}  // namespace partita::faults
