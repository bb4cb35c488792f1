# Texts of ask and put: how they wait and are sent.
# A text that a tool prints once is sent whole, as the body of its own request, with its description in the address. Until the server
# has it, it waits in artefacts/, whose files are, with KEY = <epoch>.<pid of ask or put>-1
#   KEY.part     being written       KEY.err      standard error of the command of ask      KEY.pid      the process of the command
#   KEY.query    its description, percent-encoded                KEY.out      complete, waits      KEY.taken.PID    being sent by PID
#   refused/     texts that the server refused, with their query and, in KEY.why, its reason
# A text may wait for days; the running agent, or the next ask or put, sends it.

# Sets encoded to TEXT, percent-encoded byte by byte.
percent_encode() {
    en_format=''
    printf '%s' "$1" | od -A n -v -t o1 >"$work/octal"
    while read -r en_line; do
        for en_byte in $en_line; do
            case $en_byte in
            055 | 056 | 06? | 07[01] | 10[1-7] | 11? | 12? | 13[0-2] | 137 | 14[1-7] | 15? | 16? | 17[0-2] | 176) en_format=$en_format\\$en_byte ;;
            *)
                en_rest=${en_byte#?}
                en_low=${en_rest#?} en_rest=${en_rest%?}
                to_hex $((${en_byte%??} * 4 + en_rest / 2))
                en_format=$en_format%%$hex
                to_hex $((en_rest % 2 * 8 + en_low))
                en_format=$en_format$hex
                ;;
            esac
        done
    done <"$work/octal"
    # shellcheck disable=SC2059  # of escapes and hexadecimal digits only
    encoded=$(printf "$en_format")
}

# Adds NAME and VALUE to query, unless VALUE is empty.
add_parameter() {
    [ -n "$2" ] || return 0
    percent_encode "$2"
    query="$query${query:+&}$1=$encoded"
}

# Writes the description of text KEY. Proxies and servers accept addresses of about 8000 bytes.
write_query() {
    query=''
    add_parameter host "$host"
    add_parameter command "$text_command"
    add_parameter question "$question"
    add_parameter title "$title"
    add_parameter name "$text_name"
    add_parameter spec "$text_spec"
    add_parameter start "$text_start"
    add_parameter end "$text_end"
    add_parameter taken "$text_taken"
    add_parameter exit_status "$text_status"
    add_parameter episode "$evidence_episode"
    [ "${#query}" -le 7500 ] ||
        die "the command, question and title are too long: $((${#query})) bytes in the address, at most 7500; shorten the question"
    cat >"artefacts/$1.query" <<END || die "cannot write $spool/artefacts"
$query
END
}

# Sets texts_kb, n_texts (those that wait) and n_refused_texts.
measure_texts() {
    texts_kb=0 n_texts=0 n_refused_texts=0
    [ -d artefacts ] || return 0
    ls -lnR artefacts >"$work/texts" || return 1
    while read -r _a _a _a _a mt_size mt_rest; do
        case $mt_rest in
        *.out | *.taken.*) n_texts=$((n_texts + 1)) ;;
        *.why) n_refused_texts=$((n_refused_texts + 1)) ;;
        '') continue ;;
        esac
        texts_kb=$((texts_kb + (mt_size + 1023) / 1024))
    done <"$work/texts"
}

# Enters the spool and prepares to send a text. Sets key. Texts are evidence and never dropped to make room: a new one is turned
# away when those that wait or were refused take half of the spool limit.
begin_text() {
    exit_status=1 transfer_pid='' time_limit=600 plan='' last_error='' trouble='' text_name='' text_status=''
    enter_spool
    probe_scratch
    probe_userland
    probe_transport
    packer=none
    mkdir -p artefacts || die "cannot write to $spool"
    measure_texts
    [ "$texts_kb" -le $((spool_limit_kb / 2)) ] ||
        die "$spool/artefacts holds $texts_kb KiB, more than half of --spool-limit: $n_texts texts wait for the server, $n_refused_texts were refused; nothing was run"
    set_now
    key=$now.$$-1
    text_taken=$(date -u '+%Y-%m-%dT%H:%M:%SZ')
}

# Sends text KEY and prints the result; then sends those that wait, if no agent runs.
finish_text() {
    read_size "artefacts/$1.part"
    if [ "$size" -eq 0 ]; then
        rm -f "artefacts/$1".*
        die "there is nothing to keep: the text is empty"
    fi
    if [ "$size" -gt "$max_text" ]; then
        rm -f "artefacts/$1".*
        die "the text is longer than $max_text_kb KiB (--max-text): nothing was kept; let the tool print less, e.g. folded stacks instead of perf script"
    fi
    mv "artefacts/$1.part" "artefacts/$1.out" || die "cannot write $spool/artefacts"
    ft_pid=''
    [ ! -f lock/pid ] || read -r ft_pid <lock/pid
    if send_text "$1"; then
        ft_status=$text_result
        if [ "$ft_status" = taken ]; then
            printf 'normstat-agent: artefact %s: %s/artefacts/%s\n' "$artefact" "$server" "$artefact" >&2
        else
            printf 'normstat-agent: the server refused the text: %s; kept in %s/artefacts/refused\n' "$kl_text" "$spool" >&2
        fi
        is_agent "$ft_pid" || send_waiting
        [ "$ft_status" = taken ] || exit 1
        return 0
    fi
    if is_agent "$ft_pid"; then ft_who='the running agent'; else ft_who='the agent, or the next ask or put,'; fi
    printf 'normstat-agent: not sent yet: %s; the text is kept in %s/artefacts, and %s sends it\n' "$kl_text" "$spool" "$ft_who" >&2
}

# Sends text KEY. Returns 0 if that is settled: text_result is taken (with its number in artefact) or refused (with the reason in
# kl_text). Returns 1, with kl_text, if it has to wait.
send_text() {
    text_result=gone artefact=''
    mv "artefacts/$1.out" "artefacts/$1.taken.$$" 2>/dev/null || return 0
    sx_query=''
    [ ! -f "artefacts/$1.query" ] || IFS= read -r sx_query <"artefacts/$1.query"
    sx_url=$url url="$server/api/v1/ingest/artefacts?${sx_query:-host=$host}"
    text_file=$spool/artefacts/$1.taken.$$
    set_now
    send_request
    url=$sx_url text_file=''
    case $http_code in
    20[01]) read_artefact_number ;;
    esac
    case $http_code:$artefact in
    20?:?*)
        rm -f "artefacts/$1".*
        text_result=taken
        return 0
        ;;
    20?:) explain_failure "the answer from $server names no artefact: is it a normstat server of this version?" ;;
    400:* | 409:* | 41?:* | 42[0-8]:* | 43?:* | 44?:* | 45?:*)
        explain_failure
        case $answer_line in
        '<'*) kl_text="an HTML page instead of an answer ($http_code): something in front of the server refused the request" ;;
        *)
            refuse_text "$1"
            return 0
            ;;
        esac
        ;;
    *) explain_failure ;;
    esac
    mv "artefacts/$1.taken.$$" "artefacts/$1.out"
    return 1
}

# Sets artefact to the number in the answer.
read_artefact_number() {
    IFS= read -r rn_line <"$work/answer" || :
    case $rn_line in
    *'"id":'*)
        artefact=${rn_line#*'"id":'}
        artefact=${artefact%%[!0-9]*}
        ;;
    esac
    is_count "$artefact" || artefact=''
}

# Keeps a text that the server will never take, with its reason.
refuse_text() {
    text_result=refused
    mkdir -p artefacts/refused && mv "artefacts/$1.taken.$$" "artefacts/refused/$1" || return 0
    [ ! -f "artefacts/$1.query" ] || mv "artefacts/$1.query" "artefacts/refused/$1.query"
    cat >"artefacts/refused/$1.why" <<END
$kl_text
END
    rm -f "artefacts/$1".*
}

# Sends the texts that wait. Returns 1 if one has to wait longer.
send_waiting() {
    recover_texts
    for sw_file in artefacts/*.out; do
        [ -f "$sw_file" ] || continue
        sw_key=${sw_file#artefacts/}
        sw_key=${sw_key%.out}
        send_text "$sw_key" || return 1
        case $text_result in
        taken) log "sent text $sw_key that waited: artefact $artefact" ;;
        refused) log "the server refused text $sw_key: $kl_text; kept in $spool/artefacts/refused" ;;
        esac
    done
}

# Ends the commands of an ask that was killed, and queues their texts and those that a killed process was sending.
recover_texts() {
    for rv_file in artefacts/*.part; do
        [ -f "$rv_file" ] || continue
        rv_key=${rv_file#artefacts/}
        rv_key=${rv_key%.part}
        rv_pid=${rv_key#*.}
        rv_pid=${rv_pid%%-*}
        if [ "$rv_pid" = $$ ] || is_agent "$rv_pid"; then continue; fi
        end_text_tool "$rv_key"
        [ -s "$rv_file" ] || [ ! -s "artefacts/$rv_key.err" ] || mv "artefacts/$rv_key.err" "$rv_file"
        if [ -s "$rv_file" ] && [ -f "artefacts/$rv_key.query" ]; then
            printf '%s\n' "$CUT_OFF" >>"$rv_file"
            mv "$rv_file" "artefacts/$rv_key.out"
        else
            rm -f "artefacts/$rv_key".*
        fi
    done
    for rv_file in artefacts/*.taken.*; do
        [ -f "$rv_file" ] || continue
        is_agent "${rv_file##*.}" || mv "$rv_file" "${rv_file%.taken.*}.out"
    done
}

# Ends the command of text KEY if it still runs; its standard output identifies it.
end_text_tool() {
    et_pid=''
    [ ! -f "artefacts/$1.pid" ] || read -r et_pid <"artefacts/$1.pid"
    is_count "$et_pid" && [ "$et_pid" -gt 1 ] && kill -0 "$et_pid" 2>/dev/null || return 0
    for et_link in "/proc/$et_pid/fd/1" "/proc/$et_pid/path/1"; do
        [ -h "$et_link" ] || continue
        # shellcheck disable=SC2012  # not every host has readlink
        case $(ls -l "$et_link" 2>/dev/null) in
        *"/artefacts/$1."*)
            log "ended process $et_pid, which an ask that was killed left behind"
            end_processes "$et_pid"
            return 0
            ;;
        esac
    done
}

# In the running agent: sends waiting texts, in a separate process so that a large one delays nothing. Once a minute it retries
# after a failure, and looks for texts that a killed process left.
supervise_texts() {
    if [ -n "$texts_pid" ]; then
        kill -0 "$texts_pid" 2>/dev/null && return 0
        wait "$texts_pid" || texts_due=$((up_s + 60))
        texts_pid=''
    fi
    st_is_due=''
    for st_file in artefacts/*.out; do
        [ ! -f "$st_file" ] || [ "$up_s" -lt "$texts_due" ] || st_is_due=1
    done
    if [ "$up_s" -ge "$texts_due" ]; then
        for st_file in artefacts/*.part artefacts/*.taken.*; do
            [ ! -f "$st_file" ] || st_is_due=1
        done
        texts_due=$((up_s + 60))
    fi
    [ -n "$st_is_due" ] || return 0
    send_in_background </dev/null &
    texts_pid=$!
}

send_in_background() {
    trap - 0
    trap 'exit 143' HUP INT TERM
    work=$work/texts-work time_limit=600 packer=none token=''
    mkdir -p "$work" || exit 1
    [ ! -f lock/request.pl ] || cp lock/request.pl "$work" || exit 1
    send_waiting
    exit $?
}

# Prints the lines of `status` about texts.
print_texts() {
    measure_texts
    [ "$n_texts" -eq 0 ] || printf 'texts    %s of ask and put wait for the server, %s KiB\n' "$n_texts" "$texts_kb"
    if [ "$n_refused_texts" -gt 0 ]; then
        printf 'texts    %s refused by the server; kept in %s/artefacts/refused\n' "$n_refused_texts" "$spool"
        [ "$cu_status" -ne 0 ] || cu_status=1
    fi
}
