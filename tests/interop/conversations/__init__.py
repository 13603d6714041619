"""Conversations with a broker on the wire, and their comparison with a real Apache Kafka. See ../README.md."""
