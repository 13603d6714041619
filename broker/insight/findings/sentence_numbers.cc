#include "broker/insight/findings/sentence_numbers.h"

namespace partita::insight {

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string counted(std::int64_t count, std::string_view singular) {
    return counted(count, singular, std::string(singular) + (singular.ends_with("ch") ? "es" : "s"));
}

}  // namespace partita::insight
