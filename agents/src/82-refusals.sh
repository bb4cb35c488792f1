# Refusals and failures: what is tried again later, what is set aside, and what the log says about it.

# The request was too large: send half next time. If a few bytes are too large, size is not the reason.
shrink_or_refuse() {
    if [ "$max_body" -le 4096 ]; then
        refuse
        return 0
    fi
    max_body=$((max_body / 2))
    log "the server wants smaller requests: $max_body bytes from now on"
    return 0
}

# Handles a final refusal: sends each stream alone to find the refused one.
refuse() {
    read_answer_line
    case $answer_line in
    '<'*)
        keep_for_later "an HTML page instead of an answer ($http_code): something in front of the server refused the request"
        return 1
        ;;
    esac
    case $plan in
    ' '*' '*)
        alone=' '
        for rf_item in $plan; do
            split_item "$rf_item"
            alone="$alone$key "
        done
        log "the server refused a request: $http_code $answer_line; sending its streams one by one"
        return 0
        ;;
    esac
    split_item "${plan# }"
    if [ "$kind" = gap ]; then
        log "$key: the server refused even the gap report: $http_code $answer_line; no longer sent"
        count refused_chunks 1
        rm -f "$key.gap"
        if [ -f "$key.raw" ]; then : >"$key.refused"; else forget_stream "$key"; fi
    else
        refuse_chunk "$key" "$offset" "$length" "refused by the server: $http_code"
    fi
    return 0
}

# Moves LENGTH bytes of KEY from OFFSET on into refused/ and records the loss, which the next request reports to the server.
refuse_chunk() {
    log "$1: set aside $3 bytes from offset $2 as refused/$1.$2: $4"
    if mkdir -p refused && read_bytes "$1.raw" "$2" "$3" >"refused/$1.$2" &&
        printf '%s %s\n' "$(($2 + $3))" "$4" >"$1.gap"; then
        add_refused "$3"
        count refused_chunks 1
        count refused_bytes "$3"
    else
        log "cannot write $spool/refused: is the file system full?"
    fi
}

# Keeps everything: the same bytes are sent again, after growing delays of up to a minute.
keep_for_later() {
    explain_failure ${1+"$@"}
    fail_request "$kl_text"
    return 1
}

# Sets kl_text to why a request failed: to TEXT unless the status says more.
explain_failure() {
    read_answer_line
    case $http_code in
    000) kl_text=${1:-$transfer_text} ;;
    401) kl_text="the server does not know this token${answer_line:+: $answer_line}" ;;
    403) kl_text="the server refuses what host $host sends${answer_line:+: $answer_line}" ;;
    3??) kl_text="$server answers with a redirect ($http_code), which is never followed: give --server the final address" ;;
    404 | 405) kl_text="no normstat server at $server ($http_code)${answer_line:+: $answer_line}" ;;
    *) kl_text=${1:-"the server answered $http_code${answer_line:+: $answer_line}"} ;;
    esac
}

fail_request() {
    backoff=$((backoff * 2))
    [ "$backoff" -ge "$interval" ] || backoff=$interval
    [ "$backoff" -le 60 ] || backoff=60
    if is_count "$retry_after" && [ "${#retry_after}" -le 4 ] && [ "$retry_after" -gt "$backoff" ]; then backoff=$retry_after; fi
    [ "$backoff" -le 300 ] || backoff=300
    next_try=$((up_s + backoff))
    last_error=$1
    [ "$trouble" = "$1" ] || log "cannot ship: $1; everything is kept and sent later"
    trouble=$1
    write_state
}

# Sets answer_line: the first line of the server's answer, short enough for a log.
read_answer_line() {
    answer_line=''
    IFS= read -r answer_line <"$work/answer" || :
    case $answer_line in
    *\"message\":*)
        answer_line=${answer_line#*\"message\":}
        answer_line=${answer_line#*\"}
        answer_line=${answer_line%%\"*}
        ;;
    esac
    to_plain "$answer_line"
    answer_line=$plain
}
