#!/bin/sh
# manual.sh - prints the manual page of the agent, normstat-agent.1: the head of its script, in roff.
#
# Usage:  manual.sh SCRIPT        The page is dated where SOURCE_DATE_EPOCH gives a date, so that two builds are the same.
set -eu
LC_ALL=C
export LC_ALL
version=$(sed -n 's/^readonly VERSION=//p' "$1")
day=''
[ -z "${SOURCE_DATE_EPOCH:-}" ] || day=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
cat <<END
.TH "NORMSTAT\\-AGENT" 1 "$day" "normstat $version" "normstat"
.SH NAME
normstat\\-agent \\- ship the raw output of the tools of a host to normstat
.SH DESCRIPTION
.nf
END
# The first comment, from its third line on: the second one is the name. roff reads \ and - anywhere, and . and ' at the beginning of a line.
sed -e '1,3d' -e '/^#/!q' -e 's/^# \{0,1\}//' -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/'/\\\\(aq/g" -e 's/`/\\(ga/g' -e 's/^\./\\\&./' "$1" |
    sed -e '$d'
printf '.fi\n.SH SEE ALSO\n.BR normstat (1)\n'
