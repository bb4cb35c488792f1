# The spool: its files, the lock, and the state of the agent.
# The agent works inside the spool directory, which holds
#   KEY.raw      the tool's output, KEY = <spec>.<epoch>.<pid>-<n>; one stream, only ever appended to
#   KEY.cmd      the command that wrote it                 KEY.err      the tool's standard error
#   KEY.ack      how many of its bytes the server has, and since when
#   KEY.gap      "<end> <reason>": bytes from the acknowledged offset to <end> are lost; to be reported to the server
#   KEY.freed    how many acknowledged bytes at the beginning of KEY.raw are a hole, since the spool was full
#   tool/SPEC    the state of that spec's tool             lock/        the running agent: its pid and its scratch files
#   refused/     bytes that the server refused
#   artefacts/   texts of ask and put that the server does not have yet, see there
# The state of a stream is in its files, so that a thousand waiting streams cost no more than their files.

# Creates the spool if needed, and enters it if it belongs to this user alone. spool becomes its real path, where no other user can
# put a link.
enter_spool() {
    if ! follow_path "$spool"; then
        mkdir -p -- "$real" || die "cannot create the spool directory $spool"
        follow_path "$real" || die "cannot create the spool directory $spool"
    fi
    read_entry "$real" || die "cannot list the spool $real"
    case $e_uid:$e_mode in
    "$my_uid":d????[!w]??[!w]*) ;;
    "$my_uid":d*) die "others can write to the spool $real: check its contents, then chmod 700 $real" ;;
    *:d*) die "the spool $real belongs to uid $e_uid but this is uid $my_uid: run as that user, or use another (--spool)" ;;
    *) die "$real is not a directory" ;;
    esac
    cd -- "$real" || die "cannot enter the spool directory $real"
    # Left by an agent that was killed while it started.
    [ ! -p sampler.pipe ] || rm -f sampler.pipe
    spool=$real work=$real/lock
    # shellcheck disable=SC2012  # not every host has find, and names do not matter here
    ls -lnR . 2>/dev/null | check_listing || exit 1
}

# One agent per spool directory. A lock whose agent is gone is taken over.
take_lock() {
    tk_n=0
    while ! mkdir lock 2>/dev/null; do
        tk_n=$((tk_n + 1))
        [ "$tk_n" -le 5 ] || die "cannot create $spool/lock"
        tk_pid=''
        [ ! -f lock/pid ] || read -r tk_pid <lock/pid
        if is_agent "$tk_pid"; then
            printf 'normstat-agent: already runs on %s (pid %s)\n' "$spool" "$tk_pid" >&2
            exit 4
        fi
        # A lock may be seen between its mkdir and the writing of its pid: give it time.
        if [ -z "$tk_pid" ] && [ "$tk_n" -le 3 ]; then
            sleep 1
            continue
        fi
        # Only one of several agents can rename it. If another was faster, this is its new lock: put it back.
        rm -rf "lock.stale.$$"
        mv lock "lock.stale.$$" 2>/dev/null || continue
        tk_found=''
        [ ! -f "lock.stale.$$/pid" ] || read -r tk_found <"lock.stale.$$/pid"
        if [ "$tk_found" != "$tk_pid" ]; then
            mv "lock.stale.$$" lock
            continue
        fi
        rm -rf "lock.stale.$$"
    done
    printf '%s\n' $$ >lock/pid || die "cannot write $spool/lock/pid"
}

# Sets ack and acked_at: how much of stream KEY the server has, and since when (epoch).
get_ack() {
    ack=0 acked_at=0
    [ ! -f "$1.ack" ] || read -r ack acked_at <"$1.ack" || ack=''
    if ! is_count "$ack" || ! is_count "$acked_at"; then ack=0 acked_at=0; fi
}

# Sets gap_end and gap_reason: up to where bytes of stream KEY are lost, and why.
get_gap() {
    gap_end=0 gap_reason=''
    [ ! -f "$1.gap" ] || read -r gap_end gap_reason <"$1.gap" || gap_end=0
    is_count "$gap_end" || gap_end=0
}

# Sets freed: how many bytes of stream KEY take no space any more.
get_freed() {
    freed=0
    [ ! -f "$1.freed" ] || read -r freed <"$1.freed" || freed=0
    is_count "$freed" || freed=0
}

# Written in place and with a fixed length, so that it also works on a full file system, where only shipping makes room. A torn
# write does no harm: the server answers with the right offset and skips what it has.
set_ack() {
    # As printf '%15s %11s\n' would, which is a program in some shells.
    sa_ack="              $2" sa_at="          $3"
    echo "${sa_ack#"${sa_ack%???????????????}"} ${sa_at#"${sa_at%???????????}"}" 1<>"$1.ack" || log "cannot write $spool/$1.ack"
}

# Lists the spool for a turn: lock/streams has a line "<key> <size>" for each stream, 0 where only its gap is left. Sets spool_kb and
# log_size, and for the streams that tools write to, live_sizes and err_sizes. Many shells read a file byte by byte, so the long listing
# is read once.
take_stock() {
    live_sizes=' ' err_sizes=' ' spool_kb=$refused_kb log_size=0
    ls -ln . >"$work/stock" || return 1
    while read -r _a _a _a _a ts_size ts_rest; do
        ts_name=${ts_rest##* }
        case $ts_name in
        *.raw)
            echo "${ts_name%.raw} $ts_size"
            ! is_in "$live" "${ts_name%.raw}" || live_sizes="$live_sizes${ts_name%.raw}=$ts_size "
            ;;
        *.gap)
            [ -f "${ts_name%.gap}.raw" ] || echo "${ts_name%.gap} 0"
            continue
            ;;
        *.err) ! is_in "$live" "${ts_name%.err}" || err_sizes="$err_sizes${ts_name%.err}=$ts_size " ;;
        agent.log) log_size=$ts_size ;;
        *.freed)
            get_freed "${ts_name%.freed}"
            ts_size=-$freed
            ;;
        *) continue ;;
        esac
        spool_kb=$((spool_kb + (ts_size + 1023) / 1024))
    done <"$work/stock" >"$work/streams"
}

# Deletes the files of stream KEY, once the server has all of it or knows which bytes are lost.
forget_stream() {
    rm -f "$1.raw" "$1.cmd" "$1.err" "$1.ack" "$1.gap" "$1.freed" "$1.refused"
    drop_value "$stalls" "$1"
    stalls=$list
}

# Ends the file of stream KEY. A tool that was stopped in the middle of a line leaves bytes that look like a whole line with a short
# last number. They are sent, followed by words that no reader takes for a sample. Nothing else is ever added to the output of a
# tool.
close_stream() {
    [ -s "$1.err" ] || rm -f "$1.err"
    [ -s "$1.raw" ] || return 0
    read_size "$1.raw"
    cs_last=$(read_bytes "$1.raw" $((size - 1)) 1 | od -A n -t o1)
    case $cs_last in
    *012*) ;;
    *) printf '%s\n' "$CUT_OFF" >>"$1.raw" || log "cannot close $1.raw" ;;
    esac
}

count() {
    case $1 in
    dropped_bytes) n_dropped_bytes=$((n_dropped_bytes + $2)) ;;
    refused_bytes) n_refused_bytes=$((n_refused_bytes + $2)) ;;
    refused_chunks) n_refused_chunks=$((n_refused_chunks + $2)) ;;
    esac
    write_state
}

# Written under another name and renamed: `status` may read it at any moment, and a full disk must not cost the loss counts.
write_state() {
    last_ok_written=$last_ok
    cat >"$work/state" <<END && mv "$work/state" agent.state
server=$server
host=$host
last_ok=$last_ok
last_error=${full_text:-$last_error}
dropped_bytes=$n_dropped_bytes
refused_bytes=$n_refused_bytes
refused_chunks=$n_refused_chunks
bad_lines=$n_bad_lines
pace=$pace
io_note=$io_note
END
}

# Reads what write_state wrote. Counts of losses survive a restart, so that they are seen.
read_state() {
    last_ok=0 last_ok_written=0 last_error='' said_io_note='' n_dropped_bytes=0 n_refused_bytes=0 n_refused_chunks=0 n_bad_lines=0
    said_pace=0
    [ -f agent.state ] || return 0
    while IFS='=' read -r rd_name rd_value; do
        case $rd_name in
        last_error) last_error=$rd_value ;;
        io_note) said_io_note=$rd_value ;;
        server | host) : ;;
        *) is_count "$rd_value" || continue ;;
        esac
        case $rd_name in
        last_ok) last_ok=$rd_value ;;
        dropped_bytes) n_dropped_bytes=$rd_value ;;
        refused_bytes) n_refused_bytes=$rd_value ;;
        refused_chunks) n_refused_chunks=$rd_value ;;
        bad_lines) n_bad_lines=$rd_value ;;
        pace) said_pace=$rd_value ;;
        esac
    done <agent.state
}
