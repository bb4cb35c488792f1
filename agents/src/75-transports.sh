# Transports: each leaves the status line and headers in lock/head, the body in lock/answer, and its error messages in lock/complaint.
# No transport follows a redirect, takes a proxy or a setting from the environment or from a file in the home directory, or
# writes more than MAX_ANSWER_BYTES into any file.

readonly PERL_REQUEST='@request.pl@'
readonly PERL_LOOP='@loop.pl@'

# Sets transport.
probe_transport() {
    [ -z "$ca_file" ] || follow_path "$ca_file" || die "cannot find the certificates $ca_file"
    probe_client_certificate
    probe_perl
    case $transport in
    curl | wget | perl | openssl) has "$transport" || die "$transport not found in $PATH" ;;
    '')
        if [ -n "$perl_socket" ] && [ -z "$proxy" ]; then
            transport=perl
        elif has curl; then
            transport=curl
        elif has wget && wget_can; then
            transport=wget
        elif [ -z "$proxy" ] && has perl && perl_can; then
            transport=perl
        elif [ -z "$proxy" ] && has openssl; then
            transport=openssl
        else
            die "no curl, GNU wget, perl or openssl in $PATH: nothing can send data (collect DIR works without a network)"
        fi
        ;;
    *) die_usage "unknown transport: $transport" ;;
    esac
    case $transport:$server in
    wget:*) wget_can || die "this wget would expose the token or send it along a redirect: install curl or GNU wget 1.11" ;;
    openssl:http://*) die "openssl speaks only https: install curl, wget or perl, or use an https server" ;;
    perl:https://*) perl_can || die "perl has no IO::Socket::SSL for https: install curl or wget" ;;
    perl:*) [ -n "$perl" ] || die "the perl of this host cannot read bytes from the middle of a file" ;;
    esac
    case $transport:$proxy in
    perl:?* | openssl:?*) die "$transport cannot use a proxy: install curl or GNU wget" ;;
    esac
    if [ -n "$env_proxy" ] && [ -z "$proxy" ]; then
        log "the proxy from the environment is ignored; use --proxy URL"
    fi
}

# Anyone with the key could impersonate this host, so only its owner may read it, as with the token.
probe_client_certificate() {
    [ -n "$client_cert" ] || {
        [ -z "$client_key" ] || die_usage "the key $client_key needs its certificate: use --client-cert FILE"
        return 0
    }
    client_key=${client_key:-$client_cert}
    if ! follow_path "$client_cert" || ! [ -r "$client_cert" ]; then die "cannot read the certificate $client_cert"; fi
    if ! follow_path "$client_key" || ! [ -r "$client_key" ]; then die "cannot read the key $client_key"; fi
    case $(ls -lnL -- "$client_key" 2>/dev/null) in
    ????------*) ;;
    *) die "the key $client_key can be read by others: chmod 600 $client_key" ;;
    esac
}

# Sets perl if this host's perl can make requests, with one process instead of four and one for each stream. Tested on real bytes.
# Leaves the programs that it runs in the scratch directory.
# Sets perl_socket to the system's number for a TCP socket if perl can also send them without a module, whose loading takes longer
# than everything else.
probe_perl() {
    perl='' perl_socket=''
    has perl || return 0
    printf '%s' "$PERL_REQUEST" >"$work/request.pl" && printf '%s' "$PERL_LOOP" >"$work/normstat-agent-loop.pl" || return 0
    printf '%4099s' x >"$work/probe.raw"
    printf 'a\000\n\377 b' >"$work/probe.part"
    printf 'stream x probe 4099 6 x\n' >"$work/frames"
    cat "$work/probe.part" >>"$work/probe.raw"
    cat "$work/frames" "$work/probe.part" >"$work/probe.all"
    if (cd "$work" && perl request.pl "$work" none pack >/dev/null 2>&1) && cmp -s "$work/probe.all" "$work/body"; then perl=1; fi
    rm -f "$work/probe.raw" "$work/probe.part" "$work/probe.all"
    case $perl:$server:$os in
    1:http:*:*' mips'*) ;;
    1:http:*:'Linux '*) perl_socket=1 ;;
    1:http:*:'SunOS '*) perl_socket=2 ;;
    esac
}

# busybox wget takes headers only in argv, where anyone could read the token, and like GNU wget before 1.11 it cannot be told to
# follow no redirect, which would pass the token on. wget2 reads another configuration.
wget_can() {
    wget --max-redirect=0 --version 2>/dev/null | grep 'GNU Wget 1' >/dev/null
}

perl_can() {
    case $server in
    https://*) perl -MIO::Socket::SSL -e 1 2>/dev/null ;;
    *) perl -MIO::Socket::INET -e 1 2>/dev/null ;;
    esac
}

# Sets http_code (000: no answer), retry_after and transfer_text.
send_request() {
    : >"$work/head" && : >"$work/answer" && : >"$work/complaint"
    is_tried=1 is_rotation_asked='' http_code=000 retry_after='' transfer_text="no answer from $server" transfer_status=0
    refresh_headers || return 0
    if [ -n "$text_file" ]; then sr_file=$text_file; elif [ "$packer" = none ]; then sr_file=$work/body; else sr_file=$work/body.gz; fi
    if [ -n "$perl" ] && [ "$transport" != perl ] && [ -z "$text_file" ]; then
        pack_request || return 0
    fi
    case $transport in
    curl) send_curl "$sr_file" ;;
    wget) send_wget "$sr_file" ;;
    perl) send_perl "$sr_file" ;;
    openssl) send_openssl "$sr_file" ;;
    esac
    await_transfer
    read_head
    check_transfer
    if [ "$http_code" = 000 ]; then
        # The useful message is openssl's last line, wget's line before the status line, and the first line of the others.
        case $transport in
        openssl) read_last_line "$work/complaint" ;;
        wget) last_line=$hd_said ;;
        *) IFS= read -r last_line <"$work/complaint" ;;
        esac
        to_plain "$last_line"
        transfer_text=${too_long:-${plain:-no answer from $server}}
    fi
}

# Makes the request by perl, for another program to send. Sets now.
pack_request() {
    now=''
    if perl "$work/request.pl" "$work" "$packer" pack >"$work/one" 2>"$work/complaint"; then read -r now <"$work/one"; fi
    is_count "$now" && return 0
    IFS= read -r last_line <"$work/complaint"
    to_plain "$last_line"
    transfer_text=${plain:-perl could not make the request}
    return 1
}

# Sets http_code to 000 if the answer is incomplete, and too_long to a message if it exceeds the limit.
check_transfer() {
    too_long=''
    case $transport:$transfer_status in
    openssl:*) ;;
    *:0) return 0 ;;
    *)
        case $http_code in
        2??) http_code=000 ;;
        esac
        ;;
    esac
    ls -ln "$work/head" "$work/answer" >"$work/one"
    while read -r _a _a _a _a ct_size _b; do
        [ "$ct_size" -lt "$MAX_ANSWER_BYTES" ] || too_long="the answer from $server is longer than $MAX_ANSWER_BYTES bytes"
    done <"$work/one"
    [ -z "$too_long" ] || http_code=000
}

# Limits the process that becomes the transport to LENGTH bytes in a file. Where the shell can ignore the signal, the write fails
# instead of killing the process. There is no core file, which would contain the token.
limit_transfer() {
    # shellcheck disable=SC2064  # the name is in a variable
    [ -z "$xfsz" ] || trap '' "$xfsz"
    ulimit -f $(($1 / 512)) 2>/dev/null
    # shellcheck disable=SC3045  # -c and -t are in POSIX since 2024 and have always been in these shells
    ulimit -c 0 2>/dev/null
    # shellcheck disable=SC3045
    ulimit -t "$MAX_TRANSFER_CPU_S" 2>/dev/null
    # Where programs look for .netrc, .wget-hsts and the like.
    HOME=$work
    export HOME
}

# Waits for the transfer, which runs in the background since a shell handles a signal only when it waits.
await_transfer() {
    if [ "$transport" = curl ] || [ "$transport" = perl ]; then
        wait "$transfer_pid"
        transfer_status=$?
        transfer_pid=''
        return 0
    fi
    # wget and openssl have no time limit for a whole transfer. Poll ten times quickly, then once a second; time is in tenths.
    aw_n=0 aw_time=0
    while kill -0 "$transfer_pid" 2>/dev/null; do
        aw_n=$((aw_n + 1))
        if [ "$aw_n" -le 10 ]; then
            nap
            aw_time=$((aw_time + nap_tenths))
        else
            sleep 1 &
            wait $!
            aw_time=$((aw_time + 10))
        fi
        if [ "$aw_time" -ge $((time_limit * 10)) ]; then
            # The last shipment ignores signals, and programs inherit that.
            kill -9 "$transfer_pid" 2>/dev/null
            break
        fi
    done
    wait "$transfer_pid"
    transfer_status=$?
    transfer_pid=''
}

# Reads the token again, since it may have been replaced, and writes the headers where the transport looks for them. cat writes
# them, because in some shells printf is a program and the token would appear in its argv.
refresh_headers() {
    rh_old=${token:-}
    if ! read_token; then
        transfer_text=$token_trouble
        return 1
    fi
    [ "$token" != "$rh_old" ] || [ ! -f "$work/headers" ] || return 0
    if [ "$packer" = none ]; then rh_encoding=identity; else rh_encoding=gzip; fi
    rh_before='' rh_after='' rh_settings=''
    # curl and wget call their settings differently. wget also reads the system's, so the important ones are set explicitly.
    case $transport in
    curl)
        rh_before='header = "' rh_after='"'
        [ -z "$proxy" ] || rh_settings="proxy = \"$proxy\"$NL"
        ;;
    wget)
        rh_before='header = ' rh_settings="netrc = off$NL"
        case $server in
        https:*) rh_settings="${rh_settings}check_certificate = on$NL" ;;
        esac
        if [ -z "$proxy" ]; then
            rh_settings="${rh_settings}use_proxy = off$NL"
        else
            rh_settings="${rh_settings}use_proxy = on${NL}http_proxy = $proxy${NL}https_proxy = $proxy${NL}no_proxy =$NL"
        fi
        ;;
    esac
    cat >"$work/headers" <<END
$rh_settings${rh_before}Authorization: Bearer $token$rh_after
${rh_before}Content-Type: application/x-normstat-frames$rh_after
${rh_before}Content-Encoding: $rh_encoding$rh_after
${rh_before}Normstat-Host: $host$rh_after
${rh_before}Normstat-Tags: ${tags:--}$rh_after
${rh_before}Normstat-Os: $os$rh_after
${rh_before}Normstat-Agent: $VERSION$rh_after
${rh_before}Normstat-Machine: $machine$rh_after
END
}

send_curl() {
    if [ -n "$ca_file" ]; then set -- "$1" --cacert "$ca_file"; fi
    if [ -n "$client_cert" ]; then set -- "$@" --cert "$client_cert" --key "$client_key"; fi
    sc_body=$1
    shift
    # A text may be large: curl keeps what --data-binary sends in memory. The address may be long, and is read from the settings.
    if [ -n "$text_file" ]; then set -- ${1+"$@"} -g -X POST -T "$text_file"; else set -- ${1+"$@"} --data-binary "@$sc_body"; fi
    # Expect: is emptied, or curl waits a second for a "100 Continue" that many servers do not send.
    {
        limit_transfer "$MAX_ANSWER_BYTES"
        exec curl -q -sS -K "$work/headers" -H "Normstat-Time: $now" -H 'Expect:' \
            --connect-timeout 10 --max-time "$time_limit" ${1+"$@"} \
            -D "$work/head" -o "$work/answer" "$url"
    } >/dev/null 2>"$work/complaint" </dev/null &
    transfer_pid=$!
}

send_wget() {
    if [ -n "$ca_file" ]; then set -- "$1" "--ca-certificate=$ca_file"; fi
    if [ -n "$client_cert" ]; then set -- "$@" "--certificate=$client_cert" "--private-key=$client_key"; fi
    sw_body=$1
    shift
    {
        limit_transfer "$MAX_ANSWER_BYTES"
        WGETRC=$work/headers
        export WGETRC
        exec wget -nv -S -t 1 -T 30 --max-redirect=0 ${1+"$@"} --header="Normstat-Time: $now" --post-file="$sw_body" \
            -O "$work/answer" "$url"
    } >/dev/null 2>"$work/head" </dev/null &
    transfer_pid=$!
}

# Sets peer_host peer_port peer_path from url.
split_url() {
    sp_rest=${url#*://}
    peer_path=/${sp_rest#*/}
    peer_host=${sp_rest%%/*}
    case $url in
    https:*) peer_port=443 ;;
    *) peer_port=80 ;;
    esac
    case $peer_host in
    \[*\]:*) peer_port=${peer_host##*:} peer_host=${peer_host%:*} ;;
    \[*) ;;
    *:*) peer_port=${peer_host##*:} peer_host=${peer_host%:*} ;;
    esac
}

send_perl() {
    split_url
    case $url in
    https:*) pe_tls=1 ;;
    *) pe_tls=0 ;;
    esac
    {
        # It also writes the request, whose headers are at most 4 KB a stream.
        limit_transfer $((max_body + 1048576))
        exec perl "$work/request.pl" "$work" "$packer" send "$time_limit" "$MAX_ANSWER_BYTES" "$perl_socket" "$pe_tls" \
            "$peer_host" "$peer_port" "$peer_path" "$ca_file" "$text_file" "$client_cert" "$client_key"
    } >"$work/head" 2>"$work/complaint" </dev/null &
    transfer_pid=$!
}

send_openssl() {
    split_url
    read_size "$1"
    {
        printf 'POST %s HTTP/1.0\r\nHost: %s:%s\r\nNormstat-Time: %s\r\nContent-Length: %s\r\n' \
            "$peer_path" "$peer_host" "$peer_port" "$now" "$size"
        while IFS= read -r op_line; do printf '%s\r\n' "$op_line"; done <"$work/headers"
        printf '\r\n'
        cat "$1"
    } >"$work/openssl.in"
    if [ -n "$ca_file" ]; then set -- -CAfile "$ca_file"; else set --; fi
    if [ -n "$client_cert" ]; then set -- ${1+"$@"} -cert "$client_cert" -key "$client_key"; fi
    case $peer_host in
    *[!0-9.]*) set -- ${1+"$@"} -verify_hostname "$peer_host" -servername "$peer_host" ;;
    *) set -- ${1+"$@"} -verify_ip "$peer_host" ;;
    esac
    {
        limit_transfer "$MAX_ANSWER_BYTES"
        exec openssl s_client -quiet -verify 8 -verify_return_error "$@" -connect "$peer_host:$peer_port"
    } <"$work/openssl.in" >"$work/head" 2>"$work/complaint" &
    transfer_pid=$!
}

# Sets http_code, retry_after, and hd_said to the last line before the answer, where wget puts its messages. perl puts the epoch
# there. openssl leaves head and body in one file, and wget indents the headers.
read_head() {
    hd_lines=0 hd_said='' hd_wanted=''
    [ "$transport" != perl ] || hd_wanted=now
    while [ "$hd_lines" -lt "$MAX_ANSWER_LINES" ] && read -r hd_line; do
        hd_lines=$((hd_lines + 1))
        hd_line=${hd_line%"$CR"}
        if [ -n "$hd_wanted" ]; then
            hd_wanted=''
            ! is_count "$hd_line" || now=$hd_line
            continue
        fi
        case $hd_line in
        HTTP/[0-9]*\ *)
            hd_line=${hd_line#* }
            case ${hd_line%% *} in
            [1-5][0-9][0-9]) http_code=${hd_line%% *} ;;
            esac
            ;;
        [Nn]ormstat-[Tt]oken:*rotate*) is_rotation_asked=1 ;;
        [Nn]ormstat-[Bb]egun:*) begun=${hd_line#*:} ;;
        [Nn]ormstat-[Ii]nterval:*)
            asked_s=${hd_line#*:}
            asked_s=${asked_s# }
            ;;
        [Rr]etry-[Aa]fter:*)
            retry_after=${hd_line#*:}
            retry_after=${retry_after# }
            ;;
        '')
            if [ "$transport" = openssl ]; then
                # The rest of the file.
                cat >"$work/answer"
                return 0
            fi
            ;;
        *) [ "$http_code" != 000 ] || hd_said=$hd_line ;;
        esac
    done <"$work/head"
}
