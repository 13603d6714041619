#include "broker/insight/findings/record_count.h"

#include "broker/insight/findings/sentence_numbers.h"

namespace partita::insight {

std::string counted(const RecordCount& count, std::string_view singular) {
    return (count.is_exact ? "" : "up to ") + counted(count.records, singular);
}

}  // namespace partita::insight
