# Shipping: the request with waiting bytes, and the server's answer to it.

# Sends one request with waiting bytes. Returns 0 if there is more to send at once.
ship() {
    plan_request
    if [ -z "$plan" ]; then
        [ -n "$alone" ]
        return $?
    fi
    if [ -n "$perl" ]; then
        list_frames
    else
        write_request || return 1
        set_now
    fi
    asked_s=''
    send_request
    case $http_code in
    200) take_acks ;;
    401)
        keep_for_later
        try_other_token
        return 1
        ;;
    413) shrink_or_refuse ;;
    400 | 409 | 41[0-24-9] | 42[0-8] | 43? | 44? | 45?) refuse ;;
    *) keep_for_later ;;
    esac
}

# Sets plan, a list of kind/key/offset/length, so that every stream gets a fair share of one request, and plan_full if
# a stream had to leave something for the next.
plan_request() {
    plan='' plan_full=0 pl_waiting='' pl_n=0
    if [ -n "$alone" ]; then
        # After a refusal: one stream per request, until each has been tried.
        pl_key=${alone# }
        pl_key=${pl_key%% *}
        alone=${alone#" $pl_key"}
        [ "$alone" != ' ' ] || alone=''
        read_size "$pl_key.raw"
        plan_stream "$pl_key" "$size"
    else
        plan_streams
    fi
    pl_left=$max_body
    for pl_item in $pl_waiting; do
        pl_share=$((pl_left / pl_n))
        pl_n=$((pl_n - 1))
        pl_size=${pl_item##*/}
        case $pl_item in
        stream/*)
            # A stream that did not move gets the whole request: the server may need all of a very long line at once.
            pl_key=${pl_item#stream/}
            get_value "$stalls" "${pl_key%%/*}" 0
            [ "$value" -eq 0 ] || pl_share=$pl_left
            if [ "$pl_size" -gt "$pl_share" ]; then
                pl_size=$pl_share plan_full=1
            fi
            [ "$pl_size" -gt 0 ] || continue
            pl_left=$((pl_left - pl_size))
            ;;
        esac
        plan="$plan ${pl_item%/*}/$pl_size"
    done
}

# 200 streams per request: after a long time without a server there may be many short ones, and reading each takes a process.
plan_streams() {
    while read -r pn_key pn_size; do
        plan_stream "$pn_key" "$pn_size"
        if [ "$pl_n" -ge 200 ]; then
            plan_full=1
            return 0
        fi
    done <"$work/streams"
}

# Adds stream KEY of SIZE bytes to the plan if it has bytes to send, and forgets it if it never will again.
plan_stream() {
    if [ -f "$1.refused" ]; then
        # None of it may be sent. Once its tool has ended, the rest joins the refused bytes.
        is_in "$live" "$1" || { mkdir -p refused && mv "$1.raw" refused/ && add_refused "$2" && forget_stream "$1"; }
        return 0
    fi
    get_ack "$1"
    pn_ack=$ack
    if [ -f "$1.gap" ]; then
        get_gap "$1"
        # A loss after the end of a file is reported after the file.
        if [ "$pn_ack" -lt "$gap_end" ] && { [ ! -f "$1.raw" ] || [ "$gap_end" -le "$2" ] || [ "$pn_ack" -ge "$2" ]; }; then
            pl_waiting="$pl_waiting gap/$1/$pn_ack/$((gap_end - pn_ack))" pl_n=$((pl_n + 1))
            return 0
        fi
        [ "$pn_ack" -lt "$gap_end" ] || rm -f "$1.gap"
        [ -f "$1.raw" ] || { forget_stream "$1" && return 0; }
    fi
    # The listing may be older than the file.
    [ -f "$1.raw" ] || return 0
    if [ "$pn_ack" -lt "$2" ]; then
        pl_waiting="$pl_waiting stream/$1/$pn_ack/$(($2 - pn_ack))" pl_n=$((pl_n + 1))
    elif ! is_in "$live" "$1"; then
        forget_stream "$1"
    fi
}

# Writes the headers of the plan's frames, from which perl makes the request.
list_frames() {
    li_text=''
    for li_item in $plan; do
        split_item "$li_item"
        frame_header
        li_text=$li_text$header$NL
    done
    # In some shells printf is a program, and echo changes a backslash.
    case $li_text in
    *\\*) printf '%s' "$li_text" ;;
    *) echo "${li_text%"$NL"}" ;;
    esac >"$work/frames"
}

# Writes the frames of the plan. Each must be as long as it declares, or the whole request would be rejected.
write_request() {
    wr_expected=0
    for wr_item in $plan; do
        write_frame "$wr_item"
    done >"$work/body" || return 1
    for wr_item in $plan; do
        split_item "$wr_item"
        frame_header
        wr_expected=$((wr_expected + ${#header} + 1))
        [ "$kind" = gap ] || wr_expected=$((wr_expected + length))
    done
    list_request
    if [ "$size" -ne "$wr_expected" ]; then
        fail_request "the request is $size bytes long instead of $wr_expected: is the file system of $spool full?"
        return 1
    fi
    [ "$packer" = none ] || gzip -c <"$work/body" >"$work/body.gz"
}

# Sets size to the length of the request, and token_mode for read_token: one ls does for both.
list_request() {
    size=0 token_mode=''
    ls -lnL -- "$work/body" "$token_file" >"$work/one" 2>/dev/null
    while read -r lr_mode _a _a _a lr_size lr_rest; do
        case $lr_rest in
        *" $work/body") size=$lr_size ;;
        *) token_mode=$lr_mode ;;
        esac
    done <"$work/one"
}

split_item() {
    kind=${1%%/*}
    key=${1#*/}
    length=${key##*/}
    key=${key%/*}
    offset=${key##*/}
    key=${key%%/*}
}

# Sets header to the text line of the frame.
frame_header() {
    fh_text=''
    if [ "$kind" = gap ]; then
        get_gap "$key"
        fh_text=${gap_reason:-lost}
    else
        IFS= read -r fh_text <"$key.cmd" || fh_text=unknown
    fi
    header="$kind ${key%%.*} $key $offset $length $fh_text"
}

write_frame() {
    split_item "$1"
    frame_header
    printf '%s\n' "$header"
    [ "$kind" = gap ] || read_bytes "$key.raw" "$offset" "$length"
}

# Reads the acknowledged offsets from the answer. Its lines come in the order of the frames; another order works too. Each frame
# is answered once, and a line that answers none of them is ignored.
take_acks() {
    ta_n=0 ta_moved=0 ta_lines=0 ta_taken=' ' n_set_aside=0
    # shellcheck disable=SC2086  # one word for each frame
    set -- $plan
    while [ "$ta_lines" -lt "$MAX_ANSWER_LINES" ] && read -r ta_key ta_offset _a; do
        ta_lines=$((ta_lines + 1))
        ta_offset=${ta_offset%"$CR"}
        is_count "$ta_offset" || continue
        ! is_in "$ta_taken" "$ta_key" || continue
        case ${1:-} in
        stream/"$ta_key"/* | gap/"$ta_key"/*)
            take_ack "$1"
            shift
            continue
            ;;
        esac
        for ta_item in $plan; do
            case $ta_item in
            stream/"$ta_key"/* | gap/"$ta_key"/*)
                take_ack "$ta_item"
                break
                ;;
            esac
        done
    done <"$work/answer"
    if [ "$ta_n" -eq 0 ]; then
        keep_for_later "the answer from $server names no stream: is it a normstat server?"
        return 1
    fi
    if [ "$n_set_aside" -gt 0 ]; then
        # Each such answer restarts tools, so wait before the next request.
        keep_for_later "the server claims to have more bytes of $n_set_aside streams than this host"
        return 1
    fi
    # The .ack files show when the server answered last. The state is written only once a minute, since that takes two processes.
    if [ -n "$last_error$trouble" ] || [ $((now - last_ok_written)) -ge 60 ] || [ "$now" -lt "$last_ok_written" ]; then
        ta_is_news=1
    else
        ta_is_news=''
    fi
    backoff=0 last_error='' last_ok=$now
    [ "$token_file" != "$token_real.old" ] || keep_other_token
    [ -z "$trouble" ] || log "the server accepts data again"
    trouble=''
    # After "too large", requests grow again slowly: it may have been one odd batch.
    [ "$max_body" -ge "$max_body_wanted" ] || max_body=$((max_body + max_body / 8))
    [ -z "$ta_is_news" ] || write_state
    [ -n "$alone" ] || { [ "$plan_full" = 1 ] && [ "$ta_moved" = 1 ]; }
}

# Takes ta_offset as the answer to one frame of the plan.
take_ack() {
    split_item "$1"
    ta_n=$((ta_n + 1)) ta_taken="$ta_taken$key "
    # Compare lengths first, since some shells compute with 32 bits.
    tk_end=$((offset + length))
    if [ "${#ta_offset}" -gt "${#tk_end}" ] || [ "$ta_offset" -gt "$tk_end" ]; then
        # More than was sent: the server already had it, if the file is that long.
        [ "$kind" = gap ] || read_size "$key.raw"
        [ "$kind" = stream ] || size=$tk_end
        if [ "${#ta_offset}" -gt "${#size}" ] || [ "$ta_offset" -gt "$size" ]; then
            n_set_aside=$((n_set_aside + 1))
            set_aside_stream "$key" "the server has $ta_offset bytes of it, the file only $size"
            return 0
        fi
    fi
    if [ "$ta_offset" -gt "$offset" ]; then
        ta_moved=1
        drop_value "$stalls" "$key"
        stalls=$list
        set_ack "$key" "$ta_offset" "$now"
        return 0
    fi
    if [ "$ta_offset" -lt "$offset" ]; then
        log "$key: the server has only $ta_offset of $offset bytes: going back"
        set_ack "$key" "$ta_offset" "$now"
        get_freed "$key"
        if [ "$ta_offset" -lt "$freed" ]; then
            printf '%s the server lost what it had acknowledged, and the spool was full\n' "$freed" >"$key.gap"
            count dropped_bytes $((freed - ta_offset))
        fi
    fi
    take_stall
}

# The server answered without errors but did not advance. That is normal while a tool is in the middle of its last line. If an ended
# stream, or a request filled by one stream, does not advance five times, those bytes would block everything after them.
take_stall() {
    [ "$kind" = stream ] || return 0
    get_value "$live_sizes" "$key" 0
    if is_in "$live" "$key" && [ "$tk_end" -ge "$value" ]; then
        return 0
    fi
    get_value "$stalls" "$key" 0
    tl_n=$((value + 1))
    drop_value "$stalls" "$key"
    stalls="$list$key=$tl_n "
    if [ "$tl_n" -ge 5 ]; then
        refuse_chunk "$key" "$offset" "$length" "the server acknowledged none of it five times"
        drop_value "$stalls" "$key"
        stalls=$list
    fi
}

# The server has more of this stream than the file: the file lost its end in a crash, or two hosts of the same name share a key.
# The two versions cannot be reconciled, so the file is kept in refused/ and the tool restarts under a new key.
set_aside_stream() {
    log "$1: $2; kept as refused/$1.raw"
    count refused_chunks 1
    if is_in "$live" "$1"; then restart_tool "${1%%.*}"; fi
    if [ -f "$1.raw" ] && read_size "$1.raw" && mkdir -p refused && mv "$1.raw" "refused/$1.raw"; then add_refused "$size"; fi
    forget_stream "$1"
}
