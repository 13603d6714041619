#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "broker/cli/terminal.h"
#include "broker/cli/top_data.h"

/// The screen of `partita top` for a sample. Pure.
namespace partita::cli {

enum class TopSection { all, topics, groups, findings, clients };

struct TopView {
    /// Null until the first answer.
    const TopSample* now = nullptr;
    const TopSample* earlier = nullptr;
    /// One section, or all of them.
    TopSection section = TopSection::all;
    /// Why `now` is out of date; empty if it is not.
    std::string problem;
    /// "every 2 s", in the first line.
    std::string rhythm;
};

/// As many lines as the terminal has, none wider than the terminal. Colours appear if the terminal has them, and end with their
/// line. A terminal that is too small for all sections shows the first ones; one of size zero shows nothing.
[[nodiscard]] std::vector<std::string> top_screen(const TopView& view, const Terminal& terminal);

/// Rows of each section in a snapshot, which cannot be scrolled.
inline constexpr std::size_t kTopSnapshotRowsMax = 20;
/// The same as text for a file: no colours, and as many lines as necessary.
[[nodiscard]] std::string top_snapshot(const TopView& view, bool has_unicode);

}  // namespace partita::cli
