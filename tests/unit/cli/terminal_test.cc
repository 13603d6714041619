// Tests which output gets colours, redrawing, and characters beyond ASCII.

#include "broker/cli/terminal.h"

#include <gtest/gtest.h>

#include <map>

namespace partita::cli {
namespace {

Terminal of(bool is_terminal, std::map<std::string, std::string> variables, std::size_t columns = 0, std::size_t lines = 0) {
    return terminal_of(is_terminal, columns, lines, [&](const char* name) { return variables[name]; });
}

TEST(Terminal, AFileHasNoColoursAndIsNotRedrawn) {
    const Terminal file = of(false, {{"TERM", "xterm"}, {"LANG", "C.UTF-8"}});
    EXPECT_FALSE(file.has_colour || file.can_redraw || file.is_terminal);
    EXPECT_TRUE(file.has_unicode);
}

TEST(Terminal, NoColorCountsWhenItSaysAnything) {
    EXPECT_TRUE(of(true, {{"TERM", "xterm"}}).has_colour);
    EXPECT_TRUE(of(true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}).has_colour);
    const Terminal plain = of(true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}});
    EXPECT_FALSE(plain.has_colour);
    EXPECT_TRUE(plain.can_redraw);
}

TEST(Terminal, ATerminalThatCanOnlyAppendIsTreatedSo) {
    for (const char* term : {"", "dumb"}) {
        const Terminal terminal = of(true, {{"TERM", term}});
        EXPECT_TRUE(terminal.is_terminal);
        EXPECT_FALSE(terminal.has_colour || terminal.can_redraw);
    }
}

TEST(Terminal, TheFirstVariableOfTheLocaleCounts) {
    EXPECT_TRUE(of(true, {{"LANG", "de_DE.UTF-8"}}).has_unicode);
    EXPECT_TRUE(of(true, {{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}}).has_unicode);
    EXPECT_FALSE(of(true, {{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}}).has_unicode);
    EXPECT_FALSE(of(true, {}).has_unicode);
}

TEST(Terminal, AnUnknownSizeIsThatOfAnOldOne) {
    EXPECT_EQ(of(true, {}).columns, 80u);
    EXPECT_EQ(of(true, {}).lines, 24u);
    EXPECT_EQ(of(true, {}, 40, 7).columns, 40u);
    EXPECT_EQ(of(true, {}, 40, 7).lines, 7u);
}

}  // namespace
}  // namespace partita::cli
