#include "broker/tools/measurement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "broker/tools/text.h"

namespace partita::tools {

std::string decimal(double number, int digits) {
    if (std::isnan(number)) {
        return "NaN";
    }
    if (std::isinf(number)) {
        return number < 0 ? "-Infinity" : "Infinity";
    }
    char text[400] = {};
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

std::string metrics_text(std::vector<std::pair<std::string, double>> metrics) {
    std::ranges::sort(metrics);
    std::size_t width = 0;
    for (const auto& [name, value] : metrics) {
        width = std::max(width, name.size());
    }
    std::string text = "\n" + padded("Metric Name", width) + "   Value\n";
    for (const auto& [name, value] : metrics) {
        text += padded(name, width) + " : " + decimal(value, 3) + "\n";
    }
    return text;
}

}  // namespace partita::tools
