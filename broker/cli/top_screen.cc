#include "broker/cli/top_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <ranges>

#include "broker/cli/columns.h"
#include "broker/insight/plan/plan_picture.h"
#include "protocol/printable.h"

namespace partita::cli {
namespace {

using insight::short_count;

enum class Colour { plain = 0, bold = 1, red = 31, green = 32, yellow = 33, quiet = 90 };

struct Column {
    std::string_view title;
    std::size_t width = 0;
    Side side = Side::right;
};

struct Row {
    std::vector<std::string> cells;
    Colour colour = Colour::plain;
};

/// A table with a name: its first column takes the remaining width.
struct Table {
    TopSection section{};
    std::string title;
    std::size_t in_all = 0;
    std::vector<Column> columns;
    std::vector<Row> rows;
};

constexpr std::size_t kNameColumnsMin = 16;
constexpr std::string_view kUnknown = "-";

std::string rate_text(const std::optional<double>& rate) {
    if (!rate) {
        return std::string(kUnknown);
    }
    return short_count(static_cast<std::int64_t>(std::llround(*rate)));
}

std::string count_text(const std::optional<std::int64_t>& count) { return count ? short_count(*count) : std::string(kUnknown); }

Table topics_of(const TopView& view) {
    Table table{TopSection::topics,
                "TOPICS",
                view.now->topics.size(),
                {{"PARTITIONS", 10}, {"SIZE", 9}, {"RECORDS", 9}, {"A SECOND", 9}},
                {}};
    std::vector<std::pair<double, const TopTopic*>> order;
    for (const TopTopic& topic : view.now->topics) {
        const auto rate = view.earlier == nullptr ? std::nullopt : records_a_second(*view.earlier, *view.now, topic);
        order.emplace_back(rate.value_or(-1), &topic);
    }
    std::ranges::stable_sort(order, std::greater{}, &std::pair<double, const TopTopic*>::first);
    for (const auto& [rate, topic] : order) {
        table.rows.push_back({{topic->name, short_count(topic->partitions), size_text(static_cast<double>(topic->bytes)),
                               short_count(topic->offsets), rate < 0 ? std::string(kUnknown) : rate_text(rate)},
                              rate > 0 ? Colour::plain : Colour::quiet});
    }
    return table;
}

Table groups_of(const TopView& view) {
    Table table{
        TopSection::groups, "GROUPS", view.now->groups.size(), {{"STATE", 20, Side::left}, {"MEMBERS", 8}, {"LAG", 9}}, {}};
    std::vector<const TopGroup*> order;
    for (const TopGroup& group : view.now->groups) {
        order.push_back(&group);
    }
    std::ranges::stable_sort(order, std::greater{}, [](const TopGroup* group) { return group->lag.value_or(-1); });
    for (const TopGroup* group : order) {
        const Colour colour = group->state == "Stable"                            ? Colour::plain
                              : group->state == "Empty" || group->state == "Dead" ? Colour::quiet
                                                                                  : Colour::yellow;
        table.rows.push_back({{group->name, group->state, count_text(group->members), count_text(group->lag)}, colour});
    }
    return table;
}

Table findings_of(const TopView& view) {
    Table table{TopSection::findings, "FINDINGS", view.now->findings.size(), {}, {}};
    for (const TopFinding& one : view.now->findings) {
        const Colour colour = one.severity == "block" ? Colour::red : one.severity == "warn" ? Colour::yellow : Colour::plain;
        table.rows.push_back({{one.severity + " " + one.id + " " + one.topic + ": " + one.condition}, colour});
    }
    return table;
}

Table clients_of(const TopView& view) {
    Table table{TopSection::clients,
                "CLIENTS",
                static_cast<std::size_t>(std::max<std::int64_t>(view.now->clients_in_all, 0)),
                {{"SOFTWARE", 28, Side::left}, {"ADDRESS", 22, Side::left}, {"PROGRAM", 20, Side::left}},
                {}};
    for (const TopClient& one : view.now->clients) {
        table.rows.push_back({{one.client_id, one.software, one.address, one.program}});
    }
    return table;
}

class Painter {
  public:
    explicit Painter(const Terminal& terminal) : terminal_(terminal) {}

    /// One line in the terminal's width.
    [[nodiscard]] std::string line(std::string_view text, Colour colour) const {
        return painted(fitted(text, terminal_.columns, Side::left, terminal_.has_unicode), colour);
    }
    /// The first line is the header; then come the first `rows` rows.
    [[nodiscard]] std::vector<std::string> lines(const Table& table, std::size_t rows) const {
        const std::size_t columns = columns_that_fit(table);
        std::string title = table.title;
        title += rows < table.in_all ? " " + std::to_string(std::min(rows, table.rows.size())) + " of " +
                                           short_count(static_cast<std::int64_t>(table.in_all))
                                     : " " + short_count(static_cast<std::int64_t>(table.in_all));
        std::vector<std::string> cells{title};
        for (const Column& column : table.columns) {
            cells.emplace_back(column.title);
        }
        std::vector<std::string> lines{painted(row_text(table, cells, columns), Colour::bold)};
        for (std::size_t i = 0; i < std::min(rows, table.rows.size()); ++i) {
            lines.push_back(painted(row_text(table, table.rows[i].cells, columns), table.rows[i].colour));
        }
        return lines;
    }

  private:
    /// In a narrow terminal these keep their last columns: rates and lags matter most.
    static bool keeps_last(const Table& table) {
        return table.section == TopSection::topics || table.section == TopSection::groups;
    }
    /// The number of columns shown behind the first one.
    [[nodiscard]] std::size_t columns_that_fit(const Table& table) const {
        std::size_t used = kNameColumnsMin;
        std::size_t count = 0;
        const auto takes = [&](const Column& column) {
            used += 1 + column.width;
            count += used <= terminal_.columns ? 1 : 0;
        };
        if (keeps_last(table)) {
            std::ranges::for_each(table.columns | std::views::reverse, takes);
        } else {
            std::ranges::for_each(table.columns, takes);
        }
        return count;
    }
    [[nodiscard]] std::string row_text(const Table& table, const std::vector<std::string>& cells, std::size_t count) const {
        const std::size_t first = keeps_last(table) ? table.columns.size() - count : 0;
        std::size_t width = terminal_.columns;
        for (std::size_t i = first; i < first + count; ++i) {
            width -= 1 + table.columns[i].width;
        }
        std::string text = fitted(cells[0], width, Side::left, terminal_.has_unicode);
        for (std::size_t i = first; i < first + count; ++i) {
            text += " " + fitted(cells[i + 1], table.columns[i].width, table.columns[i].side, terminal_.has_unicode);
        }
        return text;
    }
    [[nodiscard]] std::string painted(const std::string& text, Colour colour) const {
        if (!terminal_.has_colour || colour == Colour::plain) {
            return text;
        }
        return "\033[" + std::to_string(static_cast<int>(colour)) + "m" + text + "\033[0m";
    }

    const Terminal& terminal_;
};

std::string clock_text(std::int64_t time_ms) {
    const std::time_t seconds = time_ms / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
    return text.data();
}

std::string head_of(const TopView& view) {
    return "partita " + view.now->version + "  broker " + std::to_string(view.now->node_id) + " at " + view.now->kafka + "  " +
           clock_text(view.now->time_ms) + "  " + view.rhythm;
}

std::string totals_of(const TopView& view) {
    const auto rates = view.earlier == nullptr ? std::nullopt : rates_between(*view.earlier, *view.now);
    const auto bytes = [&](double TopRates::* member) {
        return rates ? size_text((*rates).*member) + "/s" : std::string(kUnknown);
    };
    const auto count = [&](double TopRates::* member) { return rates ? rate_text((*rates).*member) : std::string(kUnknown); };
    return "in " + bytes(&TopRates::bytes_in) + ", " + count(&TopRates::records_in) + " records/s  out " +
           bytes(&TopRates::bytes_out) + "  " + count(&TopRates::requests) + " requests/s  " +
           short_count(view.now->connections) + " connections  " + short_count(view.now->partitions) + " partitions  memory " +
           size_text(static_cast<double>(view.now->resident_bytes));
}

std::vector<Table> tables_of(const TopView& view) {
    std::vector<Table> tables{topics_of(view), groups_of(view), findings_of(view), clients_of(view)};
    if (view.section != TopSection::all) {
        std::erase_if(tables, [&](const Table& table) { return table.section != view.section; });
    }
    return tables;
}

/// Divides the rows among the tables: each gets as many as it has, but at most its share while others have too few.
std::vector<std::size_t> shared_out(const std::vector<Table>& tables, std::size_t lines) {
    std::vector<std::size_t> rows(tables.size());
    std::size_t left = lines;
    for (bool has_given = true; has_given && left > 0;) {
        has_given = false;
        for (std::size_t i = 0; i < tables.size() && left > 0; ++i) {
            if (rows[i] >= tables[i].rows.size()) {
                continue;
            }
            ++rows[i];
            --left;
            has_given = true;
        }
    }
    return rows;
}

}  // namespace

std::vector<std::string> top_screen(const TopView& view, const Terminal& terminal) {
    const Painter painter(terminal);
    std::vector<std::string> lines;
    if (terminal.lines == 0 || terminal.columns == 0) {
        return lines;
    }
    const std::string foot =
        view.problem.empty() ? "q quit   1 topics   2 groups   3 findings   4 clients   0 all" : view.problem;
    const Colour foot_colour = view.problem.empty() ? Colour::quiet : Colour::red;
    if (view.now != nullptr) {
        lines = {painter.line(head_of(view), Colour::bold), painter.line(totals_of(view), Colour::plain)};
        const std::vector<Table> tables = tables_of(view);
        // Besides head, foot and headers; a blank line above each table if there is enough room.
        const std::size_t needed = lines.size() + 1 + tables.size();
        const std::size_t room = terminal.lines > needed ? terminal.lines - needed : 0;
        constexpr std::size_t kMuchRoom = 14;
        const bool has_blanks = room >= kMuchRoom;
        const std::vector<std::size_t> rows = shared_out(tables, has_blanks ? room - tables.size() : room);
        for (std::size_t i = 0; i < tables.size(); ++i) {
            if (has_blanks) {
                lines.emplace_back();
            }
            std::ranges::move(painter.lines(tables[i], rows[i]), std::back_inserter(lines));
        }
    }
    lines.resize(terminal.lines);
    lines.back() = painter.line(foot, foot_colour);
    return lines;
}

std::string top_snapshot(const TopView& view, bool has_unicode) {
    Terminal paper;
    paper.columns = 120;
    paper.has_unicode = has_unicode;
    const Painter painter(paper);
    std::vector<std::string> lines{painter.line(head_of(view), Colour::plain), painter.line(totals_of(view), Colour::plain)};
    for (const Table& table : tables_of(view)) {
        lines.emplace_back();
        std::ranges::move(painter.lines(table, kTopSnapshotRowsMax), std::back_inserter(lines));
    }
    std::string text;
    for (std::string& line : lines) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace partita::cli
