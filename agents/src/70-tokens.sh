# Tokens: reading the token, enrolment with a join token, and rotation.
# An empty request asks for a token; the answer has it in JSON. The server keeps the old one valid until the new one is used, so a
# kill at any moment leaves a valid token, and after a lost answer the agent asks again.

require_token() {
    [ -n "$token_file" ] || die_usage "no token file given: use --token-file FILE"
    case $main_command:$join_token_file in
    run:?* | start:?*) [ -s "$token_file" ] || (command_enrol) || exit 1 ;;
    esac
    read_token || die "$token_trouble"
}

# Sets token, or token_trouble and returns 1. Anyone who can read the token can send as this host, so only its owner may read the
# file. That is checked when the token is new, and once a minute, since it takes a process.
read_token() {
    token='' token_trouble='' rt_mode=$token_mode token_mode='' rt_token=''
    if ! [ -r "$token_file" ]; then
        token_trouble="cannot read the token file $token_file"
        return 1
    fi
    IFS="$CR$NL" read -r rt_token <"$token_file"
    if [ -n "$rt_mode" ] || [ "$rt_token" != "$token_known" ] || [ "$up_s" -ge "$token_due" ]; then
        token_known='' token_due=$((up_s + 60))
        [ -n "$rt_mode" ] || rt_mode=$(ls -lnL -- "$token_file" 2>/dev/null)
        case $rt_mode in
        ????------*) token_known=$rt_token ;;
        '') token_trouble="cannot read the token file $token_file" ;;
        *) token_trouble="the token file $token_file can be read by others: chmod 600 $token_file" ;;
        esac
    fi
    token=$token_known
    case $token$token_trouble in
    '') token_trouble="the token file $token_file is empty" ;;
    esac
    case $token in
    *[!A-Za-z0-9._~+/=:-]*) token='' token_trouble="the token file $token_file contains characters that are not valid in a token" ;;
    esac
    [ -z "$token_trouble" ]
}

# Sends a request without frames, which changes nothing.
send_nothing() {
    : >"$work/body" && : >"$work/frames"
    [ -n "$perl" ] || [ "$packer" = none ] || gzip -c <"$work/body" >"$work/body.gz"
    set_now
    send_request
}

# Sets new_token to the token that the server issues at /ingest/PATH, or sets kl_text and returns 1.
ask_token() {
    at_url=$url url=$server/api/v1/ingest/$1
    send_nothing
    url=$at_url new_token=''
    case $http_code in
    20[01])
        read_new_token
        [ -z "$new_token" ] || return 0
        explain_failure "the answer from $server holds no token: is it a normstat server of this version?"
        ;;
    *) explain_failure ;;
    esac
    return 1
}

# Sets new_token to the token in the answer, which is then forgotten.
read_new_token() {
    IFS= read -r nt_line <"$work/answer" || :
    : >"$work/answer"
    case $nt_line in
    *'"token":"'*)
        new_token=${nt_line#*'"token":"'}
        new_token=${new_token%%\"*}
        ;;
    esac
    case $new_token in
    *[!A-Za-z0-9._~+/=:-]*) new_token='' ;;
    ????????????????*) [ "${#new_token}" -le 200 ] || new_token='' ;;
    *) new_token='' ;;
    esac
    nt_line=''
}

# Prints the real path of the token file. Fails if another user could put something else there.
find_token_file() {
    follow_path "$token_file" || :
    printf '%s\n' "$real"
}

# Writes standard input into FILE, mode 600: under another name first, so that a kill or a full disk leaves what was there.
put_secret() {
    rm -f "$1.new" && (set -C && cat >"$1.new") && mv -f "$1.new" "$1"
}

put_new_token() {
    put_secret "$1" <<END
$new_token
END
}

# Takes a new token, because the server wants it. The old one is kept in case the server is restored from a backup.
rotate_token() {
    rotation_due=$((up_s + 60))
    if [ -z "$token_real" ] || [ "$token_file" = "$token_real.old" ] || ! put_secret "$token_real.old" <"$token_real"; then
        log "the server wants this host to take a new token, but nothing safe can be written beside $token_file; the old one stays in use"
        rotation_due=$((up_s + 3600))
        return 0
    fi
    if ! ask_token token; then
        log "the server wants this host to take a new token, but gives none: $kl_text; the old one stays in use"
    elif put_new_token "$token_real"; then
        log "took a new token, as the server wants; the old one is in $token_real.old"
    else
        log "cannot write the new token to $token_real; the old one stays in use"
    fi
    new_token=''
}

# Switches between the token and the previous one after a 401: the server may have been restored from a backup made before a
# rotation.
try_other_token() {
    if [ -z "$token_real" ] || [ ! -s "$token_real.old" ]; then return 0; fi
    if [ "$token_file" = "$token_real.old" ]; then token_file=$token_real; else token_file=$token_real.old; fi
}

# Goes back to the previous token, since the server does not know the new one.
keep_other_token() {
    token_file=$token_real
    if put_secret "$token_real" <"$token_real.old"; then log "the server knows only the token before the last rotation: using it again"; fi
}

command_enrol() {
    require_server
    [ -n "$token_file" ] || die_usage "no token file given: use --token-file FILE"
    [ -n "$join_token_file" ] || die_usage "no join token given: use --join-token-file FILE"
    probe_scratch
    probe_userland
    probe_transport
    plan='' transfer_pid='' time_limit=20 refused_kb=0
    en_file=$(find_token_file) || exit 1
    if [ -s "$token_file" ]; then
        send_nothing
        case $http_code in
        401 | 403) ;;
        200 | 400)
            printf 'token    the server knows the token in %s: kept\n' "$token_file"
            exit 0
            ;;
        *)
            explain_failure
            printf 'token    kept the one in %s, since the server cannot say whether it is good: %s\n' "$token_file" "$kl_text"
            exit 0
            ;;
        esac
    fi
    token_file=$join_token_file
    ask_token enrol || die "cannot enrol as host $host: $kl_text"
    put_new_token "$en_file" || die "cannot write the token to $en_file"
    printf 'token    host %s is enrolled; its token is in %s\n' "$host" "$en_file"
}
