# Events on the host.
# `event<TAB>FILE PATTERN` in stats.conf: the lines of a log file that match an extended regular expression. `host_events<TAB>watch
# SECONDS` looks for them and for jumps of the clock; the supervisor adds tools that ended. A line of the stream: <epoch> TAB <epoch
# of the look before, or -> TAB <kind> TAB <file or tool> TAB <text>.

# Bytes of a log that one look searches. If more than the second number are waiting, all but the last part is skipped and reported.
readonly WATCH_BYTES=1048576 WATCH_BEHIND_BYTES=16777216
# Matches that one look prints; further ones are only counted.
readonly WATCH_LINES=20

# Sets watch_error and returns 1 if stats.conf may not have the line NAME COMMAND.
check_watch() {
    watch_error=''
    [ "$1" = host_events ] || watch_error="watch records host_events, not '$1'"
    case $2 in
    'watch '[1-9]*)
        case ${2#watch } in
        *[!0-9]* | ?????*) watch_error="watch must be followed by a number of seconds" ;;
        esac
        ;;
    *) watch_error="watch must be followed by a number of seconds" ;;
    esac
    [ -z "$watch_error" ]
}

# Sets event_error and returns 1 if stats.conf may not have the line event<TAB>$1.
check_event() {
    event_error=''
    case $1 in
    /*' '?*) ;;
    *) event_error="event must be followed by the path of a file, a blank and a pattern" ;;
    esac
    case $1 in
    *[!\ -~]*) event_error="an event may contain only printable ASCII" ;;
    esac
    [ -z "$event_error" ] || return 1
    find_matcher
    : | $matcher "${1#* }" >/dev/null 2>&1
    [ $? -le 1 ] || event_error="the pattern '${1#* }' is no extended regular expression"
    [ -z "$event_error" ]
}

# Sets matcher to a grep of extended regular expressions. A pattern that begins with a dash would be an option.
find_matcher() {
    if printf 'b\n' | grep -E 'a|b' >/dev/null 2>&1; then matcher='grep -E'; else matcher=egrep; fi
}

# Records an event of the agent: KIND ORIGIN TEXT. The watcher prints it at its look after next.
say_event() {
    is_in "$specs" host_events || return 0
    set_now
    printf '%s\t-\t%s\t%s\t%s\n' "$now" "$1" "$2" "$3" >>"$work/said"
}

# Looks for events every SECONDS, until the agent is gone.
run_watch() {
    exec </dev/null 7<&- >>"$2.raw" 2>>"$2.err"
    rw_seen=- rw_child='' rw_trouble='' rw_up='' rest=$1
    find_matcher
    trap '[ -z "$rw_child" ] || kill "$rw_child" 2>/dev/null; exit 143' HUP INT TERM
    trap - 0
    while kill -0 $$ 2>/dev/null; do
        set_now
        find_jump "$rest"
        # Events recorded before the first look are complete.
        [ "$rw_seen" != - ] || print_said
        print_said
        rw_n=0
        while IFS="$TAB" read -r rw_file rw_pattern; do
            rw_n=$((rw_n + 1))
            watch_file "$rw_file" "$rw_pattern" "$work/watch.$rw_n"
        done <"$work/watched"
        rw_seen=$now
        rest_at_pace "$1"
        sleep "$rest" &
        rw_child=$!
        wait "$rw_child"
    done
}

# Prints an event if the clock jumped in the SECONDS since the last look. Where the kernel shows its uptime, the clock is compared
# with it; elsewhere a long jump forward may also be a host that stood still.
find_jump() {
    fj_up='' fj_expected=$1 fj_most=30 fj_doubt=', or the host stood still'
    if [ -r /proc/uptime ] && read -r fj_up _a </proc/uptime; then fj_up=${fj_up%%.*}; fi
    is_count "$fj_up" || fj_up=''
    if [ -n "$fj_up" ] && [ -n "$rw_up" ]; then fj_expected=$((fj_up - rw_up)) fj_most=3 fj_doubt=''; fi
    rw_up=$fj_up
    if [ "$rw_seen" = - ]; then return 0; fi
    fj_by=$((now - rw_seen - fj_expected))
    if [ "$fj_by" -gt "$fj_most" ]; then
        printf '%s\t%s\tclock\t\tThe clock was set forward by %s s%s\n' "$now" "$rw_seen" "$fj_by" "$fj_doubt"
    elif [ "$fj_by" -lt -3 ]; then
        printf '%s\t-\tclock\t\tThe clock was set back by %s s\n' "$now" "$((0 - fj_by))"
        # By this clock no time passed between the two looks.
        rw_seen=-
    fi
}

# Prints the agent's events. One that is recorded while the file is moved is printed a look later.
print_said() {
    if [ -f "$work/said.last" ]; then
        cat "$work/said.last"
        rm -f "$work/said.last"
    fi
    [ ! -s "$work/said" ] || mv "$work/said" "$work/said.last"
}

# Sets f_inode (- if there is no such file that may be read) and f_size of FILE.
find_file() {
    f_inode=- f_size=0
    if ! [ -f "$1" ] || ! [ -r "$1" ]; then return 1; fi
    # Root must not read what another user's link leads to.
    if [ "$my_uid" = 0 ] && [ -h "$1" ]; then return 1; fi
    # shellcheck disable=SC2012  # not every host has stat
    ff_list=$(ls -lniL "$1" 2>/dev/null)
    # shellcheck disable=SC2086  # its fields
    set -- $ff_list
    [ $# -ge 6 ] || return 1
    # Some shells compute with 32 bits.
    if ! is_count "$1" || ! is_count "$6" || [ "$(($6))" != "$6" ]; then return 1; fi
    f_inode=$1 f_size=$6
}

# Prints the new lines of FILE that match PATTERN. STATE is a file that keeps how far it was searched. A file that exists when the
# agent starts is searched from its end on, one that appears later from its beginning. After a rotation by renaming, the rest of the
# old file is searched as FILE.1 or FILE.0; after one by copying, the file is shorter than before.
watch_file() {
    wf_inode=new wf_at=0
    [ ! -f "$3" ] || read -r wf_inode wf_at <"$3"
    is_count "$wf_at" || wf_inode=new
    find_file "$1"
    if [ "$f_inode" = - ]; then
        if [ -e "$1" ]; then
            [ "$rw_trouble" = "$1" ] || printf '%s\n' "$1 cannot be watched: it cannot be read, is not a file, or (for root) is a link" >&2
            rw_trouble=$1
        fi
        # At the first look: all that is written from now on is new.
        [ "$wf_inode" != new ] || printf '%s 0\n' none >"$3"
        return 0
    fi
    wf_new=$f_inode wf_size=$f_size
    case $wf_inode in
    new) wf_at=$wf_size ;;
    none) wf_at=0 ;;
    "$wf_new") [ "$wf_size" -ge "$wf_at" ] || wf_at=0 ;;
    *)
        for wf_end in 1 0; do
            find_file "$1.$wf_end"
            [ "$f_inode" = "$wf_inode" ] || continue
            wf_rest=$f_size wf_before=-1
            while [ "$wf_rest" -gt "$wf_at" ] && [ "$wf_at" -ne "$wf_before" ]; do
                wf_before=$wf_at
                search_log "$1.$wf_end" "$wf_rest" "$2" "$1"
            done
            break
        done
        wf_at=0
        ;;
    esac
    if [ "$wf_size" -gt "$wf_at" ]; then search_log "$1" "$wf_size" "$2" "$1"; fi
    printf '%s %s\n' "$wf_new" "$wf_at" >"$3"
}

# Searches FILE for PATTERN from wf_at to at most SIZE, and moves wf_at to the end of the last whole line. NAMED is its name in
# stats.conf.
search_log() {
    sl_n=$(($2 - wf_at))
    if [ "$sl_n" -gt "$WATCH_BEHIND_BYTES" ]; then
        printf '%s\t%s\ttool\t%s\t%s grew too fast: %s bytes were not searched\n' "$now" "$rw_seen" "$4" "$4" "$((sl_n - WATCH_BYTES))"
        wf_at=$(($2 - WATCH_BYTES)) sl_n=$WATCH_BYTES
    fi
    [ "$sl_n" -le "$WATCH_BYTES" ] || sl_n=$WATCH_BYTES
    read_bytes "$1" "$wf_at" "$sl_n" >"$work/watch.all"
    find_file "$work/watch.all"
    [ "$f_size" -gt 0 ] || return 0
    sl_n=$f_size
    read_bytes "$work/watch.all" "$((sl_n - 1))" 1 >"$work/watch.part"
    if ! read -r _a <"$work/watch.part"; then
        tail -1 "$work/watch.all" >"$work/watch.part"
        find_file "$work/watch.part"
        if [ "$f_size" -lt "$sl_n" ]; then
            sl_n=$((sl_n - f_size))
            read_bytes "$work/watch.all" 0 "$sl_n" >"$work/watch.part" && mv "$work/watch.part" "$work/watch.all"
        elif [ "$sl_n" -lt "$WATCH_BYTES" ]; then
            # Its only line is incomplete.
            return 0
        fi
    fi
    wf_at=$((wf_at + sl_n))
    # GNU grep would take a file with a NUL for binary.
    tr -d '\000' <"$work/watch.all" | $matcher "$3" >"$work/watch.hits"
    sl_hits=0
    while IFS= read -r sl_line || [ -n "$sl_line" ]; do
        sl_hits=$((sl_hits + 1))
        [ "$sl_hits" -gt "$WATCH_LINES" ] || printf '%s\t%s\tlog\t%s\t%s\n' "$now" "$rw_seen" "$4" "$sl_line"
    done <"$work/watch.hits"
    if [ "$sl_hits" -gt "$WATCH_LINES" ]; then
        printf '%s\t%s\tlog\t%s\t%s more lines of %s match\n' "$now" "$rw_seen" "$4" "$((sl_hits - WATCH_LINES))" "$4"
    fi
}
