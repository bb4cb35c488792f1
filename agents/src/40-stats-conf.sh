# stats.conf: the list of what this host records.

# Reads the stats file into lock/tools as validated lines. A bad line is reported, not silently skipped.
read_stats() {
    # Its commands are run.
    if ! follow_path "$stats" || [ ! -r "$stats" ]; then die "cannot read $stats, the list of tools to run"; fi
    specs=' ' n_bad_lines=0 rs_n=0
    : >"$work/tools" || die "cannot write $work/tools"
    : >"$work/watched" || die "cannot write $work/watched"
    : >"$work/evidence" || die "cannot write $work/evidence"
    while IFS= read -r rs_line || [ -n "$rs_line" ]; do
        rs_n=$((rs_n + 1))
        case $rs_line in
        '' | '#'*) continue ;;
        *"$TAB"*) ;;
        *) bad_line "no tab between name and command" && continue ;;
        esac
        rs_name=${rs_line%%"$TAB"*}
        rs_command=${rs_line#*"$TAB"}
        case $rs_name in
        '' | [!a-z]* | *[!a-z0-9_]*) bad_line "the name '$rs_name' may contain only a-z, 0-9 and _" && continue ;;
        esac
        if [ "$rs_name" = ask ]; then
            check_allowed "$rs_command" || bad_line "$allowed_error"
            continue
        fi
        if [ "$rs_name" = when ]; then
            check_when "$rs_command" || { bad_line "$when_error" && continue; }
            printf '%s\t%s\n' "${rs_command%%' '*}" "${rs_command#* }" >>"$work/evidence"
            continue
        fi
        if [ "$rs_name" = event ]; then
            check_event "$rs_command" || { bad_line "$event_error" && continue; }
            printf '%s\t%s\n' "${rs_command%% *}" "${rs_command#* }" >>"$work/watched"
            continue
        fi
        is_in "$specs" "$rs_name" && bad_line "$rs_name is listed twice" && continue
        case ${rs_command#\?} in
        '' | ' '*) bad_line "no command" && continue ;;
        sample | 'sample '*) check_sample "$rs_name" "$rs_command" || { bad_line "$sample_error" && continue; } ;;
        facts | 'facts '*) check_facts "$rs_name" "$rs_command" || { bad_line "$facts_error" && continue; } ;;
        query | 'query '*) check_query "$rs_name" "$rs_command" || { bad_line "$query_error" && continue; } ;;
        watch | 'watch '*) check_watch "$rs_name" "$rs_command" || { bad_line "$watch_error" && continue; } ;;
        @[1-9]*' '?*)
            rs_every=${rs_command%% *}
            case ${rs_every#*@} in
            *[!0-9]* | ??????*) bad_line "@ must be followed by a number of seconds" && continue ;;
            esac
            ;;
        @*) bad_line "write a loop as @SECONDS command" && continue ;;
        esac
        [ "${#rs_line}" -le 4000 ] || { bad_line "longer than 4000 characters" && continue; }
        # The frame's length is counted in the shell, where only ASCII has the same number of bytes everywhere.
        case $rs_command in
        *[!\ -~]*) bad_line "a command may contain only printable ASCII" && continue ;;
        esac
        specs="$specs$rs_name "
        printf '%s\t%s\n' "$rs_name" "$rs_command" >>"$work/tools"
    done <"$stats"
    if [ -s "$work/watched" ] && ! is_in "$specs" host_events; then
        specs="${specs}host_events "
        printf 'host_events\twatch 5\n' >>"$work/tools"
    fi
    [ "$specs" != ' ' ] || die "$stats lists no tools"
}

bad_line() {
    n_bad_lines=$((n_bad_lines + 1))
    log "$stats line $rs_n: $1"
}

# Sets command to what SPEC runs.
find_command() {
    while IFS="$TAB" read -r fc_name command; do
        [ "$fc_name" != "$1" ] || return 0
    done <"$work/tools"
    command=''
    return 1
}

# Sets program to what COMMAND of stats.conf runs.
find_program() {
    program=${1#\?}
    case $program in
    @*) program=${program#@* } ;;
    'query '*) program=${program#query * } ;;
    esac
    program=${program%% *}
}
