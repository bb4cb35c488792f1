#!/bin/sh
# Puts the agent together from its parts and writes it to standard output.
#
# Usage: build.sh [FOLDER]      (default: src beside this file)
# The parts FOLDER/NN-name.sh follow each other in the order of their numbers. A line NAME='@FILE@' becomes the text of FOLDER/FILE
# in single quotes, with each quote in it written as '\''. Directives for shellcheck are left out: they belong to the parts.
set -eu
LC_ALL=C
export LC_ALL
folder=${1:-${0%/*}/src}
for part in "$folder"/[0-9][0-9]-*.sh; do
    case $part in
    */00-*) ;;
    *) printf '\n# --- %s\n' "${part##*/}" ;;
    esac
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        *"='@"*"@'")
            file=${line##*"='@"}
            printf "%s='\n" "${line%"='@"*}"
            sed -e '/^ *# shellcheck /d' -e "s/'/'\\\\''/g" "$folder/${file%"@'"}"
            printf "'\n"
            ;;
        '# shellcheck '* | *'    # shellcheck '*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$part"
done
