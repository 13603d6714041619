#include "broker/client/failure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace partita::client {
namespace {

/// Codes whose exception has a different name.
constexpr auto kIrregularNames = std::to_array<std::pair<ErrorCode, std::string_view>>({
    {ErrorCode::unknown_server_error, "UnknownServerException"},
    {ErrorCode::corrupt_message, "CorruptRecordException"},
    {ErrorCode::request_timed_out, "TimeoutException"},
    {ErrorCode::message_too_large, "RecordTooLargeException"},
    {ErrorCode::stale_controller_epoch, "ControllerMovedException"},
    {ErrorCode::offset_metadata_too_large, "OffsetMetadataTooLarge"},
    {ErrorCode::network_exception, "NetworkException"},
    {ErrorCode::invalid_topic_exception, "InvalidTopicException"},
    {ErrorCode::record_list_too_large, "RecordBatchTooLargeException"},
    {ErrorCode::topic_authorization_failed, "TopicAuthorizationException"},
    {ErrorCode::group_authorization_failed, "GroupAuthorizationException"},
    {ErrorCode::cluster_authorization_failed, "ClusterAuthorizationException"},
    {ErrorCode::topic_already_exists, "TopicExistsException"},
    {ErrorCode::invalid_config, "InvalidConfigurationException"},
    {ErrorCode::out_of_order_sequence_number, "OutOfOrderSequenceException"},
    {ErrorCode::duplicate_sequence_number, "DuplicateSequenceException"},
    {ErrorCode::invalid_producer_id_mapping, "InvalidPidMappingException"},
    {ErrorCode::invalid_transaction_timeout, "InvalidTxnTimeoutException"},
    {ErrorCode::transactional_id_authorization_failed, "TransactionalIdAuthorizationException"},
    {ErrorCode::kafka_storage_error, "KafkaStorageException"},
    {ErrorCode::sasl_authentication_failed, "SaslAuthenticationException"},
    {ErrorCode::delegation_token_auth_disabled, "DelegationTokenDisabledException"},
    {ErrorCode::delegation_token_request_not_allowed, "UnsupportedByAuthenticationException"},
    {ErrorCode::delegation_token_authorization_failed, "DelegationTokenAuthorizationException"},
    {ErrorCode::non_empty_group, "GroupNotEmptyException"},
    {ErrorCode::principal_deserialization_failure, "PrincipalDeserializationException"},
    {ErrorCode::fetch_session_topic_id_error, "FetchSessionTopicIdException"},
    {ErrorCode::invalid_regular_expression, "InvalidRegularExpression"},
});

}  // namespace

Failure refusal(ErrorCode code, std::string_view text) {
    return {.kind = Failure::Kind::refused, .code = code, .message = std::string(text.empty() ? error_message(code) : text)};
}

std::string exception_name(ErrorCode code) {
    const auto* irregular = std::ranges::find(kIrregularNames, code, &std::pair<ErrorCode, std::string_view>::first);
    if (irregular != kIrregularNames.end()) {
        return std::string(irregular->second);
    }
    std::string name;
    bool begins_word = true;
    for (const char letter : error_name(code)) {
        if (letter != '_') {
            name += begins_word ? letter : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
        begins_word = letter == '_';
    }
    return name + "Exception";
}

std::string exception_name(const Failure& failure) {
    switch (failure.kind) {
        case Failure::Kind::bad_setting:
            return "ConfigException";
        case Failure::Kind::unreachable:
        case Failure::Kind::timed_out:
            return "TimeoutException";
        case Failure::Kind::disconnected:
            return "DisconnectException";
        case Failure::Kind::malformed:
        case Failure::Kind::damaged:
            return "SchemaException";
        case Failure::Kind::untrusted:
            return "SslAuthenticationException";
        case Failure::Kind::unsupported:
            return "UnsupportedVersionException";
        case Failure::Kind::interrupted:
            return "WakeupException";
        case Failure::Kind::refused:
            return exception_name(failure.code);
    }
    return "KafkaException";
}

}  // namespace partita::client
