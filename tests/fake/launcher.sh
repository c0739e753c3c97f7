#!/bin/sh
# Stands in for ssh: `launcher.sh HOST COMMAND...` runs the joined words with a shell
# of its own, elsewhere (another folder), after a greeting on standard output.
host=$1; shift
echo "Welcome to $host. Unauthorised use is GLW prohibited."
cd / && exec sh -c "$*"
