#!/bin/sh
# Writes C source holding each named file as bytes: embed_files[] of {name, data, size}.
echo '#include <stddef.h>'
echo '#include "engine/session/embed.h"'
i=0
for f in "$@"; do
    echo "static const unsigned char data$i[] = {"
    od -An -v -tu1 "$f" | sed 's/  */,/g; s/^,//; s/$/,/'
    echo "0};"
    i=$((i + 1))
done
echo 'const struct embed_file embed_files[] = {'
i=0
for f in "$@"; do
    n=$(basename "$f" .json)
    echo "    { \"$n\", data$i, sizeof(data$i) - 1 },"
    i=$((i + 1))
done
echo '    { NULL, NULL, 0 } };'
