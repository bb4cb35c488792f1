# Facts about the host.
# `facts SECONDS` in stats.conf: what the host is, one line of NAME<TAB>VALUE for each fact, `mount FOLDER` for mounted file
# systems, repeated lines for processors of other models. A fact that this system does not report is left out. A value must not
# change unless the host did.

# A change is seen within this many seconds; a look costs a few milliseconds on Linux.
facts_look=300

# Sets facts_error and returns 1 if stats.conf may not have the line NAME COMMAND.
check_facts() {
    facts_error=''
    [ "$1" = host_facts ] || facts_error="facts records host_facts, not '$1'"
    case $2 in
    '?'*) facts_error="facts needs no program, so no ? before it" ;;
    'facts '[1-9]*)
        case ${2#facts } in
        *[!0-9]* | ??????*) facts_error="facts must be followed by a number of seconds" ;;
        esac
        ;;
    *) facts_error="facts must be followed by a number of seconds" ;;
    esac
    [ -z "$facts_error" ]
}

# Prints the epoch and all facts every SECONDS, and as soon as a look shows that one has changed, until the agent is gone. Changed
# facts follow those of the look before, which shows that the change came between the two.
run_facts() {
    exec </dev/null 7<&- >>"$2.raw" 2>>"$2.err"
    rf_look=$1 rf_text='' rf_seen=0 rf_printed=0 rf_child=''
    [ "$rf_look" -le "$facts_look" ] || rf_look=$facts_look
    trap '[ -z "$rf_child" ] || kill "$rf_child" 2>/dev/null; exit 143' HUP INT TERM
    trap - 0
    while kill -0 $$ 2>/dev/null; do
        set_now
        rf_before=$rf_text
        rf_text=$(print_facts)
        if [ "$rf_text" != "$rf_before" ]; then
            [ "$rf_seen" -le "$rf_printed" ] || printf '%s\n' "$rf_seen" "$rf_before"
            rf_printed=0
        fi
        # The second condition: the clock was set back.
        if [ "$now" -ge "$((rf_printed + $1))" ] || [ "$now" -lt "$rf_printed" ]; then
            printf '%s\n' "$now" "$rf_text"
            rf_printed=$now
        fi
        rf_seen=$now
        sleep "$rf_look" &
        rf_child=$!
        wait "$rf_child"
    done
}

# Prints NAME and VALUE, if there is a value.
print_fact() {
    [ -z "$2" ] || printf '%s\t%s\n' "$1" "$2"
}

# Prints fact NAME with the first line of FILE, if it can be read.
print_file_fact() {
    ! read_first "$2" || print_fact "$1" "$first_line"
}

print_facts() {
    pf_value=$(uname -s)
    print_fact os "$pf_value"
    pf_value=$(uname -r)
    print_fact kernel_release "$pf_value"
    pf_value=$(uname -v)
    print_fact kernel_version "$pf_value"
    pf_value=$(uname -m)
    print_fact machine "$pf_value"
    if [ -r /proc/meminfo ]; then
        print_linux_facts
    else
        print_solaris_facts
    fi
    print_time_zone
    print_tool_facts
    # Always the last: a list without it was cut off. Another version of the agent reports other facts, whose first value is no
    # change.
    print_fact agent "$VERSION"
}

# Prints which tracing tools are installed, and how many probes there are: counted once, as the list is long.
print_tool_facts() {
    pt_tools=''
    for pt_tool in bpftrace dtrace intrstat jstack lockstat mcelog mdb operf perf plockstat pstack stap strace trace-cmd trapstat truss; do
        ! has "$pt_tool" || pt_tools="$pt_tools $pt_tool"
    done
    # The word tells a host without any from one whose agent does not look.
    pt_tools=${pt_tools# }
    print_fact tools "${pt_tools:-none}"
    if [ ! -f "$work/probes" ]; then
        if has dtrace; then
            # Below a line of headings.
            dtrace -l 2>/dev/null | {
                read -r _a && wc -l
            } >"$work/probes" 2>/dev/null
        else
            { wc -l </sys/kernel/tracing/available_events; } >"$work/probes" 2>/dev/null
        fi
    fi
    read_first "$work/probes" || return 0
    pt_count=${first_line##* }
    ! is_count "$pt_count" || [ "$pt_count" -eq 0 ] || print_fact probes "$pt_count"
}

# Prints fact jvm_flags with a JVM's performance flags, under its class or archive. Standard input: its arguments, one a line.
print_jvm() {
    pj_flags='' pj_name='' pj_skip=''
    while IFS= read -r pj_word; do
        case $pj_skip$pj_word in
        skip*) pj_skip='' ;;
        -X* | -server | -client | -d64 | -d32) pj_flags="$pj_flags $pj_word" ;;
        -cp | -classpath | --class-path | -p | --module-path | --add-modules) pj_skip=skip ;;
        -jar | -m | --module) ;;
        # Other options may hold a password.
        -*) ;;
        *) pj_name=${pj_word##*/} && break ;;
        esac
    done
    case $pj_name in
    '' | *[!A-Za-z0-9._$-]*) ;;
    *) print_fact "jvm_flags $pj_name" "${pj_flags# }" ;;
    esac
}
