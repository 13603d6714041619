#include "broker/insight/findings/hazards.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "protocol/assert.h"

namespace partita::insight {
namespace {

using enum Severity;
using enum Evidence;
using enum HazardKind;

#define PARTITA_HAZARD_ROW(number, id, severity, evidence, kind, title, advice) \
    Hazard{HazardId::id, severity, evidence, kind, title, advice},
constexpr std::array kHazards = {
    PARTITA_EXPANSION_HAZARDS(PARTITA_HAZARD_ROW)  //
    PARTITA_GROUP_HAZARDS(PARTITA_HAZARD_ROW)      //
    PARTITA_CAPACITY_HAZARDS(PARTITA_HAZARD_ROW)   //
};
#undef PARTITA_HAZARD_ROW

/// By family.
constexpr std::string_view kLetters = "HGC";

constexpr bool is_ascending() {
    for (std::size_t index = 1; index < kHazards.size(); ++index) {
        if (kHazards[index - 1].id >= kHazards[index].id) {
            return false;
        }
    }
    return true;
}
static_assert(is_ascending());

const Hazard* find(HazardId id) {
    const auto position = std::ranges::lower_bound(kHazards, id, {}, &Hazard::id);
    return position != kHazards.end() && position->id == id ? &*position : nullptr;
}

}  // namespace

std::string_view to_string(Severity severity) {
    switch (severity) {
        case info:
            return "info";
        case warn:
            return "warn";
        case block:
            return "block";
    }
    return "?";
}

std::string_view to_string(HazardKind kind) {
    switch (kind) {
        case danger:
            return "danger";
        case harm:
            return "harm";
    }
    return "?";
}

std::string to_string(HazardId id) {
    const int number = static_cast<int>(id) % kHazardFamilySize;
    const std::string letter(1, kLetters.at(static_cast<std::size_t>(family_of(id))));
    return letter + (number < 10 ? "0" : "") + std::to_string(number);
}

HazardFamily family_of(HazardId id) { return static_cast<HazardFamily>(static_cast<int>(id) / kHazardFamilySize); }

std::span<const Hazard> hazards() { return kHazards; }

const Hazard& hazard(HazardId id) {
    const Hazard* found = find(id);
    PARTITA_ASSERT(found != nullptr, "every hazard is in the catalogue");
    return *found;
}

std::optional<HazardId> parse_hazard_id(std::string_view text) {
    constexpr std::size_t kIdLength = 3;
    const std::size_t family = text.empty() ? std::string_view::npos : kLetters.find(text[0]);
    if (text.size() != kIdLength || family == std::string_view::npos) {
        return std::nullopt;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) {
        return std::nullopt;
    }
    const auto id = static_cast<HazardId>(number + static_cast<int>(family) * kHazardFamilySize);
    if (find(id) == nullptr) {
        return std::nullopt;
    }
    return id;
}

}  // namespace partita::insight
