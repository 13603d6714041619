#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/insight/findings/hazard_table.h"

/// The catalogue of hazards: the rows of hazard_table.h as types and values.
namespace partita::insight {

enum class Severity : std::uint8_t {
    /// Good to know.
    info,
    /// Something is at risk; a person should decide.
    warn,
    /// Order, data or an application breaks: `guarded` topics refuse to grow while it stands.
    block,
};

/// "info", "warn", "block".
[[nodiscard]] std::string_view to_string(Severity severity);

/// Whether a finding tells of the present or of the past.
enum class HazardKind : std::uint8_t {
    /// Something goes wrong, or soon may. The finding ends when that is over.
    danger,
    /// Something went wrong: records were skipped, read out of order, or written to the wrong place. That stays true. The finding
    /// ends when the records are gone, when the group or the topic is, or when a person marks it as seen.
    harm,
};

/// "danger", "harm".
[[nodiscard]] std::string_view to_string(HazardKind kind);

/// When the evidence exists.
enum class Evidence : std::uint8_t {
    /// The evidence exists before the change: the log, the groups and arithmetic show it.
    predicted,
    /// The evidence comes with the change or after it: requests and records show it.
    live,
    both,
};

/// The subject of a family of hazards. A letter stands for the family in its codes: "H03", "G01", "C01".
enum class HazardFamily : std::uint8_t {
    /// H: the growth of a topic.
    expansion,
    /// G: the members of a group.
    group,
    /// C: the capacity of the broker.
    capacity,
};

/// Ids of one family begin at a multiple of this.
inline constexpr int kHazardFamilySize = 100;

#define PARTITA_EXPANSION_HAZARD_ID(number, id, ...) id = (number),
#define PARTITA_GROUP_HAZARD_ID(number, id, ...) id = kHazardFamilySize + (number),
#define PARTITA_CAPACITY_HAZARD_ID(number, id, ...) id = 2 * kHazardFamilySize + (number),
/// The numbers are part of the codes: `to_string(HazardId::backlog_inversion)` is "H03".
enum class HazardId : std::uint8_t {
    PARTITA_EXPANSION_HAZARDS(PARTITA_EXPANSION_HAZARD_ID)  //
    PARTITA_GROUP_HAZARDS(PARTITA_GROUP_HAZARD_ID)          //
    PARTITA_CAPACITY_HAZARDS(PARTITA_CAPACITY_HAZARD_ID)    //
};
#undef PARTITA_EXPANSION_HAZARD_ID
#undef PARTITA_GROUP_HAZARD_ID
#undef PARTITA_CAPACITY_HAZARD_ID

/// "H03", "G01", "C01".
[[nodiscard]] std::string to_string(HazardId id);
[[nodiscard]] HazardFamily family_of(HazardId id);

/// A row of the catalogue.
struct Hazard {
    HazardId id;
    /// The usual severity.
    Severity severity;
    Evidence evidence;
    /// The usual kind.
    HazardKind kind;
    std::string_view title;
    std::string_view advice;
};

/// All hazards, ascending by id.
[[nodiscard]] std::span<const Hazard> hazards();
/// The row of one hazard. Every `HazardId` has one.
[[nodiscard]] const Hazard& hazard(HazardId id);
/// The hazard of "H03", "G01" or "C01"; null for anything else.
[[nodiscard]] std::optional<HazardId> parse_hazard_id(std::string_view text);

}  // namespace partita::insight
