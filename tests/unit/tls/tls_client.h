#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "broker/tls/key_material.h"
#include "broker/tls/openssl.h"

namespace partita::test {

/// The other end of a connection: OpenSSL as a client, over a socket that does not block.
class TlsClient {
  public:
    struct Wishes {
        /// The identity that the client shows; none when it is null.
        const tls::KeyEntry* key = nullptr;
        /// The authority that the client believes; any when it is null.
        X509* trusted = nullptr;
        int version_min = TLS1_2_VERSION;
        int version_max = TLS1_3_VERSION;
        const char* server_name = nullptr;
        SSL_SESSION* session = nullptr;
        const char* ciphers = nullptr;
    };

    TlsClient(int descriptor, const Wishes& wishes) : context_(SSL_CTX_new(TLS_client_method())) {
        SSL_CTX_set_security_level(context_.get(), wishes.version_min < TLS1_2_VERSION ? 0 : 1);
        SSL_CTX_set_min_proto_version(context_.get(), wishes.version_min);
        SSL_CTX_set_max_proto_version(context_.get(), wishes.version_max);
        if (wishes.ciphers != nullptr) {
            SSL_CTX_set_cipher_list(context_.get(), wishes.ciphers);
        }
        if (wishes.trusted != nullptr) {
            SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), wishes.trusted);
        }
        connection_.reset(SSL_new(context_.get()));
        if (wishes.key != nullptr) {
            SSL_use_certificate(connection_.get(), wishes.key->chain.front().get());
            SSL_use_PrivateKey(connection_.get(), wishes.key->key.get());
        }
        if (wishes.server_name != nullptr) {
            SSL_set_tlsext_host_name(connection_.get(), wishes.server_name);
        }
        if (wishes.session != nullptr) {
            SSL_set_session(connection_.get(), wishes.session);
        }
        SSL_set_fd(connection_.get(), descriptor);
        SSL_set_connect_state(connection_.get());
    }

    [[nodiscard]] SSL& connection() { return *connection_; }
    /// 1 when the handshake is complete, 0 when the other side has to go on, -1 when it has failed.
    [[nodiscard]] int go_on() {
        const int result = SSL_do_handshake(connection_.get());
        if (result == 1) {
            return 1;
        }
        const int error = SSL_get_error(connection_.get(), result);
        return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
    }
    /// Sends the hello and ignores what the other side answers, however quickly; false when it could not.
    [[nodiscard]] bool say_hello() {
        BIO* const nothing_came = BIO_new(BIO_s_mem());
        BIO_set_mem_eof_return(nothing_came, -1);
        SSL_set0_rbio(connection_.get(), nothing_came);
        const bool is_waiting = go_on() == 0;
        BIO* const socket = SSL_get_wbio(connection_.get());
        BIO_up_ref(socket);
        SSL_set0_rbio(connection_.get(), socket);
        return is_waiting;
    }
    /// Returns the bytes that came, `bytes_max` at most; empty when there are none.
    [[nodiscard]] std::string receive(std::size_t bytes_max = 65536) {
        std::string text(bytes_max, '\0');
        std::size_t count = 0;
        const int result = SSL_read_ex(connection_.get(), text.data(), text.size(), &count);
        if (result != 1) {
            is_over_ = SSL_get_error(connection_.get(), result) != SSL_ERROR_WANT_READ;
        }
        text.resize(result == 1 ? count : 0);
        return text;
    }
    /// Whether nothing more comes, as the last receive found.
    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] bool send(std::string_view text) {
        std::size_t count = 0;
        return SSL_write_ex(connection_.get(), text.data(), text.size(), &count) == 1 && count == text.size();
    }

  private:
    tls::ContextPointer context_;
    tls::ConnectionPointer connection_;
    bool is_over_ = false;
};

}  // namespace partita::test
