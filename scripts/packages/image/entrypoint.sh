#!/bin/bash
# Starters of Redpanda's image run this script with the arguments of rpk.
exec /usr/bin/rpk "$@"
