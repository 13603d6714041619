#include "protocol/xml_text.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(XmlText, MarkupIsEscapedAndControlCharactersBecomeSpaces) {
    EXPECT_EQ(xml_text("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    EXPECT_EQ(xml_text(std::string_view("x\0y\nz\x1f", 6)), "x y z ");
    EXPECT_EQ(xml_text("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f") << "UTF-8 stays";
}

}  // namespace
}  // namespace partita
