#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace partita::net {

/// A connected socket that belongs to one reactor's loop. Unlike tcp::socket it does not carry an executor of any kind, and
/// neither does what waits for it: 0.1 KB of each idle connection.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

}  // namespace partita::net
