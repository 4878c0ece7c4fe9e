#!/bin/bash
# Prints the date of the release that CITATION.cff names, in seconds since 1970: the date of all packaged files.
date -u -d "$(sed -n 's/^date-released: *//p' "$(dirname "$0")/../CITATION.cff")" +%s
