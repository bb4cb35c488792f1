# Options: the command line, the environment and agent.conf.

set_defaults() {
    case $0 in
    */*) home=${0%/*} ;;
    *) home=. ;;
    esac
    home=$(cd -- "$home" && pwd) || die "cannot read the directory of $0"
    machine='' server='' token_file='' spool='' stats='' host='' tags='' interval='' spool_limit='' max_file='' max_age='' max_body=''
    ca_file='' client_cert='' client_key='' proxy='''' transport='' config='' my_uid='' token_mode='' token_known='' token_due=0 up_s=0
    join_token_file='' token_real='' is_rotation_asked='' rotation_due=0 begun='' asked_s='' evidence_episode=''
    sampler_pid='' io_note='' user='' pace=''
    main_command=${main_command:-} max_text='' question='' title='' text_spec='' text_command='' text_start='' text_end='' is_stderr='' text_file=''
}

# The file is read first, then the environment, then the command line: later values win, empty ones are ignored.
set_option() {
    case $1 in
    server) server=${2:-$server} ;;
    token-file) token_file=${2:-$token_file} ;;
    join-token-file) join_token_file=${2:-$join_token_file} ;;
    spool) spool=${2:-$spool} ;;
    stats) stats=${2:-$stats} ;;
    host) host=${2:-$host} ;;
    tags) tags=${2:-$tags} ;;
    interval) interval=${2:-$interval} ;;
    spool-limit) spool_limit=${2:-$spool_limit} ;;
    max-file) max_file=${2:-$max_file} ;;
    max-age) max_age=${2:-$max_age} ;;
    max-body) max_body=${2:-$max_body} ;;
    ca-file) ca_file=${2:-$ca_file} ;;
    client-cert) client_cert=${2:-$client_cert} ;;
    client-key) client_key=${2:-$client_key} ;;
    proxy) proxy=${2:-$proxy} ;;
    transport) transport=${2:-$transport} ;;
    config) config=${2:-$config} ;;
    user) user=${2:-$user} ;;
    max-text) max_text=${2:-$max_text} ;;
    *) return 1 ;;
    esac
}

# Options of ask and put only: neither a file nor the environment sets them.
set_text_option() {
    case $1 in
    question) question=$2 ;;
    title) title=$2 ;;
    spec) text_spec=$2 ;;
    command) text_command=$2 ;;
    start) text_start=$2 ;;
    end) text_end=$2 ;;
    *) return 1 ;;
    esac
}

read_options() {
    find_config ${1+"$@"}
    [ ! -f "$config" ] || read_config
    set_option server "${NORMSTAT_SERVER:-}"
    set_option token-file "${NORMSTAT_TOKEN_FILE:-}"
    set_option join-token-file "${NORMSTAT_JOIN_TOKEN_FILE:-}"
    set_option spool "${NORMSTAT_SPOOL:-}"
    set_option stats "${NORMSTAT_STATS:-}"
    set_option host "${NORMSTAT_HOST:-}"
    set_option tags "${NORMSTAT_TAGS:-}"
    set_option interval "${NORMSTAT_INTERVAL:-}"
    set_option spool-limit "${NORMSTAT_SPOOL_LIMIT:-}"
    set_option max-file "${NORMSTAT_MAX_FILE:-}"
    set_option max-age "${NORMSTAT_MAX_AGE:-}"
    set_option max-body "${NORMSTAT_MAX_BODY:-}"
    set_option ca-file "${NORMSTAT_CA_FILE:-}"
    set_option client-cert "${NORMSTAT_CLIENT_CERT:-}"
    set_option client-key "${NORMSTAT_CLIENT_KEY:-}"
    set_option proxy "${NORMSTAT_PROXY:-}"
    set_option transport "${NORMSTAT_TRANSPORT:-}"
    set_option user "${NORMSTAT_USER:-}"
    set_option max-text "${NORMSTAT_MAX_TEXT:-}"
    n_options=$#
    while [ $# -gt 0 ]; do
        case $main_command:$1 in
        ask:--stderr)
            is_stderr=1
            shift
            continue
            ;;
        ask:-- | put:--)
            shift
            break
            ;;
        ask:-?* | put:-?*) ;;
        ask:* | put:*) break ;;
        esac
        case $1 in
        --*=*) ro_value=${1#*=} ro_name=${1%%=*} ;;
        --*)
            [ $# -gt 1 ] || die_usage "$1 needs a value"
            ro_value=$2 ro_name=$1
            shift
            ;;
        *) die_usage "unexpected argument: $1" ;;
        esac
        case $main_command in
        ask | put) set_text_option "${ro_name#--}" "$ro_value" ;;
        *) false ;;
        esac || set_option "${ro_name#--}" "$ro_value" || die_usage "unknown option: $ro_name"
        shift
    done
    n_options=$((n_options - $#))
    finish_options
}

# Sets config, which must be known before the other options are read.
find_config() {
    config=${NORMSTAT_CONFIG:-$home/agent.conf}
    while [ $# -gt 0 ]; do
        case $1 in
        --config=*) config=${1#*=} ;;
        --config) config=${2:-$config} ;;
        --stderr | --*=*) ;;
        --?*) [ $# -lt 2 ] || shift ;;
        *) return 0 ;;
        esac
        shift
    done
}

read_config() {
    follow_path "$config"
    while IFS='=' read -r rc_name rc_value; do
        case $rc_name in
        '' | '#'*) continue ;;
        esac
        set_option "$rc_name" "$rc_value" || die "$config: unknown option: $rc_name"
    done <"$config"
}

finish_options() {
    spool=$(to_absolute "${spool:-$home/spool}")
    stats=$(to_absolute "${stats:-$home/stats.conf}")
    [ -z "$token_file" ] || token_file=$(to_absolute "$token_file")
    [ -z "$join_token_file" ] || join_token_file=$(to_absolute "$join_token_file")
    [ -z "$ca_file" ] || ca_file=$(to_absolute "$ca_file")
    [ -z "$client_cert" ] || client_cert=$(to_absolute "$client_cert")
    [ -z "$client_key" ] || client_key=$(to_absolute "$client_key")
    host=${host:-$(uname -n)}
    case $host in
    '' | *[!A-Za-z0-9._-]*) die "the host name '$host' may contain only letters, digits, dot, dash and underscore: use --host" ;;
    esac
    case $tags in
    *[!A-Za-z0-9._:/@+,-]*) die_usage "the tags '$tags' may contain only letters, digits and . _ : / @ + -, with commas between them" ;;
    esac
    fo_ifs=$IFS
    IFS=,
    for fo_tag in $tags; do
        [ "${#fo_tag}" -le 50 ] || die_usage "the tag '$fo_tag' is longer than 50 characters"
    done
    IFS=$fo_ifs
    # Who sets an interval means it.
    interval_wanted=$interval
    interval=${interval:-5}
    require_number interval "$interval"
    [ "$interval" -ge 1 ] || die_usage "--interval must be at least 1"
    max_age=${max_age:-86400}
    require_number max-age "$max_age"
    to_bytes max-file "${max_file:-64M}"
    max_file=$bytes
    to_bytes max-body "${max_body:-4M}"
    max_body=$bytes max_body_wanted=$bytes
    to_bytes max-text "${max_text:-64M}"
    max_text=$bytes max_text_kb=$kbytes
    to_bytes spool-limit "${spool_limit:-512M}"
    spool_limit_kb=$kbytes
    server=${server%/}
}

require_server() {
    case $server in
    http://?* | https://?*) ;;
    '') die_usage "no server given: use --server URL" ;;
    *) die_usage "the server must begin with http:// or https://, not '$server'" ;;
    esac
    case $server in
    *@*) die_usage "the server's address must not contain a user name: anyone could read it in the process list" ;;
    *[!]A-Za-z0-9._~:/%+[-]*) die_usage "invalid characters in the address '$server'" ;;
    esac
    case $proxy in
    *[!]A-Za-z0-9._~:/@%+[-]*) die_usage "invalid characters in the address '$proxy'" ;;
    '' | http://?* | https://?*) ;;
    *) die_usage "the proxy must begin with http:// or https://, not '$proxy'" ;;
    esac
    url=$server/api/v1/ingest
}
