#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "broker/cli/terminal.h"
#include "broker/cli/top_data.h"

/// What `partita top` shows of a sample. Pure.
namespace partita::cli {

enum class TopSection { all, topics, groups, findings, clients };

struct TopView {
    /// Null as long as nobody answered.
    const TopSample* now = nullptr;
    const TopSample* earlier = nullptr;
    /// One section alone, or all of them.
    TopSection section = TopSection::all;
    /// Why `now` is not of now; empty when it is.
    std::string problem;
    /// "every 2 s", in the first line.
    std::string rhythm;
};

/// As many lines as the terminal has, each of which takes its columns at most; with colours where it has them, which end with
/// their line. A terminal that is too small for all sections gets the first ones; one of no size gets nothing.
[[nodiscard]] std::vector<std::string> top_screen(const TopView& view, const Terminal& terminal);

/// Rows of each section in a snapshot that nobody can scroll.
inline constexpr std::size_t kTopSnapshotRowsMax = 20;
/// The same as text for a file: no colours, and as many lines as it takes.
[[nodiscard]] std::string top_snapshot(const TopView& view, bool has_unicode);

}  // namespace partita::cli
