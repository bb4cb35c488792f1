# The commands status and check.

command_status() {
    enter_spool
    probe_scratch
    probe_clock
    set_now
    read_state
    live=' '
    measure_refused
    take_stock || die "cannot list $spool"
    find_last_ok
    cu_status=0 cu_pid=''
    [ ! -f lock/pid ] || read -r cu_pid <lock/pid
    if is_agent "$cu_pid"; then
        printf 'agent    runs, pid %s, version %s\n' "$cu_pid" "$VERSION"
        [ -z "$last_error" ] && [ "$n_bad_lines" -eq 0 ] || cu_status=1
    else
        printf 'agent    does not run\n'
        cu_status=3
    fi
    printf 'server   %s, host %s, last answer %s\n' "${server:-none named}" "$host" "$(print_age "$last_ok")"
    [ "$said_pace" -le "$interval" ] || printf 'pace     sends every %s s: more often would take over a hundredth of this CPU\n' "$said_pace"
    [ -z "$last_error" ] || printf 'trouble  %s\n' "$last_error"
    [ -z "$said_io_note" ] || printf 'process  %s\n' "$said_io_note"
    printf 'spool    %s, %s of %s KiB\n' "$spool" "$spool_kb" "$spool_limit_kb"
    [ "$n_dropped_bytes" -eq 0 ] || printf 'dropped  %s bytes because the spool was full\n' "$n_dropped_bytes"
    if [ "$n_refused_chunks" -gt 0 ]; then
        printf 'refused  %s chunks, %s bytes; kept in %s/refused\n' "$n_refused_chunks" "$n_refused_bytes" "$spool"
        if [ -d refused ] && [ "$cu_status" -eq 0 ]; then cu_status=1; fi
    fi
    print_texts
    [ "$n_bad_lines" -eq 0 ] || printf 'stats    %s lines of %s were not understood, see the log\n' "$n_bad_lines" "$stats"
    print_tools
    print_streams
    exit "$cu_status"
}

# Sets last_ok to when the server last took bytes of a stream, if that is later.
find_last_ok() {
    for fl_file in *.ack; do
        get_ack "${fl_file%.ack}"
        [ "$acked_at" -le "$last_ok" ] || last_ok=$acked_at
    done
}

# The state of every tool, and the last line of its standard error.
print_tools() {
    printf '\n%-18s %-8s %8s  %s\n' TOOL STATE PID NOTE
    for pt_file in tool/*; do
        [ -f "$pt_file" ] || continue
        read_tool "${pt_file#tool/}"
        pt_note=$t_reason
        if [ "$t_state" = running ]; then
            read_last_line "$t_key.err"
            pt_note="${t_reason:+the previous run $t_reason; }${last_line:+standard error: $last_line}"
        elif [ "$cu_status" -eq 0 ] && [ "$t_state" != idle ]; then
            cu_status=1
        fi
        printf '%-18s %-8s %8s  %s\n' "${pt_file#tool/}" "$t_state" "$t_pid" "$pt_note"
    done
}

print_streams() {
    printf '\n%-44s %12s %12s  %s\n' STREAM 'IN SPOOL' ACKNOWLEDGED 'LAST SENT'
    while read -r ps_key ps_size; do
        get_ack "$ps_key"
        ps_note=''
        if [ -f "$ps_key.gap" ]; then
            get_gap "$ps_key"
            ps_note=", gap: $gap_reason"
        fi
        [ ! -f "$ps_key.refused" ] || ps_note="$ps_note, refused: no longer sent"
        printf '%-44s %12s %12s  %s%s\n' "$ps_key" "$ps_size" "$ack" "$(print_age "$acked_at")" "$ps_note"
    done <"$work/streams"
}

print_age() {
    if [ "$1" -eq 0 ]; then
        printf 'never\n'
    else
        printf '%s s ago\n' "$((now - $1))"
    fi
}

command_check() {
    ck_status=0
    probe_scratch
    probe_userland
    printf 'host     %s (%s), version %s\n' "$host" "$os" "$VERSION"
    printf 'uses     epoch by %s, cutting by %s, packing by %s\n' "$clock" "$reader" "$packer"
    read_stats
    [ "$n_bad_lines" -eq 0 ] || ck_status=1
    while IFS="$TAB" read -r ck_name ck_command; do
        check_tool
    done <"$work/tools"
    check_evidence
    check_server
    exit "$ck_status"
}

# Prints whether the tool ck_name with ck_command can run here.
check_tool() {
    case $ck_command in
    'facts '* | 'watch '*)
        printf 'tool     %s: %s (built in)\n' "$ck_name" "$ck_command"
        return 0
        ;;
    'sample '*)
        if resolve_sample "$ck_name" "$ck_command" && find_sample_reader; then
            printf 'tool     %s: %s (built in, by %s and %s)\n' "$ck_name" "$command" "${sample_shell##*/}" "$sample_reader"
        else
            printf 'tool     %s: MISSING: %s\n' "$ck_name" "$sample_error"
            ck_status=1
        fi
        return 0
        ;;
    esac
    find_program "$ck_command"
    if ck_path=$(command -v "$program" 2>/dev/null); then
        printf 'tool     %s: %s (%s)\n' "$ck_name" "${ck_command#\?}" "$ck_path"
        return 0
    fi
    case $ck_command in
    \?*) printf 'tool     %s: not installed (optional): no program %s in %s\n' "$ck_name" "$program" "$PATH" ;;
    *)
        printf 'tool     %s: MISSING: no program %s in %s\n' "$ck_name" "$program" "$PATH"
        ck_status=1
        ;;
    esac
}

# A request without frames changes nothing; the answer shows whether server, token and host fit together.
check_server() {
    require_server
    require_token
    probe_transport
    plan='' transfer_pid='' time_limit=20 refused_kb=0
    send_nothing
    read_answer_line
    case $http_code in
    200) printf 'server   %s answers by %s; the token is good\n' "$server" "$transport" ;;
    400) printf 'server   %s answers by %s\n' "$server" "$transport" ;;
    000) printf 'server   %s CANNOT BE REACHED by %s: %s\n' "$server" "$transport" "$transfer_text" ;;
    401 | 403) printf 'server   %s REFUSES THE TOKEN for host %s: %s %s\n' "$server" "$host" "$http_code" "$answer_line" ;;
    *) printf 'server   %s answered %s: %s\n' "$server" "$http_code" "$answer_line" ;;
    esac
    case $http_code in
    200 | 400) ;;
    *) ck_status=1 ;;
    esac
}
