#include "broker/insight/findings/record_count.h"

#include "broker/insight/findings/sentence_numbers.h"

namespace partita::insight {

std::string counted(const RecordCount& count, std::string_view singular) {
    return (count.is_exact ? "" : "up to ") + counted(count.records, singular);
}

std::string counted(const RecordCount& count, std::string_view one, std::string_view many) {
    return (count.is_exact ? "" : "up to ") + counted(count.records, one, many);
}

}  // namespace partita::insight
