# The tools: how they are started, checked, rotated and ended.
# tool/SPEC holds one line: <state> <pid> <key> <until> <delay> <since> <reason...>; state is running, waiting, missing or idle
# (an optional program that is not installed: no trouble);
# until and since count seconds of this agent's own time (up_s), which no clock can set back.

# Sets t_state t_pid t_key t_until t_delay t_since t_reason.
read_tool() {
    t_state=waiting t_pid=0 t_key=- t_until=0 t_delay=1 t_since=0 t_reason=''
    [ ! -f "tool/$1" ] || read -r t_state t_pid t_key t_until t_delay t_since t_reason <"tool/$1"
    if ! is_count "$t_pid" || ! is_count "$t_until" || ! is_count "$t_delay" || ! is_count "$t_since"; then
        # A full disk may have left half of it.
        t_state=waiting t_pid=0 t_key=- t_until=0 t_delay=1 t_since=0 t_reason=''
    fi
}

write_tool() {
    printf '%s %s %s %s %s %s %s\n' "$t_state" "$t_pid" "$t_key" "$t_until" "$t_delay" "$t_since" "$t_reason" >"tool/$1" ||
        log "cannot write $spool/tool/$1"
}

# Records that SPEC does not run for REASON (state missing or idle), to be checked again in a minute.
hold_tool() {
    t_state=$2 t_pid=0 t_key=- t_until=$((up_s + 60)) t_reason=$3
    write_tool "$1"
}

# Reports that SPEC cannot run for REASON, once when that begins.
say_held() {
    log "$1: $2; checked again every minute"
    say_event tool "$1" "$1: $2; checked again every minute"
}

start_tool() {
    find_command "$1" || return 1
    case $command in
    'facts '* | 'watch '*) ;;
    'sample '*)
        if ! resolve_sample "$1" "$command" || ! find_sample_reader; then
            [ "$t_state" = missing ] || say_held "$1" "$sample_error"
            hold_tool "$1" missing "$sample_error"
            return 0
        fi
        ;;
    *)
        find_program "$command"
        if ! has "$program"; then
            case $command in
            \?*) hold_tool "$1" idle "optional: no program $program in $PATH" ;;
            *)
                [ "$t_state" = missing ] || say_held "$1" "program $program not found in $PATH"
                hold_tool "$1" missing "no program $program in $PATH"
                ;;
            esac
            return 0
        fi
        command=${command#\?}
        ;;
    esac
    case $t_state in
    missing | idle) t_reason='' ;;
    esac
    set_now
    n_streams=$((n_streams + 1))
    t_key=$1.$now.$$-$n_streams
    set_ack "$t_key" 0 0
    printf '%s\n' "$command" >"$t_key.cmd" || { log "cannot write $spool/$t_key.cmd" && return 1; }
    case $command in
    @*) run_loop "$command" "$t_key" & ;;
    'sample '*)
        if has_sampler "$1"; then
            # A cat that replaces an earlier one begins with a description of all processes.
            [ "$n_pipes" -eq 0 ] || kill -USR1 "$sampler_pid" 2>/dev/null
            n_pipes=$((n_pipes + 1))
            exec cat <&7 7<&- >>"$t_key.raw" 2>>"$t_key.err" &
        else
            run_sampler "$command" "$t_key" &
        fi
        ;;
    'facts '*) run_facts "${command#facts }" "$t_key" & ;;
    'watch '*) run_watch "${command#watch }" "$t_key" & ;;
    'query '*) run_query "$1" "$command" "$t_key" & ;;
    # exec, here and wherever something is started with &: the program replaces every shell that starts it, so that the
    # pid is its own and nothing is between it and its file. Some shells fork twice for a command with redirections.
    *) exec "$shell" -c "exec $command" </dev/null 7<&- >>"$t_key.raw" 2>>"$t_key.err" & ;;
    esac
    t_pid=$! t_state=running t_since=$up_s t_until=0
    case $command in
    'sample '*) t_until=$((up_s + 60)) ;;
    esac
    write_tool "$1"
    live="$live$t_key "
}

# Runs a command at an interval in seconds, printing the epoch before each run, until the agent is gone.
run_loop() {
    exec </dev/null 7<&- >>"$2.raw" 2>>"$2.err"
    rl_every=${1%% *}
    rl_every=${rl_every#@}
    rl_command=${1#* }
    # A date without %s is that of an old system: there a date and a sleep for each run cost more than a perl that stays does.
    if [ "$clock" = fields ] && [ -n "$perl" ]; then
        # shellcheck disable=SC2086  # they are words
        case $rl_command in
        *[!A-Za-z0-9\ /.:,_+-]*) exec perl "$work/normstat-agent-loop.pl" "$rl_every" $$ "$shell" -c "exec $rl_command" ;;
        *) exec perl "$work/normstat-agent-loop.pl" "$rl_every" $$ $rl_command ;;
        esac
    fi
    rl_child='' rl_begin='' rl_rest=$rl_every
    trap '[ -z "$rl_child" ] || kill "$rl_child" 2>/dev/null; exit 143' HUP INT TERM
    trap - 0
    while kill -0 $$ 2>/dev/null; do
        set_now
        # The call before took what its time and rest had beyond the rest: one date is enough. A clock that was set back, or a slow
        # command, must not make the loop wait for long or spin.
        if [ -n "$rl_begin" ]; then rl_rest=$((rl_every + rl_rest - (now - rl_begin))); fi
        [ "$rl_rest" -le "$rl_every" ] || rl_rest=$rl_every
        [ "$rl_rest" -gt 0 ] || rl_rest=1
        rl_begin=$now
        echo "$now"
        # Plain words need no shell of their own.
        # shellcheck disable=SC2086  # they are words
        case $rl_command in
        *[!A-Za-z0-9\ /.:,_+-]*) "$shell" -c "exec $rl_command" & ;;
        *) exec $rl_command & ;;
        esac
        rl_child=$!
        wait "$rl_child"
        sleep "$rl_rest" &
        rl_child=$!
        wait "$rl_child"
    done
}

# Ends the run of SPEC and closes its file.
stop_tool() {
    [ "$t_state" = running ] || return 0
    end_processes "$t_pid"
    close_stream "$t_key"
    live="${live%%" $t_key "*} ${live#*" $t_key "}"
    t_state=waiting t_pid=0
}

restart_tool() {
    read_tool "$1"
    stop_tool
    start_tool "$1"
}

# Checks every tool: start those due, restart those that ended, rotate files that have grown.
supervise() {
    for su_spec in $specs; do
        read_tool "$su_spec"
        if [ "$t_state" = running ]; then
            supervise_running "$su_spec"
        elif [ "$up_s" -ge "$t_until" ]; then
            start_tool "$su_spec"
        fi
    done
}

supervise_running() {
    if ! kill -0 "$t_pid" 2>/dev/null; then
        wait "$t_pid" 2>/dev/null
        tool_ended "$1" $?
        return 0
    fi
    # When a sampler is to be checked: 0 for tools.
    if [ "$t_until" -gt 0 ] && [ "$up_s" -ge "$t_until" ]; then check_sections "$1"; fi
    get_value "$live_sizes" "$t_key" 0
    if [ "$value" -ge "$max_file" ] || [ $((up_s - t_since)) -ge "$max_age" ]; then
        stop_tool
        start_tool "$1"
    fi
    get_value "$err_sizes" "$t_key" 0
    if [ "$value" -gt 65536 ]; then
        log "$1: dropped $value bytes of its standard error"
        : >"$t_key.err"
    fi
}

tool_ended() {
    close_stream "$t_key"
    live="${live%%" $t_key "*} ${live#*" $t_key "}"
    read_last_line "$t_key.err"
    if has_sampler "$1"; then lose_sampler; fi
    # A run that lasted a minute was a good one: restart at once.
    if [ $((up_s - t_since)) -ge 60 ]; then t_delay=1; fi
    te_how="with status $2"
    if [ "$2" -gt 128 ] && te_signal=$(kill -l "$2" 2>/dev/null); then te_how="by signal ${te_signal#SIG}"; fi
    t_reason="ended $te_how${last_line:+: $last_line}"
    log "$1: the tool $t_reason; restarting in $t_delay s"
    # Where the delay no longer grows, as with nvidia-smi on a host without a GPU, there is nothing new to say.
    [ "$t_delay" -ge 300 ] || say_event tool "$1" "$1 $t_reason; restarting in $t_delay s"
    t_state=waiting t_pid=0 t_until=$((up_s + t_delay))
    t_delay=$((t_delay * 2))
    [ "$t_delay" -le 300 ] || t_delay=300
    write_tool "$1"
}

# Ends tools that outlived a killed agent. They are found by their recorded pids, and ended only if the process is still that tool,
# as shown by its standard output (under /proc on Linux and Solaris) or, without /proc, by its command line.
end_orphans() {
    for eo_file in tool/*; do
        [ -f "$eo_file" ] || continue
        eo_spec=${eo_file#tool/}
        read_tool "$eo_spec"
        if [ "$t_state" = running ] && [ "$t_pid" -gt 1 ] && kill -0 "$t_pid" 2>/dev/null && is_our_tool "$t_pid" "$t_key"; then
            log "$eo_spec: ended process $t_pid that an earlier agent left behind"
            end_processes "$t_pid"
        fi
        [ "$t_state" != running ] || close_stream "$t_key"
        rm -f "$eo_file"
    done
}

is_our_tool() {
    for io_link in "/proc/$1/fd/1" "/proc/$1/path/1"; do
        [ -h "$io_link" ] || continue
        # shellcheck disable=SC2012  # not every host has readlink
        case $(ls -l "$io_link" 2>/dev/null) in
        *"/$2.raw" | *"/$2.raw (deleted)") return 0 ;;
        *) return 1 ;;
        esac
    done
    read_args "$1"
    IFS= read -r io_command <"$2.cmd" || return 1
    case $io_command in
    @*) io_command=normstat-agent ;;
    esac
    case $args in
    *"$io_command"*) return 0 ;;
    *) return 1 ;;
    esac
}
