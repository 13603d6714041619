#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace partita::net {

/// A connected socket that belongs to one reactor's loop. Unlike tcp::socket, it names the type of its executor. So neither the
/// socket nor the operations that wait for it store an executor of any type. This saves 0.1 KB per idle connection.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

}  // namespace partita::net
