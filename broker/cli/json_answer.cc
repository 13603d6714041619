#include "broker/cli/json_answer.h"

namespace partita::cli {

std::expected<nlohmann::ordered_json, int> json_of(const HttpPlace& http, const std::expected<HttpAnswer, HttpFailure>& answer) {
    if (!answer) {
        return std::unexpected(report(answer.error()));
    }
    if (!answer->is_good()) {
        return std::unexpected(report_refusal(http, *answer));
    }
    auto parsed = nlohmann::ordered_json::parse(answer->body, nullptr, false);
    if (!parsed.is_object()) {
        return std::unexpected(report_unknown_answer(http, "it is no JSON object"));
    }
    return parsed;
}

}  // namespace partita::cli
