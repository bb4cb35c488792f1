# The service: the commands run and collect, their loop, and how they end.

command_run() {
    part_sampler ${1+"$@"}
    require_server
    require_token
    enter_spool
    take_lock
    begin_agent
    find_machine
    probe_transport
    token_real=$(find_token_file 2>/dev/null) || token_real=''
    log "version $VERSION on $host ($os), spool $spool, sending to $server by $transport${proxy:+ and a proxy}; epoch by $clock," \
        "cutting by $reader, packing by $packer; tools:$specs"
    [ "$my_uid" != 0 ] || log "running as root, which most tools do not need"
    if is_in "$specs" proc_pid_linux; then [ -z "$io_note" ] || log "$io_note"; else io_note=''; fi
    write_state
    mode=ship
    while :; do
        one_turn
    done
}

# Writes the same files as run, without a server: for hosts without a network, to be imported later.
command_collect() {
    case ${1:-} in
    '' | -*) die_usage "collect needs a directory" ;;
    esac
    cc_dir=$1 cc_seconds=''
    shift
    case ${1:-} in
    [0-9]*)
        cc_seconds=$1
        require_number SECONDS "$cc_seconds"
        shift
        ;;
    esac
    read_options ${1+"$@"}
    spool=$(to_absolute "$cc_dir")
    enter_spool
    take_lock
    begin_agent
    set_now
    printf 'host=%s\nos=%s\nagent=%s\nstarted=%s\n' "$host" "$os" "$VERSION" "$now" >collect.info || die "cannot write to $spool"
    log "version $VERSION on $host ($os), collecting into $spool ${cc_seconds:+for $cc_seconds s}; tools:$specs"
    mode=collect
    while [ -z "$cc_seconds" ] || [ "$up_s" -lt "$cc_seconds" ]; do
        take_stock
        ! has_room || supervise
        [ "$spool_kb" -le "$spool_limit_kb" ] || die "$spool holds more than $spool_limit_kb KiB (--spool-limit): stopped here"
        rest=$interval
        [ -z "$cc_seconds" ] || [ $((cc_seconds - up_s)) -ge "$rest" ] || rest=$((cc_seconds - up_s))
        rest_a_while
    done
    exit_status=0
    exit 0
}

# Prepares run and collect: sets the initial state, probes the host, ends what an earlier agent left.
begin_agent() {
    exit_status=1 mode=begin time_limit=60 transfer_pid='' guard_pid='' sleep_pid=''
    specs='' live=' ' n_streams=0 up_s=0 next_try=0 backoff=0 is_tried=0 alone='' trouble='' stalls=' ' retry_after='' plan=''
    pace=$interval pace_live=- pace_cs=0 pace_n=0 used_cs=0 perl=''
    refused_kb=0 texts_pid='' texts_due=0 evidence_pid='' evidence_queue='' evidence_times='' evidence_n=0 n_pipes=0 full_text='' full_since=0
    block=0123456789abcdef
    while [ "${#block}" -lt 32768 ]; do block=$block$block; done
    trap 'clean_up' 0
    trap 'exit_status=0; exit 0' HUP INT TERM
    probe_userland
    mkdir -p tool || die "cannot write to $spool"
    read_state
    measure_refused
    read_stats
    read_seen_episodes
    end_orphans
    say_event tool agent "The agent $VERSION started"
    write_state
    reserve_room || log "no room in $spool for a reserve"
    guard &
    guard_pid=$!
}

# Makes one turn: tools, limit, shipping, rest. In the first seconds turns are a second apart, so that the first samples appear
# soon.
one_turn() {
    is_behind=0 ot_n=0
    take_stock
    ! has_room || supervise
    keep_limit
    if [ "$up_s" -ge "$next_try" ]; then
        while ship; do
            ot_n=$((ot_n + 1))
            [ "$ot_n" -lt "$MAX_REQUESTS" ] || break
            take_stock
        done
        [ "$ot_n" -lt "$MAX_REQUESTS" ] || is_behind=1
        [ -z "$is_rotation_asked" ] || [ "$up_s" -lt "$rotation_due" ] || rotate_token
    fi
    supervise_evidence
    supervise_texts
    if [ "$log_size" -gt 1048576 ]; then
        cp agent.log agent.log.1 && : >agent.log
    fi
    # Ready, for `start`: it has tried to send, or there was nothing to send yet.
    if [ "$is_tried" = 1 ] || [ "$up_s" -ge 3 ]; then
        [ -f lock/ready ] || : >lock/ready
    fi
    keep_pace "$ot_n"
    set_rest
    rest_a_while
}

# Sleeps rest seconds in the background, since a shell handles a signal only when it waits.
rest_a_while() {
    sleep "$rest" &
    sleep_pid=$!
    wait "$sleep_pid"
    sleep_pid=''
    up_s=$((up_s + rest))
}

# A second process that only waits for the end of the agent: if the agent is killed without a chance to clean up, its tools
# must not fill the disk forever.
guard() {
    exec 7<&-
    trap - 0
    trap '[ -z "$gu_sleep" ] || kill "$gu_sleep" 2>/dev/null; exit 0' HUP INT TERM
    gu_sleep=''
    while kill -0 $$ 2>/dev/null; do
        rest_at_pace 10
        sleep "$rest" &
        gu_sleep=$!
        wait "$gu_sleep"
    done
    gu_sleep=''
    # A new agent may already be running; it has ended the tools itself.
    gu_pid=''
    [ ! -f lock/pid ] || read -r gu_pid <lock/pid
    [ "$gu_pid" = $$ ] || exit 0
    log "the agent (pid $$) was killed: ending its tools"
    end_orphans
}

# Sends the output since the last turn, if the server is quick; otherwise it is sent after the next start. The files stay
# until then, so that the output of a run can be inspected.
last_shipment() {
    time_limit=2
    # A transfer was cut short: its server may be slow.
    [ -z "$transfer_pid" ] || time_limit=1
    take_stock
    set_now
    lp_end=$((now + 2))
    while ship && [ -z "$trouble" ]; do
        if [ "$now" -ge "$lp_end" ]; then
            log "no time to send the rest; it is sent after the next start"
            return 0
        fi
        take_stock
    done
}

clean_up() {
    trap '' HUP INT TERM
    trap - 0
    cu_pids=''
    [ -z "$transfer_pid" ] || cu_pids=$transfer_pid
    [ -z "$guard_pid" ] || cu_pids="$cu_pids $guard_pid"
    [ -z "$sleep_pid" ] || cu_pids="$cu_pids $sleep_pid"
    [ -z "$texts_pid" ] || cu_pids="$cu_pids $texts_pid"
    [ -z "$evidence_pid" ] || cu_pids="$cu_pids $evidence_pid"
    if [ -n "$sampler_pid" ] && is_sampler; then cu_pids="$cu_pids $sampler_pid"; fi
    for cu_spec in $specs; do
        read_tool "$cu_spec"
        [ "$t_state" != running ] || cu_pids="$cu_pids $t_pid"
    done
    [ -z "$cu_pids" ] || end_processes "$cu_pids"
    for cu_key in $live; do close_stream "$cu_key"; done
    case $mode in
    ship) last_shipment ;;
    collect)
        set_now
        printf 'ended=%s\n' "$now" >>collect.info
        rm -f agent.state
        ;;
    esac
    rm -rf tool lock
    exit "$exit_status"
}
