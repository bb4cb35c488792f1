# Limits of the spool: what is dropped when it reaches --spool-limit, and what happens when its file system is full.

# Makes room in a full spool: first refused bytes, whose loss the server knows, then acknowledged bytes, and only then whole files,
# the oldest first. A gap reports the lost bytes to the server.
keep_limit() {
    [ "$spool_kb" -gt "$spool_limit_kb" ] || return 0
    [ "$refused_kb" -eq 0 ] || drop_refused
    sort -t. -k2,2n -k3,3n <"$work/streams" >"$work/oldest"
    while [ "$spool_kb" -gt "$spool_limit_kb" ] && read -r kl_key kl_size; do
        is_in "$live" "$kl_key" || free_head "$kl_key" "$kl_size"
    done <"$work/oldest"
    # The beginning of a file that a tool still writes to cannot be freed: end the run with the most acknowledged bytes.
    while [ "$spool_kb" -gt "$spool_limit_kb" ] && find_acknowledged; do
        end_run "$kl_key"
        free_head "$kl_key" "$size" || break
    done
    while [ "$spool_kb" -gt "$spool_limit_kb" ] && read -r kl_key _a; do
        if is_in "$live" "$kl_key" || [ ! -f "$kl_key.raw" ]; then continue; fi
        # The listing may be older than the last lines of a tool that has been ended since.
        read_size "$kl_key.raw"
        drop_stream "$kl_key" "$size"
    done <"$work/oldest"
    # Only files that tools write to are left: end the largest run and drop it too.
    while [ "$spool_kb" -gt "$spool_limit_kb" ]; do
        kl_most=0 kl_key=''
        for kl_item in $live_sizes; do
            if [ "${kl_item#*=}" -gt "$kl_most" ]; then kl_most=${kl_item#*=} kl_key=${kl_item%=*}; fi
        done
        [ -n "$kl_key" ] || return 0
        end_run "$kl_key"
        drop_stream "$kl_key" "$size"
    done
}

# Frees the acknowledged bytes of a stream of SIZE bytes that no tool writes to: a copy with a hole there replaces the file, so
# offsets stay the same.
free_head() {
    get_ack "$1"
    get_freed "$1"
    [ $((ack - freed)) -ge "$MIN_FREED" ] && [ "$ack" -le "$2" ] || return 1
    fr_blocks=$((ack / 4096))
    # The copy may have no room, or end early.
    if dd if="$1.raw" of="$work/head" bs=4096 skip="$fr_blocks" seek="$fr_blocks" 2>/dev/null && is_size "$work/head" "$2" &&
        mv -f "$work/head" "$1.raw"; then
        printf '%s\n' $((fr_blocks * 4096)) >"$1.freed" || return 1
        spool_kb=$((spool_kb - (fr_blocks * 4096 - freed) / 1024))
        log "spool limit of $spool_limit_kb KiB reached: freed $((fr_blocks * 4096 - freed)) bytes of $1 that the server has"
        return 0
    fi
    rm -f "$work/head"
    return 1
}

# Sets kl_key to the running tool's stream with the most acknowledged bytes. Returns 1 if none is worth freeing.
find_acknowledged() {
    kl_most=$MIN_FREED kl_key=''
    for kl_item in $live_sizes; do
        get_ack "${kl_item%=*}"
        if [ "$ack" -ge "$kl_most" ]; then kl_most=$ack kl_key=${kl_item%=*}; fi
    done
    [ -n "$kl_key" ]
}

# Restarts the tool of stream KEY with a new file. Sets size to the length of the old one.
end_run() {
    drop_value "$live_sizes" "$1"
    live_sizes=$list
    restart_tool "${1%%.*}"
    read_size "$1.raw"
}

# Sets refused_kb, and leaves the listing in lock/refused.
measure_refused() {
    refused_kb=0
    [ -d refused ] || return 0
    ls -ln refused >"$work/refused" || return 1
    while read -r _a _a _a _a mr_size mr_rest; do
        [ -z "$mr_rest" ] || refused_kb=$((refused_kb + (mr_size + 1023) / 1024))
    done <"$work/refused"
}

# Deletes refused bytes, the oldest first, until a sixteenth of the spool is free, so that this does not happen every turn.
drop_refused() {
    measure_refused || return 1
    dr_kb=$((spool_kb - spool_limit_kb + spool_limit_kb / 16)) dr_n=0
    while read -r _a _a _a _a dr_size dr_rest; do
        [ -z "$dr_rest" ] || printf '%s %s\n' "${dr_rest##* }" "$dr_size"
    done <"$work/refused" | sort -t. -k2,2n -k3,3n >"$work/oldest"
    while [ "$dr_kb" -gt 0 ] && read -r dr_name dr_size; do
        rm -f "refused/$dr_name"
        dr_size=$(((dr_size + 1023) / 1024)) dr_n=$((dr_n + 1))
        dr_kb=$((dr_kb - dr_size)) refused_kb=$((refused_kb - dr_size)) spool_kb=$((spool_kb - dr_size))
    done <"$work/oldest"
    log "spool limit of $spool_limit_kb KiB reached: deleted $dr_n files of refused bytes"
}

# Drops the bytes of stream KEY, of SIZE bytes, that the server does not have.
drop_stream() {
    get_ack "$1"
    get_freed "$1"
    ds_lost=$(($2 - ack))
    if [ "$ds_lost" -gt 0 ]; then
        printf '%s spool limit of %s KiB reached\n' "$2" "$spool_limit_kb" >"$1.gap" || return 1
        log "spool limit of $spool_limit_kb KiB reached: gave up $ds_lost bytes of $1"
        count dropped_bytes "$ds_lost"
        rm -f "$1.raw" "$1.err" "$1.freed"
    else
        forget_stream "$1"
    fi
    spool_kb=$((spool_kb - ($2 - freed + 1023) / 1024))
}

add_refused() {
    refused_kb=$((refused_kb + ($1 + 1023) / 1024))
}

# Returns whether the file system of the spool has room for output. On a full one most tools carry on and lose lines, some in the
# middle of one. So their runs end before that, and start again when there is room for everything that the agent itself writes.
has_room() {
    if echo "$block" 2>/dev/null >"$work/room" && { [ -z "$full_text" ] || reserve_room; }; then
        : >"$work/room"
        [ -z "$full_text" ] || find_room
        return 0
    fi
    rm -f "$work/room"
    [ -n "$full_text" ] || lose_room
    return 1
}

# Keeps room on the file system for closing the streams and for sending them when nothing else is left.
reserve_room() {
    rr_n=0
    while [ "$rr_n" -lt 8 ]; do
        echo "$block" 2>/dev/null || return 1
        rr_n=$((rr_n + 1))
    done >"$work/reserve"
}

lose_room() {
    rm -f "$work/reserve"
    full_text="the file system of $spool is full: no tool runs until there is room"
    set_now
    full_since=$now
    log "$full_text"
    for lo_spec in $specs; do
        read_tool "$lo_spec"
        [ "$t_state" = running ] || continue
        lo_key=$t_key
        stop_tool
        t_until=0 t_reason='the file system of the spool is full'
        write_tool "$lo_spec"
        # How much the tool could not write is unknown: at least a byte.
        if [ "$mode" = ship ] && read_size "$lo_key.raw" && [ "$size" -gt 0 ]; then
            printf '%s the file system of the spool was full: how much was lost is unknown\n' $((size + 1)) >"$lo_key.gap"
        fi
    done
    write_state
}

find_room() {
    full_text=''
    set_now
    fo_text="The file system of the spool was full for $((now - full_since)) s: no tool ran"
    log "$fo_text"
    say_event tool spool "$fo_text"
    write_state
}
