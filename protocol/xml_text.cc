#include "protocol/xml_text.h"

namespace partita {

std::string xml_text(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        }
    }
    return out;
}

}  // namespace partita
