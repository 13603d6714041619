#!/bin/bash
# Redpanda's image is started through this, with the words of rpk.
exec /usr/bin/rpk "$@"
